/// What a node's store keeps of the node's clock over a restart. Times are seconds since 1970.
package struct ClockRecord: Equatable, Sendable {
    /// The highest time that is settled. A store never lets it go back.
    package var settled: Int64
    /// The time that the wall clock must not be behind.
    package var reference: Int64
    /// What the clock was worth when this was written: a word for people, at most 32 bytes of ASCII.
    package var standing: String
    package var acceptance: ClockAcceptance

    package init(settled: Int64, reference: Int64, standing: String, acceptance: ClockAcceptance = .none) {
        self.settled = settled
        self.reference = reference
        self.standing = standing
        self.acceptance = acceptance
    }
}

/// The last time that an operator has accepted the wall clock.
package struct ClockAcceptance: Equatable, Sendable {
    /// Grows by 1 with each acceptance; 0 before the first.
    package var number: Int64
    /// The accepted wall clock less the boot-time clock, in nanoseconds: another step, or a restart of the machine,
    /// makes it void.
    package var offset: Int64

    package init(number: Int64, offset: Int64) {
        self.number = number
        self.offset = offset
    }

    package static let none = ClockAcceptance(number: 0, offset: 0)
}

/// What a store judges ends by, and what it may delete; in seconds since 1970.
package struct SettledTime: Equatable, Sendable {
    /// What ends later than this has not ended, even if a request's own time says so.
    package var end: Int64
    /// What has ended by this time may be deleted; nil while nothing may.
    package var deletion: Int64?

    package init(end: Int64, deletion: Int64?) {
        self.end = end
        self.deletion = deletion
    }

    /// Judges by the time of each request, and deletes nothing: for a tool, which does not know whether its clock is
    /// right.
    package static let undeleted = SettledTime(end: .max, deletion: nil)
}
