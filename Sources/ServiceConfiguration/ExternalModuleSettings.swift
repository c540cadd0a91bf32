import FairPlay
package import KeyCrypto
package import POSIXSockets

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
