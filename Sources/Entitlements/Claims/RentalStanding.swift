/// The state of the rental that a request is about: the stored state, and the state of the playback.
///
/// Times are seconds since 1970.
package struct RentalStanding: Equatable, Sendable {
    /// The stored state; nil if no license of the rental has been issued yet.
    package var memory: Memory?
    /// Whether this request reports a play: the device says that it is playing, or renews its license. A device that is
    /// only ready to play reports no play.
    package var isPlayed: Bool
    /// Whether a session token proves that the playback began while it was allowed. The playback state in an SPC is no
    /// proof, because the client can change it.
    package var isRunning: Bool

    /// The stored state of a rental.
    package struct Memory: Equatable, Sendable {
        /// When the first license was issued.
        package let openedAt: Int64
        /// When the content was first played; nil if it was not.
        package let firstPlay: Int64?

        package init(openedAt: Int64, firstPlay: Int64?) {
            self.openedAt = openedAt
            self.firstPlay = firstPlay
        }
    }

    package init(memory: Memory? = nil, isPlayed: Bool = false, isRunning: Bool = false) {
        self.memory = memory
        self.isPlayed = isPlayed
        self.isRunning = isRunning
    }
}
