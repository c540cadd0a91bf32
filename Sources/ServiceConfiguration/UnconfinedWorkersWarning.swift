import POSIXSockets

/// The warning that the kernel cannot limit the files of worker processes, which run foreign code.
package struct UnconfinedWorkersWarning: Equatable, Sendable, CustomStringConvertible {
    /// The names of the credentials whose modules or SDK libraries run in worker processes.
    package let credentials: [String]

    /// Nil if there are no worker processes, or if the kernel has Landlock.
    package init?(_ loaded: LoadedConfiguration, isConfined: Bool = FileConfinement.isAvailable) {
        self.init(loaded.modules.keys.sorted() + loaded.libraries.map(\.name), isConfined: isConfined)
    }

    init?(_ credentials: [String], isConfined: Bool) {
        guard !isConfined, !credentials.isEmpty else { return nil }
        self.credentials = credentials
    }

    package var description: String {
        "fairplay.credentials: the kernel has no Landlock, or a filter of system calls forbids it, so the workers of "
            + "\(credentials.joined(separator: ", ")) can read every file that their user can read"
    }

    /// What to do about it.
    package static let remedy =
        "use a kernel with Landlock (Linux 5.13), or give the workers a `user` of their own; see the threat model"
}
