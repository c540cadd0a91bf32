package import ByteCoding
package import EventLoops
package import Records

/// Finds earlier licenses, so that the record of a renewal can name the license before it.
package protocol LicenseHistory: Sendable {
    /// The last persistent license that matches; nil if there is no such license, or if it is not found in time.
    func previousLicense(like search: PreviousLicense, on loop: LoopContext) async -> LicenseID?
}

/// What the license before an offline renewal must match.
package struct PreviousLicense: Equatable, Sendable {
    package let device: Pseudonym
    package let keyID: KeyID
    /// The subject whose licenses are searched; nil if the token has no subject.
    package let subject: Pseudonym?
    /// The license that the app names; nil if it names none.
    package let named: LicenseID?

    /// Whether an entry of the ledger is about such a license.
    package func matches(_ entry: LedgerEntry) -> Bool {
        guard let license = LicenseFacts(entry), license.isPersistent else { return false }
        return entry.device == device.shortened && entry.keyID == keyID && (named == nil || entry.license == named)
    }
}
