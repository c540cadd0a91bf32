import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto
import Records

extension DecisionRecorder {
    /// Makes the decision that grants this license: what it spends, and its entry in the ledger.
    func decision(
        on license: GrantedLicense, of request: OpenedRequest, _ deviceID: DeviceID, using crypto: CryptoContext
    ) throws(LicenseError) -> LicenseDecision {
        try wrap(LicenseError.internalFailure, try makeDecision(on: license, of: request, deviceID, using: crypto))
    }

    /// What this node remembers of the same request; nil for a new one, and for one that is being decided.
    func remembered(
        _ license: GrantedLicense, of request: OpenedRequest, using crypto: CryptoContext
    ) throws(LicenseError) -> RecordedAnswer? {
        // The name of a request does not depend on the device, which is not known yet.
        let device = DeviceID([UInt8](repeating: 0, count: DeviceID.size))
        let decision = try decision(on: license, of: request, device, using: crypto)
        return (decision.localReplay ?? decision.replay).flatMap { answer(to: $0, at: decision.now) }
    }

    private func makeDecision(
        on license: GrantedLicense, of request: OpenedRequest, _ deviceID: DeviceID, using crypto: CryptoContext
    ) throws(CryptoError) -> LicenseDecision {
        let device = try pseudonyms.pseudonym(of: .device, deviceID.bytes)
        var decision = LicenseDecision(
            now: license.times.issuedAt, entry: try entry(for: license, of: request, device, using: crypto))
        let obligations = license.authorization.obligations
        let grant = request.claims.renewal
        let session = try grant.map { grant throws(CryptoError) in
            try pseudonyms.pseudonym(of: .session, grant.id.bytes)
        }
        let name = try RequestName(of: license, request, using: crypto)
            .digest(subject: decision.entry.subject, session: session)
        let replay = license.replay(under: name, request, within: retryWindow)
        guard !obligations.isEmpty || grant != nil else {
            decision.localReplay = replay
            return decision
        }
        let spender = Spender(
            license: license, request: request, device: device, subject: decision.entry.subject, crypto: crypto,
            pseudonyms: pseudonyms, deviceLife: deviceLife)
        decision.replay = replay
        decision.tokenUse = try spender.tokenUse(obligations)
        decision.devicePlaces = try spender.devicePlaces(obligations)
        decision.slotClaims = try spender.slotClaims(obligations)
        decision.rental = try spender.rentalClaim(obligations)
        if let grant, let session {
            decision.sessionTokenUse = SessionTokenUse(
                session: session, generation: grant.generation, keptUntil: grant.absoluteEnd)
        }
        return decision
    }

    /// The name of the request's token in the ledger.
    ///
    /// A token that only the operator's service can read is named by its digest if the service named no subject and no
    /// id. So the holder of the token can ask about its licenses.
    func tokenName(
        of request: OpenedRequest, subject: String?, tokenID: String?, using crypto: CryptoContext
    ) throws(CryptoError) -> String? {
        guard tokenID == nil, subject == nil, case .undecided(let callback) = request.admission.standing else {
            return tokenID
        }
        return try callback.party(of: request.admission.token, using: crypto).ledgerName(by: pseudonyms)
    }

    /// Frees the slots of a playback that its device reports as stopped, in all groups in which this license would
    /// count.
    func releaseSlots(
        of license: GrantedLicense, _ request: OpenedRequest, _ deviceID: DeviceID, using crypto: CryptoContext,
        in store: any PlaybackSlotStore
    ) async throws(LicenseError) {
        let claims = try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            let spender = Spender(
                license: license, request: request, device: try pseudonyms.pseudonym(of: .device, deviceID.bytes),
                subject: try subject(of: license.authorization), crypto: crypto, pseudonyms: pseudonyms,
                deviceLife: deviceLife)
            return try spender.slotClaims(license.authorization.obligations)
        }
        guard !claims.isEmpty else { return }
        try await wrapAsync(LicenseError.store, try await store.release(claims, at: license.times.issuedAt))
    }

    /// The pseudonym of the token's subject; nil for a token without a subject.
    private func subject(of authorization: Authorization) throws(CryptoError) -> Pseudonym? {
        try authorization.subject.map { subject throws(CryptoError) in
            try pseudonyms.subject(issuer: authorization.issuer, subject)
        }
    }

    private func entry(
        for license: GrantedLicense, of request: OpenedRequest, _ device: Pseudonym, using crypto: CryptoContext
    ) throws(CryptoError) -> LedgerEntry {
        let authorization = license.authorization
        let facts = LicenseFacts(license.id, license.terms, license.times)
        var entry = LedgerEntry(
            kind: request.isRenewal ? .licenseRenewed : .licenseIssued, at: facts.issuedAt, license: license.id,
            keyID: request.key.keyID, content: request.key.contentID.text, detail: facts.type)
        entry.previous = request.claims.renewal.map { LicenseID($0.license) }
        entry.subject = try subject(of: authorization)
        entry.device = device
        entry.stated = request.stated
        entry.tokenID = try tokenName(
            of: request, subject: authorization.subject, tokenID: authorization.tokenID,
            using: crypto)
        if entry.subject == nil { entry.issuer = authorization.issuer }
        entry.facts.add(request.admission.request.origin.mark, pseudonyms)
        entry.cookie = authorization.cookie
        entry.lease = facts.lease
        entry.rental = facts.rental
        entry.until = facts.expiresAt
        entry.playback = facts.playback
        entry.renewAfter = facts.renewAfter
        return entry
    }
}

