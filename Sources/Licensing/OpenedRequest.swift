import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto
import Records

/// Everything from which a request is decided: its opened SPC, its claims and its content key.
///
/// The claims were verified by this server or confirmed by the operator's service.
struct OpenedRequest: Sendable {
    /// The facts that do not change. They are behind one reference, because every stage of a license hands them on.
    private final class Facts: Sendable {
        let admission: Admission
        let held: HeldClaims
        let spc: SPC
        let device: DeviceFacts
        let stated: DeviceSummary
        let key: ContentKeyAttributes
        let revocations: RevocationView
        let use: LicenseUse
        let digest: Pseudonym?

        init(
            admission: Admission, claims held: HeldClaims, spc: SPC, key: ContentKeyAttributes,
            revocations: RevocationView, digest: Pseudonym?
        ) {
            self.admission = admission
            self.held = held
            self.spc = spc
            device = spc.device
            stated = DeviceSummary(device)
            self.key = key
            self.revocations = revocations
            use = admission.request.use ?? LicenseUse(grantedBy: held.claims, for: RequestedContent(key))
            self.digest = digest
        }
    }

    private let facts: Facts
    /// What is remembered about the rental of the request; nil if nothing is remembered, and for tokens without a
    /// rental that is remembered.
    var rental: RentalStanding.Memory?
    /// The license that was given to the same request before; nil before that is known.
    var first: FirstLicense?

    /// `digest` is the SHA-256 of the SPC; nil if it was not computed yet.
    init(
        admission: Admission, claims: HeldClaims, spc: SPC, key: ContentKeyAttributes, revocations: RevocationView,
        digest: Pseudonym? = nil
    ) {
        facts = Facts(
            admission: admission, claims: claims, spc: spc, key: key, revocations: revocations, digest: digest)
    }

    var admission: Admission { facts.admission }
    /// The claims of the token, or those that the operator's service has answered.
    var claims: Claims { facts.held.claims }
    /// Whether the license depends on the stored state of a rental.
    var remembersRental: Bool { facts.held.claims.remembersRental }
    var spc: SPC { facts.spc }
    var device: DeviceFacts { facts.device }
    /// What the device states about itself, as the ledger has it.
    var stated: DeviceSummary { facts.stated }
    var key: ContentKeyAttributes { facts.key }
    var revocations: RevocationView { facts.revocations }
    /// What the license is for: as the app says it, or else as its token grants it.
    var use: LicenseUse { facts.use }
    /// The SHA-256 of the SPC; nil if it was not computed yet.
    var digest: Pseudonym? { facts.digest }

    /// The SHA-256 of the token that decided; nil if this server cannot read it.
    var tokenDigest: Pseudonym? { facts.held.token.map { Pseudonym($0.value) } }

    /// Whether the operator's service has decided about the token, which this server cannot read.
    var isDecidedByService: Bool {
        if case .undecided = admission.standing { return true }
        return false
    }

    /// The party that the token stands for.
    ///
    /// A token that only the operator's service can read stands for itself. So the party is the same before and after
    /// the service has decided, and a challenge that was issued before stays valid.
    func party(using crypto: CryptoContext) throws(LicenseError) -> TokenParty {
        try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            switch admission.standing {
            case .verified: try TokenParty(claims, of: admission.token, using: crypto)
            case .undecided(let callback): try callback.party(of: admission.token, using: crypto)
            }
        }
    }

    /// Whether the device says that playback has stopped, so that it gets no license and its slot is freed (protocol,
    /// section 4.2).
    ///
    /// This is so only if the license would have a lease or would take a playback slot.
    func endsPlayback(_ license: GrantedLicense) -> Bool {
        guard use == .streaming, device.playbackState?.state == .stopped else { return false }
        return license.terms.lease != nil || !license.authorization.obligations.sessions.isEmpty
    }

    /// Whether the gate must be asked again once HU is known: the token is bound to one device, or a device is revoked.
    var dependsOnDevice: Bool { claims.device.pinned != nil || revocations.concerns(.hardware) }

    /// Whether the license renews another one, as the token, the app or the device's playback state says.
    var isRenewal: Bool {
        claims.renewal != nil || admission.request.renewal.isRenewal || device.playbackState?.state == .leaseExpiring
    }

    /// The request to the gate. Without a `deviceID` the device counts as the one that the token names.
    func gateRequest(to deviceID: DeviceID?, at now: Int64) -> GateRequest {
        var request = GateRequest(claims: facts.held, content: RequestedContent(key), use: use, now: now)
        request.device = RequestingDevice(
            identifier: deviceID.map { DeviceIdentifier($0.bytes) } ?? claims.device.pinned,
            isAirPlay: device.output == .airPlay, isAVAdapter: device.output == .avAdapter,
            securityLevel: device.securityLevel.map { Right.SecurityLevel($0) })
        request.origin = admission.request.origin
        request.policy = admission.rules.entitlement.policy
        request.revocations = revocations
        request.first = first
        request.rental = RentalStanding(
            memory: rental, isPlayed: isRenewal || device.playbackState?.state == .playing,
            isRunning: claims.renewal != nil)
        return request
    }
}

