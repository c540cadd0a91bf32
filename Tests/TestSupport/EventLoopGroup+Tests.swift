package import EventLoops

extension EventLoopGroup {
    /// The number of channels that are registered on any loop.
    package var registrationCount: Int { loops.reduce(0) { $0 + $1.registrationCount } }

    /// Makes all loops check their clocks, after a test has moved them.
    package func wakeAll() {
        for loop in loops { loop.execute {} }
    }
}
