package import ByteCoding
package import EventLoops
package import Records

/// What was given before, for the code that records the next licence.
package protocol LicenseHistory: Sendable {
    /// The licence to keep a key that this device was given last; nil if there was no such licence, or if it cannot be
    /// found out in time.
    func previousLicense(like search: PreviousLicense, on loop: LoopContext) async -> LicenseID?
}

/// What the licence before an offline renewal must have been.
package struct PreviousLicense: Equatable, Sendable {
    package let device: Pseudonym
    package let keyID: KeyID
    /// Whose licences are looked through; nil if the token has no subject.
    package let subject: Pseudonym?
    /// The one that the app names.
    package let named: LicenseID?

    package init(device: Pseudonym, keyID: KeyID, subject: Pseudonym?, named: LicenseID?) {
        self.device = device
        self.keyID = keyID
        self.subject = subject
        self.named = named
    }

    /// Whether an entry of the ledger is of such a licence.
    package func matches(_ entry: LedgerEntry) -> Bool {
        guard let license = LicenseFacts(entry), license.isPersistent else { return false }
        return entry.device == device.shortened && entry.keyID == keyID && (named == nil || entry.license == named)
    }
}