extension Right.SecurityLevel {
    fileprivate init(_ level: FairPlay.SecurityLevel) {
        self =
            switch level {
            case .audio: .audio
            case .baseline: .baseline
            case .main: .main
            }
    }
}

/// A license that the gate allows and that can be told to the device. It may be sent once it is recorded.
///
/// It is a class, because its authorization is large and several stages hand it on.
final class GrantedLicense: Sendable {
    let id: LicenseID
    let authorization: Authorization
    let terms: LicenseTerms
    let times: LicenseTimes

    init(id: LicenseID, authorization: Authorization, terms: LicenseTerms, issuedAt: Int64) {
        self.id = id
        self.authorization = authorization
        self.terms = terms
        times = LicenseTimes(terms, issuedAt: issuedAt, id: id, renewAhead: authorization.renewAhead)
    }

    /// The same license under the id with which it was recorded.
    func renamed(_ id: LicenseID) -> GrantedLicense {
        GrantedLicense(id: id, authorization: authorization, terms: terms, issuedAt: times.issuedAt)
    }
}

// Session tokens: they bind a license to its renewals.

extension OpenedRequest {
    private var sessions: SessionTokens? { admission.rules.entitlement.tokens.sessions }

    /// Throws if the session token belongs to another device or to another playback.
    ///
    /// The sender of an SPC cannot alter HU. It can alter the playback session: that check only keeps one app's own
    /// playbacks apart.
    func checkSession(_ deviceID: DeviceID) throws(LicenseError) {
        guard let grant = claims.renewal else { return }
        guard let identifier = DeviceIdentifier(deviceID.bytes), let sessions, sessions.isBound(grant, to: identifier)
        else { throw .entitlement(.deviceMismatch) }
        guard device.playbackState?.sessionID == grant.playback else {
            throw .entitlement(.sessionEnded(.otherPlayback))
        }
    }

    /// The session token that renews a license; nil if the license has no lease, or if this server issues no session
    /// tokens.
    func sessionToken(
        for license: GrantedLicense, _ deviceID: DeviceID, using crypto: CryptoContext
    ) throws(LicenseError) -> String? {
        // The operator's service decides about renewals too: they bring the same token.
        guard !isDecidedByService else { return nil }
        guard let sessions, let lease = license.terms.lease, let playback = device.playbackState?.sessionID,
            let device = DeviceIdentifier(deviceID.bytes)
        else { return nil }
        return try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            let given = SessionLicense(
                id: license.id.bytes, decidedAt: license.id.seconds, issuedAt: license.times.issuedAt,
                lease: Int64(lease.value), device: device, playback: playback,
                owner: try owner(of: license, using: crypto))
            return try sessions.token(for: given, license.authorization, of: claims)
        }
    }

    /// The owner under which the playbacks of a token without a subject are counted; nil for other tokens, and if no
    /// playbacks are counted.
    private func owner(of license: GrantedLicense, using crypto: CryptoContext) throws(CryptoError) -> [UInt8]? {
        guard license.authorization.subject == nil, !license.authorization.obligations.sessions.isEmpty else {
            return nil
        }
        return try signedDigest(using: crypto).bytes
    }

    /// The SHA-256 of the part of the token that is signed. The signature is left out, because one signature can be
    /// written in more than one way.
    func signedDigest(using crypto: CryptoContext) throws(CryptoError) -> Pseudonym {
        let token = admission.token
        // If only the operator's service can read the token, its signed part is not known here.
        return isDecidedByService ? try token.wholeDigest(using: crypto) : try token.signedDigest(using: crypto)
    }
}

extension RequestedContent {
    init(_ key: ContentKeyAttributes) {
        self.init(
            contentID: key.contentID.text, keyID: key.keyID, trackLabels: key.track.policyLabels)
    }
}
