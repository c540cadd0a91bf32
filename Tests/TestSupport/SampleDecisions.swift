import ByteCoding
import KeyCrypto
package import Records

/// Makes decisions for tests from a few numbers.
package enum SampleDecisions {
    /// The role of a pseudonym, so that the same number never means two things.
    package enum Role: UInt8, Sendable {
        case request = 1
        case token, owner, device, group, content, holder, session, rental
    }

    /// Returns a pseudonym whose first bytes differ from those of other pseudonyms, as with real ones. Stores choose
    /// locks by these bytes.
    package static func spread(_ role: Role, _ number: UInt64) -> Pseudonym {
        let mixed = (number &+ UInt64(role.rawValue) << 56) &* 0x9E37_79B9_7F4A_7C15
        let bytes = Bytes16(high: mixed ^ mixed >> 29, low: number).bytes
        guard let pseudonym = Pseudonym(bytes + bytes) else { preconditionFailure("thirty-two bytes make a pseudonym") }
        return pseudonym
    }

    /// Returns a pseudonym. Those of one role are in the order of their numbers, and both halves have the number.
    package static func pseudonym(_ role: Role, _ number: UInt64) -> Pseudonym {
        let first = Bytes16(high: UInt64(role.rawValue) << 56 | 0xA5_A5A5_A5A5_A5A5, low: number)
        return Pseudonym(Bytes32(first, Bytes16(high: 0, low: number)))
    }

    /// Makes the pseudonyms of an installation, with a key for tests.
    package static func pseudonyms() throws -> Pseudonymizer {
        Pseudonymizer(key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))))
    }

    package static func license(_ number: UInt64) -> LicenseID {
        LicenseID(milliseconds: 1_800_000_000_000 + number, random: Bytes16(high: 0xABCD, low: number))
    }

    package static func entry(_ number: UInt64, at now: Int64 = 0) -> LedgerEntry {
        var entry = LedgerEntry(
            kind: .licenseIssued, at: now, license: license(number), keyID: SampleKeys.keyID(number % 7),
            content: "movie-\(number % 5)", detail: "streaming")
        entry.subject = pseudonym(.owner, number % 11)
        entry.device = pseudonym(.device, number % 13)
        entry.tokenID = "token-\(number)"
        entry.lease = 300
        entry.until = now + 300
        return entry
    }

    package static func replay(
        _ request: UInt64, window: Int64 = 120, keptUntil: Int64 = 10_000, answer: [UInt8] = [1]
    ) -> ReplayRecord {
        ReplayRecord(
            request: pseudonym(.request, request), retryWindow: window, keptUntil: keptUntil, answer: answer)
    }

    package static func use(
        _ token: UInt64 = 1, key: UInt64 = 1, limit: UInt32, keptUntil: Int64 = 10_000
    ) -> TokenUse {
        TokenUse(
            token: pseudonym(.token, token), keyID: SampleKeys.keyID(key), limit: limit, keptUntil: keptUntil)
    }

    package static func session(
        _ session: UInt64 = 1, _ generation: UInt32, keptUntil: Int64 = 10_000
    ) -> SessionTokenUse {
        SessionTokenUse(session: pseudonym(.session, session), generation: generation, keptUntil: keptUntil)
    }

    package static func place(
        owner: UInt64 = 1, device: UInt64, limit: UInt32, keptUntil: Int64? = nil, _ kind: DevicePlace.Kind = .counted
    ) -> DevicePlace {
        DevicePlace(
            owner: pseudonym(.owner, owner), device: pseudonym(.device, device), limit: limit, keptUntil: keptUntil,
            kind: kind)
    }

    package static func rental(
        _ rental: UInt64 = 1, owner: UInt64 = 1, known: RentalRecord?, _ record: RentalRecord,
        keptUntil: Int64 = 10_000
    ) -> RentalClaim {
        RentalClaim(
            name: pseudonym(.rental, rental), owner: pseudonym(.owner, owner), content: "movie-\(rental)", known: known,
            record: record, keptUntil: keptUntil)
    }

    /// Returns the same claim with a description for lists.
    package static func named(_ claim: SlotClaim, owner: UInt64 = 1, group: String = "all", content: String)
        -> SlotClaim
    {
        var claim = claim
        claim.description = SlotClaim.Description(
            owner: pseudonym(.owner, owner), groupName: group, content: content)
        return claim
    }

    /// Returns a claim. By default it is a confirmed playback on the device itself.
    package static func slot(
        group: UInt64 = 1, limit: UInt32 = 1, _ whenFull: SlotClaim.WhenFull = .denyNew, device: UInt64,
        session: UInt64?, content: UInt64 = 1, provisional: Bool = false, relayed: Bool = false,
        heldUntil: Int64 = 1000
    ) -> SlotClaim {
        SlotClaim(
            group: pseudonym(.group, group), limit: limit, whenFull: whenFull,
            playback: SlotClaim.Playback(
                device: pseudonym(.device, device), session: session, content: pseudonym(.content, content),
                isRelayed: relayed),
            isConfirmed: !provisional, heldUntil: heldUntil)
    }
}
