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
