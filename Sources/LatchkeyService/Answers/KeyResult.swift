import ByteCoding
import Licensing

/// What one SPC of a request came to.
enum KeyOutcome: Sendable {
    case license(IssuedLicense)
    /// The SPC was a sync SPC: the answer is what it reports, and no key.
    case syncReport(AcceptedSyncReport)
    /// The device says that this playback has stopped: no key leaves.
    case playbackEnded(EndedPlayback)
    case refused(Problem)
}

/// What one SPC came to, and the name by which the player knows it.
struct KeyResult: Sendable {
    /// As the player wrote it, to be repeated unchanged. Nil in shapes with one SPC and no name for it.
    let label: JSONNode?
    let outcome: KeyOutcome

    init(label: JSONNode? = nil, _ outcome: KeyOutcome) {
        self.label = label
        self.outcome = outcome
    }
}
