package import Foundation
import Glibc
import HTTPMessages
import HTTPServing
import RouteKit
package import Telemetry

/// The site of the documents, which the package installs beside the daemon: what "Help" on the operator's page opens.
///
/// All files are read at the start, because loops never wait for a disk. So a package that is upgraded changes nothing
/// until the restart, and no path of a request ever names a file of the disk.
package struct HelpFiles: Sendable {
    /// The beginning of the paths of all files.
    static let prefix = "/help/"
    /// What the operator's page opens.
    private static let first = prefix + "index.html"
    /// The largest site in bytes, and the most files and folders.
    private static let sizeMaximum = 32 << 20
    private static let countMaximum = 4096
    /// The end of the name of a file that stands beside the same file without it, and is compressed.
    private static let compressed = ".gz"

    /// The site's search runs in a worker, and its icons are pictures inside of its style sheets.
    private static let policy =
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

    private let files: [String: PageFiles.File]

    /// No site is here.
    package static let none = HelpFiles(files: [:])

    private init(files: [String: PageFiles.File]) {
        self.files = files
    }

    /// Reads the site that is installed with this program: `/usr/share/doc/latchkey/html` for `/usr/bin/latchkeyd`.
    ///
    /// The scripts of the site run with the operator's session. So the program must be in a folder named `bin`, and the
    /// site must belong to root or to the daemon's user. Otherwise there is no help.
    package static func installed(_ logger: Logger) -> HelpFiles {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return none
        }
        let binaries = URL(filePath: program).deletingLastPathComponent()
        let folder = binaries.appending(path: "../share/doc/latchkey/html").standardizedFileURL
        let owner = try? FileManager.default.attributesOfItem(atPath: folder.path)[.ownerAccountID] as? NSNumber
        guard binaries.lastPathComponent == "bin", let owner, [0, getuid()].contains(owner.uint32Value) else {
            return none
        }
        return read(from: folder, logger)
    }

    /// Reads the site. Without one, or if it cannot be read, there is no help, and the daemon serves all the same.
    ///
    /// Of a file that is there compressed too, only that form is kept: a network may hold 1 MiB of answers that its
    /// clients have not read, and the index of the search is larger.
    package static func read(from folder: URL, _ logger: Logger) -> HelpFiles {
        guard let paths = FileManager.default.enumerator(atPath: folder.path) else { return none }
        var files: [String: PageFiles.File] = [:]
        var (size, count) = (0, 0)
        for case let path as String in paths {
            let attributes = paths.fileAttributes
            count += 1
            if attributes?[.type] as? FileAttributeType == .typeRegular {
                size += (attributes?[.size] as? NSNumber)?.intValue ?? 0
            }
            guard size <= sizeMaximum, count <= countMaximum else {
                logger.warning("help_unreadable", [.string("cause", "the site is too large")])
                return none
            }
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            guard let content = FileManager.default.contents(atPath: folder.appending(path: path).path) else {
                logger.warning("help_unreadable", [.string("file", path)])
                return none
            }
            files[prefix + path] = PageFiles.File(name: path, content: Array(content))
        }
        for (path, file) in files where path.hasSuffix(compressed) {
            let plain = String(path.dropLast(compressed.count))
            files[path] = nil
            guard files[plain] != nil else { continue }
            files[plain] = PageFiles.File(name: plain, content: file.body, isCompressed: true)
        }
        return HelpFiles(files: files)
    }

    /// The path of the first page; nil without a site.
    var address: String? { files[Self.first] == nil ? nil : Self.first }

    /// Answers a GET or HEAD with a file of the site; nil if there is no such file.
    func response(to request: HTTPRequest, id: RequestID) -> HTTPResponse? {
        let path = request.path == Self.prefix ? Self.first : request.path
        return files[path].map { PageFiles.response($0, to: request, id: id, policy: Self.policy) }
    }
}
