import KeyCrypto

extension ConfigurationLoader {
    private static let field = "crypto.accelerator"

    /// Checks the library that accelerates RSA, without loading it, and returns its absolute path.
    ///
    /// Returns nil if it is off, or if a problem was reported. With "auto" a missing file is not a problem.
    mutating func acceleratorPath() -> String? {
        let accelerator = configuration.crypto.accelerator
        guard let path = accelerator.path.map({ FilePath.absolute($0) }) else { return nil }
        do throws(FileError) {
            guard try SharedLibraryFile.isLibrary(path) else {
                report(Self.field, .notALibrary)
                return nil
            }
            try Self.checkCompanions(of: path)
            if let digest = FileDigest(ofFileAt: path) { note(digest, Self.field) }
        } catch {
            if accelerator != .automatic || !error.isAbsence {
                report(Self.field, .file(error))
                return nil
            }
        }
        return path
    }

    /// Checks that only their owners can change the libraries that the accelerator loads from its own folder.
    private static func checkCompanions(of path: String) throws(FileError) {
        for name in CryptoAccelerator.companions {
            do throws(FileError) {
                _ = try SharedLibraryFile.isLibrary(
                    FilePath.resolve(name, relativeTo: FilePath.directory(of: path)))
            } catch {
                // The dynamic linker looks for a missing one elsewhere.
                if !error.isAbsence { throw error }
            }
        }
    }
}
