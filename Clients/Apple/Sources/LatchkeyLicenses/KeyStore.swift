import Foundation

/// Stores the keys that the device keeps, one file for each key URI. FairPlay has sealed them for this device, so other
/// devices cannot use them.
public struct KeyStore: Sendable {
    private let folder: URL

    /// Makes a store in `folder`, which is created when the first key is saved. On iOS, exclude it from backups.
    public init(folder: URL) {
        self.folder = folder
    }

    /// The key of a key URI; nil if it is not stored.
    public func key(for uri: String) -> Data? {
        try? Data(contentsOf: file(for: uri))
    }

    /// The id of the license that the key of a key URI came with, for `LicensePurpose.offlineRenewal`; nil if it is not
    /// known.
    public func licenseID(for uri: String) -> String? {
        (try? Data(contentsOf: file(for: uri, "license"))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Saves a key, and replaces an older one. The id of its license stays the same.
    public func save(_ key: Data, for uri: String) throws {
        let file = file(for: uri)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try key.write(to: file, options: .atomic)
    }

    /// Saves the key of a new license, and the id of this license.
    public func save(_ key: Data, of license: License, for uri: String) throws {
        try save(key, for: uri)
        let file = file(for: uri, "license")
        // The server needs no id. A wrong one would name another license in its ledger, so it is removed first.
        try? FileManager.default.removeItem(at: file)
        try license.id.map { try Data($0.utf8).write(to: file, options: .atomic) }
    }

    /// Deletes a key. Does nothing if it is not stored.
    public func remove(_ uri: String) {
        for kind in ["key", "license"] { try? FileManager.default.removeItem(at: file(for: uri, kind)) }
    }

    /// The file of a key URI. Its name is the URI in hexadecimal digits. A file name has at most 255 bytes, so long
    /// URIs are split into names of folders and of a file.
    private func file(for uri: String, _ kind: String = "key") -> URL {
        let name = Data(uri.utf8).map { String(format: "%02x", $0) }.joined()
        var file = folder
        for start in stride(from: 0, to: name.count, by: 200) {
            file.appendPathComponent(String(name.dropFirst(start).prefix(200)))
        }
        return file.appendingPathExtension(kind)
    }
}
