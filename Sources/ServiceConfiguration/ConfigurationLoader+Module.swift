import FairPlay
package import KeyCrypto
package import POSIXSockets

extension ConfigurationLoader {
    /// The settings of every credential whose ladder is a module, by the credential's name; those with a problem are
    /// left out.
    mutating func modules() -> [String: ExternalModuleSettings] {
        var modules: [String: ExternalModuleSettings] = [:]
        for (index, credential) in configuration.fairplay.credentials.enumerated() {
            switch credential.ladder {
            case .applicationSecret, .fixedDASk: break
            case .module(let module):
                modules[credential.name] = settings(module, "fairplay.credentials[\(index)].module")
            }
        }
        return modules
    }

    private mutating func settings(_ module: Configuration.Module, _ path: String) -> ExternalModuleSettings? {
        let library = library(module.library, "\(path).library")
        let data = secret(module.data, sizeMaximum: ExternalModuleSettings.dataSizeMaximum, "\(path).data")
        // Looked up once: workers whose user could not be found later would keep the daemon's own.
        let user = module.user.flatMap { SystemUser(named: $0) }
        let hasUser = module.user == nil || user != nil
        if !hasUser { report("\(path).user", .unknownUser) }

        guard let library, let data, hasUser else { return nil }
        return ExternalModuleSettings(
            library: library, data: SharedSecret(data), workers: module.workers, callDeadline: module.callDeadline,
            processorTime: module.processorTime, memoryLimit: module.memoryLimit, user: user)
    }

    /// The absolute path of a file that can be a shared library.
    private mutating func library(_ path: String, _ name: String) -> String? {
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

/// A shared library, looked at from outside.
enum SharedLibraryFile {
    /// How every ELF file begins.
    private static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]

    /// Whether the file is one that the dynamic linker could load. A file that others may change is refused.
    static func isLibrary(_ path: String) throws(FileError) -> Bool {
        try FileReading.readStart(path, count: magic.count, permissions: .ownerWrites) == magic
    }
}

/// All that it takes to start the workers of a credential whose ladder is a module.
package struct ExternalModuleSettings: Sendable {
    /// The absolute path of the shared library.
    package let library: String
    /// What the library is opened with, 1 to `dataSizeMaximum` bytes.
    package let data: SharedSecret
    /// How many processes run the library, each one call at a time; at least one.
    package let workers: Int
    /// How long one call may take before its worker is ended.
    package let callDeadline: Duration
    /// How much processor time one worker may use beyond that of its answered calls before it is ended.
    package let processorTime: Duration
    /// The address space of one worker, in bytes.
    package let memoryLimit: UInt64
    /// The user that the workers become; nil for the daemon's own.
    package let user: SystemUser?

    /// The most bytes of module data.
    package static let dataSizeMaximum = 1 << 20
}

/// Stands in a credential for the module that is connected when the daemon starts: the checks of a configuration start
/// no process.
struct UnconnectedModule: LadderModule {
    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        throw .unavailable
    }
}
