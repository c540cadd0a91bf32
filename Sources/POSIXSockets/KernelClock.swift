import CLinux

/// The kernel's state of the wall clock.
package enum KernelClock {
    /// Whether a time service synchronises the wall clock, with a maximum error under one second. It becomes false when
    /// the clock is set by hand.
    package static var isSynchronised: Bool { latchkey_clock_is_synchronised() != 0 }
}

/// The time at which this program was built.
package enum ProgramBuild {
    /// The day in the format of C's `__DATE__`, for example "Jan 31 2026".
    package static var date: String { unsafe String(cString: latchkey_build_date()) }
}
