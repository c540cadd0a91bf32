package import Foundation
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
    /// The largest site in bytes, and the most files, that are kept. The package's has about 4 MB in 150 files.
    private static let sizeMaximum = 32 << 20
    private static let countMaximum = 4096

    /// The site's search runs in a worker, and its icons are pictures inside of its style sheets.
    private static let policy =
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    private let files: [String: PageFiles.File]

    /// No site is here.
    package static let none = HelpFiles(files: [:])

    private init(files: [String: PageFiles.File]) {
        self.files = files
    }

    /// Reads the site that is installed with this program: `/usr/share/doc/latchkey/html` for `/usr/bin/latchkeyd`.
    package static func installed(_ logger: Logger) -> HelpFiles {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return none
        }
        let folder = URL(filePath: program).deletingLastPathComponent().appending(path: "../share/doc/latchkey/html")
        return read(from: folder.standardizedFileURL, logger)
    }

    /// Reads the site. Without one, or if it cannot be read, there is no help, and the daemon serves all the same.
    package static func read(from folder: URL, _ logger: Logger) -> HelpFiles {
        guard let paths = FileManager.default.enumerator(atPath: folder.path) else { return none }
        var files: [String: PageFiles.File] = [:]
        var size = 0
        for case let path as String in paths where paths.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
            guard let content = FileManager.default.contents(atPath: folder.appending(path: path).path) else {
                logger.warning("help_unreadable", [.string("file", path)])
                return none
            }
            size += content.count
            guard size <= sizeMaximum, files.count < countMaximum else {
                logger.warning("help_unreadable", [.string("cause", "the site is too large")])
                return none
            }
            files[prefix + path] = PageFiles.File(name: path, content: Array(content))
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
