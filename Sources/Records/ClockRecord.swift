/// The node's record of its clock, which its store keeps over a restart. Times are seconds since 1970.
package struct ClockRecord: Equatable, Sendable {
    /// The largest time that is settled. A store never decreases it.
    package var settled: Int64
    /// The time that the wall clock must have reached.
    package var reference: Int64
    /// The standing of the clock when the record was written: a word for people, at most 32 bytes of ASCII.
    package var standing: String
    package var acceptance: ClockAcceptance

    package init(settled: Int64, reference: Int64, standing: String, acceptance: ClockAcceptance = .none) {
        self.settled = settled
        self.reference = reference
        self.standing = standing
        self.acceptance = acceptance
    }
}

/// An operator's last acceptance of the wall clock.
package struct ClockAcceptance: Equatable, Sendable {
    /// The number of acceptances; 0 before the first.
    package var number: Int64
    /// The accepted wall clock minus the boot-time clock, in nanoseconds. Another step of the clock or a restart of the
    /// machine voids the acceptance.
    package var offset: Int64

    package init(number: Int64, offset: Int64) {
        self.number = number
        self.offset = offset
    }

    package static let none = ClockAcceptance(number: 0, offset: 0)
}

/// The time by which a store ends records, and the time by which it may delete them; in seconds since 1970.
package struct SettledTime: Equatable, Sendable {
    /// A record that ends later than this has not ended, even if the time of a request is later.
    package var end: Int64
    /// Records that have ended by this time may be deleted; nil if none may be.
    package var deletion: Int64?

    package init(end: Int64, deletion: Int64?) {
        self.end = end
        self.deletion = deletion
    }

    /// Ends records by the time of each request, and deletes nothing. For a tool, which does not know whether its clock
    /// is right.
    package static let undeleted = SettledTime(end: .max, deletion: nil)
}
