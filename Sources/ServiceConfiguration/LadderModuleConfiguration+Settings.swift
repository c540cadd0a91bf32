import FairPlay
package import KeyCrypto
package import LadderWorkers

extension LadderModuleConfiguration {
    /// The workers of a module.
    package init(_ settings: ExternalModuleSettings) {
        self.init(libraryPath: settings.library, kind: .module(data: settings.data))
        workerCount = settings.workers
        callDeadline = settings.callDeadline
        memoryMaximum = settings.memoryLimit
        user = settings.user
    }
}

extension LadderModuleConfiguration {
    private static let firstDescriptor = 16

    /// The workers of a library. Its files get the numbers of descriptors as their names.
    package init(_ settings: LicenseLibrarySettings, using crypto: CryptoContext) throws(CryptoError) {
        // The names in the first file are no secrets.
        var certificates = String(decoding: settings.files[0].contents.bytes.revealed(), as: UTF8.self)
        for (index, file) in settings.files.enumerated().dropFirst() {
            certificates = certificates.replacing("\"\(file.name)\"", with: "\"\(Self.firstDescriptor + index)\"")
        }
        var files = [
            LibraryFiles.File(
                descriptor: Self.firstDescriptor,
                contents: SharedSecret(SecretBytes(copying: Array(certificates.utf8))))
        ]
        for (index, file) in settings.files.enumerated().dropFirst() {
            files.append(.init(descriptor: Self.firstDescriptor + index, contents: file.contents))
        }
        var probes: [[UInt8]] = []
        for hash in settings.certificateHashes {
            probes.append(
                try LibraryProbe.message(hash.version, naming: hash.hash, for: hash.publicKey, using: crypto))
        }
        self.init(libraryPath: settings.library, kind: .library(LibraryFiles(files: files, probes: probes)))
        workerCount = settings.workers
        callDeadline = settings.callDeadline
        memoryMaximum = settings.memoryLimit
        user = settings.user
    }
}

extension LicenseLibrarySettings {
    /// SHA-256 of everything that its workers are started with.
    package func digest(using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        let settings =
            "\(library) \(workers) \(callDeadline) \(memoryLimit) \(String(describing: user))"
        var parts = Array(settings.utf8)
        for file in files {
            parts += Array(file.name.utf8)
            parts += try file.contents.bytes.withWipedArray { bytes throws(CryptoError) in try crypto.sha256(bytes) }
        }
        for hash in certificateHashes { parts += hash.hash.bytes }
        // A licensee may put a new build in the place of an older one.
        parts += FileDigest(ofFileAt: library)?.code ?? []
        return try crypto.sha256(parts)
    }
}
