import CommandLineKit
import Foundation

/// The place from which a playlist is read.
enum PlaylistPlace: Hashable, Sendable {
    case standardInput
    /// An absolute path.
    case file(String)
    /// `http` or `https`, without a fragment.
    case address(URL)

    /// Reads an operand: `-`, an address, or a path.
    init(operand text: String) throws(CommandError) {
        if text == "-" {
            self = .standardInput
        } else if text.contains("://") {
            guard let components = URLComponents(string: text), let url = Self.address(components) else {
                throw .usage("the playlist is a file, \"-\", or an address such as https://cdn.example.com/movie.m3u8")
            }
            guard components.user == nil, components.password == nil else {
                throw .usage("the address of the playlist has no user and no password")
            }
            self = .address(url)
        } else {
            self = .file(URL(fileURLWithPath: text).absoluteURL.standardized.path(percentEncoded: false))
        }
    }

    /// The place of a reference in this playlist (RFC 3986, section 5).
    ///
    /// References in a playlist from standard input are relative to the working folder. Without `followsOthers`, throws
    /// if the place is in another folder or on another server. A playlist from a server must not refer to a file.
    func resolve(_ reference: String, followsOthers: Bool) throws(PlaylistPlaceError) -> PlaylistPlace {
        guard let url = URL(string: reference, relativeTo: base)?.absoluteURL,
            let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { throw .notAReference }
        if components.scheme?.lowercased() == "file" {
            return try file(components, followsOthers: followsOthers)
        }
        guard components.user == nil, components.password == nil, let address = Self.address(components) else {
            throw .notAReference
        }
        guard followsOthers || isSameServer(components) else { throw .otherPlace }
        return .address(address)
    }

    private func file(
        _ components: URLComponents, followsOthers: Bool
    ) throws(PlaylistPlaceError) -> PlaylistPlace {
        let host = components.host ?? ""
        guard let folder, host.isEmpty || host == "localhost" else { throw .otherPlace }
        // `path` is decoded once. An escape can hide a "..", so the path is checked after decoding.
        let path = components.path
        guard !path.utf8.contains(0) else { throw .notAReference }
        let isInside = path.hasPrefix(folder) && !path.split(separator: "/").contains("..")
        guard followsOthers || isInside else { throw .otherPlace }
        return .file(path)
    }

    private static func address(_ components: URLComponents) -> URL? {
        var components = components
        components.fragment = nil
        guard let scheme = components.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = components.host, !host.isEmpty
        else { return nil }
        return components.url
    }

    private var base: URL {
        switch self {
        case .standardInput: Self.workingFolder
        case .file(let path): URL(fileURLWithPath: path)
        case .address(let url): url
        }
    }

    private static var workingFolder: URL {
        URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
    }

    /// The path of the folder, with a slash at its end; nil for addresses.
    private var folder: String? {
        switch self {
        case .standardInput, .file:
            let path = base.deletingLastPathComponent().path(percentEncoded: false)
            let own = base.hasDirectoryPath ? base.path(percentEncoded: false) : path
            return own.hasSuffix("/") ? own : own + "/"
        case .address: return nil
        }
    }

    private func isSameServer(_ other: URLComponents) -> Bool {
        guard case .address(let url) = self, let own = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return false
        }
        return Self.origin(own) == Self.origin(other)
    }

    /// The origin: scheme, host and port (RFC 6454, section 4).
    private static func origin(_ components: URLComponents) -> [String] {
        let scheme = components.scheme?.lowercased() ?? ""
        let port = components.port ?? (scheme == "https" ? 443 : 80)
        return [scheme, components.host?.lowercased() ?? "", String(port)]
    }

    /// The name for messages. A path below the working folder is relative to it.
    var name: String {
        switch self {
        case .standardInput: return "standard input"
        case .address(let url): return LicenseProblem.printable(url.absoluteString)
        case .file(let path):
            let folder = Self.workingFolder.path(percentEncoded: false)
            let start = folder.hasSuffix("/") ? folder : folder + "/"
            let isBelow = path.hasPrefix(start) && path.count > start.count
            return LicenseProblem.printable(isBelow ? String(path.dropFirst(start.count)) : path)
        }
    }
}

/// Why a reference is not followed.
enum PlaylistPlaceError: Error, Equatable, Sendable {
    /// Not a reference to a file, or to an address of `http` or `https`.
    case notAReference
    /// A reference to another folder or another server.
    case otherPlace
}
