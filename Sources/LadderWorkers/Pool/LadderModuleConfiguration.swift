import EventLoops
package import KeyCrypto
package import POSIXSockets

/// What one credential's module is, and how its workers are run.
package struct LadderModuleConfiguration: Sendable {
    /// The absolute path of the library, which the workers' user must be able to read: 1 to 4,095 bytes.
    package var libraryPath: String
    /// What the module is opened with: 1 to 1,048,576 bytes.
    package var data: SharedSecret
    /// The number of worker processes. Each answers one call at a time.
    package var workerCount: Int = Processors.count
    /// How long a worker may take for one call before it is ended, counted from the end of the call before.
    package var callDeadline: Duration = .seconds(2)
    /// How much processor time a worker may use, on all of its threads, beyond the time that its answered calls took
    /// and a twentieth of all time: for the call that it has begun, or while it has none. A worker that uses more is
    /// ended.
    package var processorTimeMaximum: Duration = .seconds(2)
    /// How many calls may wait for a worker; one more is refused at once.
    package var queueLengthMaximum = 1024
    /// How long a call may wait for a worker before it is refused.
    package var queueDeadline: Duration = .seconds(3)
    /// How long a worker may take to open the module.
    package var startDeadline: Duration = .seconds(10)
    /// The address space of a worker in bytes, the daemon's own program in it included (some 100 MB of mappings, few of
    /// them used).
    package var memoryMaximum: UInt64 = 1 << 30
    /// The most descriptors that a worker may have open; four are its own.
    package var descriptorMaximum: UInt64 = 64
    /// The user that workers become; only a daemon that runs as root can ask for one. Nil: the daemon's own.
    ///
    /// With a user of their own, workers cannot read the daemon's files either.
    package var user: SystemUser?
    /// The program that runs in the role of a worker: this one, unless a test says otherwise.
    package var programPath = "/proc/self/exe"

    package init(libraryPath: String, data: SharedSecret) {
        self.libraryPath = libraryPath
        self.data = data
    }

    var start: LadderStart {
        LadderStart(
            confinement: ProcessConfinement(
                user: user, memoryMaximum: memoryMaximum, descriptorMaximum: descriptorMaximum),
            libraryPath: libraryPath, moduleData: data)
    }
}
