/// What is remembered of the rental that a request is about, and what a play means to it.
///
/// Times are seconds since 1970.
package struct RentalStanding: Equatable, Sendable {
    /// What the installation remembers; nil if nothing is.
    package var memory: Memory?
    /// Whether this request tells of a play: the device says that it plays, or renews. "Ready" is no play.
    package var isPlayed: Bool
    /// Whether a session token vouches for a playback that began when it was allowed to. What an SPC says of its
    /// playback vouches for nothing: its sender can alter that.
    package var isRunning: Bool

    /// When the first licence was given, and when the content was first played.
    package struct Memory: Equatable, Sendable {
        package let openedAt: Int64
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

/// What a licence makes of a rental: what must be remembered together with it.
package struct RentalStep: Equatable, Sendable {
    /// What the licence was computed from.
    package let known: RentalStanding.Memory?
    package let memory: RentalStanding.Memory
    /// Until when it must be remembered, in seconds since 1970: no token can begin the rental again before that.
    package let keptUntil: Int64
}

/// What is left of a rental at an instant.
struct RentalRemainder: Equatable {
    let step: RentalStep
    /// How long from now playback may begin, in seconds from 1; nil for a playback that runs and may finish.
    let toBegin: Int64?
    /// How long from now playback may go on, in seconds from 1; nil for as long as its lease is renewed.
    let toPlay: Int64?
    /// When nothing of it holds any more; nil for a playback that may finish.
    let end: Int64?

    /// Throws `rightEnded` if nothing is left.
    ///
    /// Before the first play a licence bounds when playback begins, and how long it goes on without telling the server.
    /// From the first play on `play` runs, for all devices. An offline licence counts as a play, because nothing tells
    /// of a later one.
    init(
        of terms: RentalTerms, _ standing: RentalStanding, for use: LicenseUse, now: Int64
    ) throws(EntitlementError) {
        let opened = standing.memory?.openedAt ?? now
        let startEnd = LimitSeconds.sum(opened, terms.start)
        let isPlayed = standing.isPlayed || use == .offline
        let firstPlay: Int64?
        if let known = standing.memory?.firstPlay {
            firstPlay = known
        } else if now < startEnd {
            firstPlay = isPlayed ? now : nil
        } else if standing.isRunning {
            // The session began in time. Its first play is told late.
            firstPlay = startEnd
        } else {
            throw .rightEnded
        }
        step = RentalStep(
            known: standing.memory, memory: RentalStanding.Memory(openedAt: opened, firstPlay: firstPlay),
            keptUntil: LimitSeconds.sum(opened, terms.lifeMaximum))
        let mayFinish = terms.finish && standing.isRunning && use == .streaming
        guard let firstPlay else {
            toBegin = startEnd - now
            toPlay = terms.play
            end = terms.finish ? nil : LimitSeconds.sum(startEnd, terms.play)
            return
        }
        let playEnd = LimitSeconds.sum(firstPlay, terms.play)
        guard now < playEnd || mayFinish else { throw .rightEnded }
        toBegin = mayFinish ? nil : playEnd - now
        toPlay = terms.finish && use == .streaming ? nil : playEnd - now
        end = terms.finish && use == .streaming ? nil : playEnd
    }
}
