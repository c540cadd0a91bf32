import CLinux

/// What the kernel says of the wall clock.
package enum KernelClock {
    /// Whether a time service keeps the wall clock right, with a maximum error under one second. Setting the clock by
    /// hand ends that.
    package static var isSynchronised: Bool { latchkey_clock_is_synchronised() != 0 }
}

/// When this program was built.
package enum ProgramBuild {
    /// The day as C's `__DATE__` gives it, as "Jan 31 2026".
    package static var date: String { unsafe String(cString: latchkey_build_date()) }
}
