/// The change that a license makes to the stored state of a rental. It is stored together with the license.
package struct RentalStep: Equatable, Sendable {
    /// The stored state from which the license was computed.
    package let known: RentalStanding.Memory?
    /// The new state.
    package let memory: RentalStanding.Memory
    /// Until when the state must be kept, in seconds since 1970. Before that, no token can begin the rental again.
    package let keptUntil: Int64
}

/// The remainder of a rental at an instant.
struct RentalRemainder: Equatable {
    let step: RentalStep
    /// For how many seconds from now playback may begin, at least 1; nil for a running playback that may finish.
    let toBegin: Int64?
    /// For how many seconds from now playback may continue, at least 1; nil if it may continue as long as its lease is
    /// renewed.
    let toPlay: Int64?
    /// When the rental ends; nil if a playback may finish after that.
    let end: Int64?

    /// Computes the remainder. Throws `rightEnded` if the rental has ended.
    ///
    /// Before the first play, a license limits when playback may begin, and for how long it may continue without a
    /// report to the server. The `play` time starts with the first play, for all devices together.
    ///
    /// Only a license with a `lease` that ends before the `play` time waits for a reported play. Every other license
    /// counts as a play, because its device may play the content without a report: an offline license, and a streaming
    /// license whose device need not renew it. `lease` is the lease of the right after the policy has tightened it.
    init(
        of terms: RentalTerms, _ standing: RentalStanding, lease: Int64?, for use: LicenseUse, now: Int64
    ) throws(EntitlementError) {
        let opened = standing.memory?.openedAt ?? now
        let startEnd = LimitSeconds.sum(opened, terms.start)
        let reportsPlays = use == .streaming && lease.map { $0 < terms.play } ?? false
        let isPlayed = standing.isPlayed || !reportsPlays
        let firstPlay: Int64?
        if let known = standing.memory?.firstPlay {
            firstPlay = known
        } else if now < startEnd {
            firstPlay = isPlayed ? now : nil
        } else if standing.isRunning {
            // The session began in time, but its first play is reported late.
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
