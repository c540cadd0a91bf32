import FairPlay
package import KeyCrypto
package import POSIXSockets

extension ConfigurationLoader {
    /// Loads the settings of all modules, by the name of the credential. A module with a problem is left out.
    mutating func modules() -> [String: ExternalModuleSettings] {
        var modules: [String: ExternalModuleSettings] = [:]
        for (index, credential) in configuration.fairplay.credentials.enumerated() {
            switch credential.ladder {
            case .applicationSecret, .fixedDASk, .sdk: break
            case .module(let module):
                modules[credential.name] = settings(module, "fairplay.credentials[\(index)].module")
            }
        }
        return modules
    }

    private mutating func settings(_ module: Configuration.Module, _ path: String) -> ExternalModuleSettings? {
        let library = library(module.library, "\(path).library")
        let data = secret(module.data, sizeMaximum: ExternalModuleSettings.dataSizeMaximum, "\(path).data")
        let user = user(of: module.workers, path)

        guard let library, let data, let user else { return nil }
        return ExternalModuleSettings(
            library: library, data: SharedSecret(data), workers: module.workers.count,
            callDeadline: module.workers.callDeadline,
            memoryLimit: module.workers.memoryLimit, user: user)
    }

    /// Looks up the user that workers become; `.some(nil)` for the daemon's own user.
    ///
    /// The user is looked up here, so that it cannot be missing later: then workers would run as the daemon's own user.
    mutating func user(of workers: Configuration.Workers, _ path: String) -> SystemUser?? {
        guard let name = workers.user else { return .some(nil) }
        if let user = SystemUser(named: name) { return user }
        report("\(path).user", .unknownUser)
        return .none
    }

    /// Checks that a file can be a shared library, and returns its absolute path.
    mutating func library(_ path: String, _ name: String) -> String? {
        do throws(FileError) {
            if try SharedLibraryFile.isLibrary(path) {
                if let digest = FileDigest(ofFileAt: path) { note(digest, name) }
                return FilePath.absolute(path)
            }
            report(name, .notALibrary)
        } catch {
            report(name, .file(error))
        }
        return nil
    }
}

/// Checks the file of a shared library without loading it.
enum SharedLibraryFile {
    /// The first bytes of every ELF file.
    private static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]

    /// Whether the file is an ELF file. Throws if others than its owner may change it.
    static func isLibrary(_ path: String) throws(FileError) -> Bool {
        try FileReading.readStart(path, count: magic.count, permissions: .ownerWrites) == magic
    }
}

/// The settings for the workers of a credential whose ladder is a module.
package struct ExternalModuleSettings: Sendable {
    /// The absolute path of the shared library.
    package let library: String
    /// The data with which the library is opened: 1 to `dataSizeMaximum` bytes.
    package let data: SharedSecret
    /// How many processes run the library, each with one call at a time; at least one.
    package let workers: Int
    /// How long one call may take before its worker is ended.
    package let callDeadline: Duration
    /// The limit of the address space of one worker, in bytes.
    package let memoryLimit: UInt64
    /// The user that the workers become; nil for the daemon's own user.
    package let user: SystemUser?

    /// The size limit of module data, in bytes.
    package static let dataSizeMaximum = 1 << 20
}

/// A placeholder for the module of a credential. Checking a configuration starts no process; the daemon connects the
/// real module when it starts.
struct UnconnectedModule: LadderModule {
    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        throw .unavailable
    }
}