extension GrantedLicense {
    /// The replay record of the request under its name. It is kept as long as the token is good, and at least for the
    /// retry window. A license can be repeated only while it lasts, because a repetition never lasts longer.
    fileprivate func replay(
        under name: Pseudonym, _ request: OpenedRequest, within retryWindow: Int64
    ) -> ReplayRecord {
        let keptUntil = max(times.issuedAt + retryWindow, request.claims.countedUntil)
        // What the operator's service allows is its own answer each time.
        guard !request.isDecidedByService else {
            return ReplayRecord(
                request: name, retryWindow: retryWindow, keptUntil: keptUntil,
                answer: RecordedAnswer(license: id).bytes)
        }
        return ReplayRecord(
            request: name, retryWindow: min(retryWindow, authorization.secondsToRepeat ?? retryWindow),
            keptUntil: keptUntil, answer: RecordedAnswer(license: id, rightEnd: authorization.rightEnd).bytes)
    }
}

extension Claims {
    /// Until when the store remembers what the token has spent, in seconds since 1970.
    ///
    /// It outlasts the leeway for which the token is accepted after its end, the time that a request may wait, and the
    /// difference between the clocks of the nodes.
    fileprivate var countedUntil: Int64 { expiresAt + IssuerSet.leewayMaximum + 120 }
}

/// Turns the obligations of a license into what the store must count.
private struct Spender {
    /// How long a slot is held if the license itself has no end, in seconds.
    private static let slotLifeWithoutEnd: Int64 = 86_400

    let license: GrantedLicense
    let request: OpenedRequest
    let device: Pseudonym
    /// Nil for a token without a subject.
    let subject: Pseudonym?
    let crypto: CryptoContext
    let pseudonyms: Pseudonymizer
    let deviceLife: Int64

    private var claims: Claims { request.claims }
    private var issuer: [UInt8] { Array(claims.issuer.utf8) }

    /// The pseudonym of the token: of its id, or else the digest of its signed part.
    private func tokenName() throws(CryptoError) -> Pseudonym {
        guard let id = claims.tokenID else { return try request.signedDigest(using: crypto) }
        return try pseudonyms.pseudonym(of: .token, issuer, Array(id.utf8))
    }

    /// The party whose devices and playbacks are counted. A token without a subject counts on its own.
    private func owner() throws(CryptoError) -> [UInt8] {
        if let subject = claims.subject { return Array(subject.utf8) }
        if let owner = claims.renewal?.owner { return owner }
        return try request.signedDigest(using: crypto).bytes
    }

    func tokenUse(_ obligations: Obligations) throws(CryptoError) -> TokenUse? {
        guard let limit = obligations.usesPerKey else { return nil }
        return TokenUse(
            token: try tokenName(), keyID: request.key.keyID, limit: limit, keptUntil: claims.countedUntil)
    }

    func devicePlaces(_ obligations: Obligations) throws(CryptoError) -> [DevicePlace] {
        var found: [DevicePlace] = []
        if obligations.bindsFirstDevice {
            found.append(
                DevicePlace(
                    owner: try tokenName(), device: device, limit: 1, keptUntil: claims.countedUntil, kind: .binding))
        }
        if let limit = obligations.deviceMaximum {
            let owner = try pseudonyms.pseudonym(of: .subject, issuer, try self.owner())
            // The places of a subject outlive its tokens. A device without a new license loses its place after
            // `deviceLife`.
            let end = claims.subject == nil ? claims.countedUntil : license.times.issuedAt + deviceLife
            found.append(
                DevicePlace(
                    owner: owner, device: device, limit: limit, keptUntil: end,
                    kind: obligations.replacesOldestDevice ? .replacing : .counted))
        }
        return found
    }

    /// The rental to remember: as long as it can last, and at least as long as the token's uses are remembered.
    func rentalClaim(_ obligations: Obligations) throws(CryptoError) -> RentalClaim? {
        guard let step = obligations.rental, let subject, let name = claims.subject else { return nil }
        let content = request.key.contentID.text
        return RentalClaim(
            name: try pseudonyms.rental(issuer: claims.issuer, subject: name, content: content), owner: subject,
            content: content, known: step.known.map { RentalRecord($0) }, record: RentalRecord(step.memory),
            keptUntil: max(step.keptUntil, claims.countedUntil))
    }

    func slotClaims(_ obligations: Obligations) throws(CryptoError) -> [SlotClaim] {
        var found: [SlotClaim] = []
        for session in obligations.sessions {
            for group in session.groups { found.append(try slotClaim(group, of: session)) }
        }
        return found
    }

    private func slotClaim(
        _ group: SessionClaims.Group, of session: SessionClaims
    ) throws(CryptoError) -> SlotClaim {
        let state = request.device.playbackState
        let now = license.times.issuedAt
        let end = license.terms.lease.map { now + Int64($0.value) } ?? license.times.expiresAt
        var claim = SlotClaim(
            group: try pseudonyms.pseudonym(of: .group, issuer, try owner(), Array(group.id.utf8)),
            limit: group.maximum,
            whenFull: session.mode == .evictOldest ? .evictOldest : .denyNew,
            playback: SlotClaim.Playback(
                device: device, session: state?.sessionID,
                content: try pseudonyms.pseudonym(of: .content, Array(request.key.contentID.text.utf8)),
                isRelayed: request.device.output != .local),
            isConfirmed: state?.state == .playing || state?.state == .leaseExpiring,
            heldUntil: (end ?? now + Self.slotLifeWithoutEnd) + Int64(LimitSeconds.clamped(session.grace ?? 0)))
        claim.description = subject.map {
            SlotClaim.Description(owner: $0, groupName: group.id, content: request.key.contentID.text)
        }
        return claim
    }
}
