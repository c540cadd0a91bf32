package import ByteCoding

/// What an admitted request comes to.
package enum LicenseOutcome: Sendable {
    case license(IssuedLicense)
    /// The SPC was a sync SPC: it is answered with data, and no key leaves.
    case syncReport(AcceptedSyncReport)
    /// The device says that a playback has stopped: its slot is free, and no key leaves.
    case playbackEnded(EndedPlayback)
}

/// A playback that its device has ended.
package struct EndedPlayback: Equatable, Sendable {
    package let keyID: KeyID
    package let credentialName: String
}
