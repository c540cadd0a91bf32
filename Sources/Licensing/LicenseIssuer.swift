package import ByteCoding
package import ContentKeys
import Entitlements
import EventLoops
package import FairPlay
import KeyCrypto
package import Records

/// Decides about a request whose SPC is open, has the decision recorded, and writes the license. Belongs to the loop of
/// its pipeline.
final class LicenseIssuer {
    private let crypto: CryptoContext
    private let recorder: DecisionRecorder?
    private let history: (any LicenseHistory)?
    private let slots: (any PlaybackSlotStore)?
    private let loop: LoopContext

    init(_ shared: SharedLicensing, using crypto: CryptoContext, on loop: LoopContext) {
        self.crypto = crypto
        recorder = shared.recorder
        history = shared.history
        slots = shared.slots
        self.loop = loop
    }

    /// Decides about the request, records the decision and writes the license.
    ///
    /// The key is wrapped, or the CKC of a library written, before the decision is recorded. A module or a library may
    /// fail, and then nothing may have been spent. Nothing is released before it is recorded. What the store remembers
    /// of a rental is noted in the request, also if it is refused.
    func issue(
        _ record: ContentKeyRecord, to request: inout OpenedRequest, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        let id = try newID(at: now)
        let rentalOutage = await remember(&request, now: now)
        var granted = try grant(request, at: now, as: id)
        if request.endsPlayback(granted) { return .playbackEnded(try await end(granted, of: request, at: now)) }
        let prepared = try await prepare(record, termsToPrepare(granted, of: request), for: request.spc)
        let deviceID = prepared.deviceID
        if request.dependsOnDevice { granted = try grant(request, to: deviceID, at: now, as: id) }
        try request.checkSession(deviceID)
        let recorded = try await self.record(&granted, of: &request, deviceID, rentalOutage)
        let ckc = try await ckc(of: prepared, record, recorded.terms, for: request.spc)
        return .license(
            IssuedLicense(
                ckc: ckc, granted: recorded, request: request, deviceID: deviceID,
                sessionToken: try request.sessionToken(for: recorded, deviceID, using: crypto),
                isRepeated: recorded.id != granted.id))
    }

    /// Frees the slot of a playback that has stopped.
    ///
    /// The SPC is verified, so HU is the device's own, and the session token is bound to HU. So no other device can
    /// free the slot.
    private func end(
        _ license: GrantedLicense, of request: OpenedRequest, at now: Int64
    ) async throws(LicenseError) -> EndedPlayback {
        let deviceID: DeviceID
        do throws(LadderError) {
            deviceID = try await request.spc.verify(using: crypto)
        } catch {
            throw LicenseError(error)
        }
        var license = license
        if request.dependsOnDevice { license = try grant(request, to: deviceID, at: now, as: license.id) }
        try request.checkSession(deviceID)
        if let recorder, let slots {
            try await recorder.releaseSlots(of: license, request, deviceID, using: crypto, in: slots)
        }
        return EndedPlayback(
            keyID: request.key.keyID, credentialName: request.admission.credentialKey.credentialName)
    }

    /// Returns the license that the gate allows and that can be told to the device.
    ///
    /// The same arguments give the same license.
    /// HU is known only once the SK..R1 block is open. Before that, the device counts as the one that the token names.
    private func grant(
        _ request: OpenedRequest, to deviceID: DeviceID? = nil, at now: Int64, as id: LicenseID
    ) throws(LicenseError) -> GrantedLicense {
        let gateRequest = request.gateRequest(to: deviceID, at: now)
        let authorization = try wrap(LicenseError.entitlement, try Gate.authorize(gateRequest))
        let titleID = try titleID(of: request.key, for: authorization.limits)
        let terms = try wrap(
            { LicenseError.terms($0, of: LimitedTerm(authorization.limits, where: $0)) },
            try LicenseTerms(
                authorization, key: request.key, titleID: titleID, device: request.device,
                policy: request.admission.rules.fairplay.policy))
        // A library is asked before a license is recorded, and perhaps once more after it: it must know all terms.
        try wrap(
            { LicenseError.terms(.library($0)) },
            try request.spc.checkExpressible(terms, for: ContentKeyUse(request.key)))
        return GrantedLicense(id: id, authorization: authorization, terms: terms, issuedAt: now)
    }

    private func newID(at now: Int64) throws(LicenseError) -> LicenseID {
        let random = try wrap(LicenseError.internalFailure, try crypto.randomBytes16())
        return LicenseID(milliseconds: UInt64(max(0, now)) * 1000, random: random)
    }

    /// The title id, which costs a digest. It is nil for a license whose key the device does not keep, because only the
    /// license of a kept key has it.
    private func titleID(
        of key: ContentKeyAttributes, for limits: LicenseLimits
    ) throws(LicenseError) -> Bytes16? {
        guard case .offline = limits else { return nil }
        return try wrap(LicenseError.internalFailure, try key.titleID(using: crypto))
    }

    /// The terms with which a license will probably be recorded. For a copy of a request that this node remembers, they
    /// are what remains of the first license, so that a library writes its CKC once.
    private func termsToPrepare(_ license: GrantedLicense, of request: OpenedRequest) -> LicenseTerms {
        guard request.spc.isForLibrary, let recorder,
            let answer = try? recorder.remembered(license, of: request, using: crypto),
            let repetition = try? repetition(of: answer, license, request, nil)
        else { return license.terms }
        return repetition.terms
    }

    /// Waits if an external module wraps the key, or a library writes the CKC.
    private func prepare(
        _ record: ContentKeyRecord, _ terms: LicenseTerms, for spc: SPC
    ) async throws(LicenseError) -> PreparedLicense {
        do throws(LadderError) {
            return try await spc.prepare(
                record.key.bytes, iv: record.iv, for: ContentKeyUse(record.attributes), under: terms, using: crypto)
        } catch {
            throw LicenseError(error)
        }
    }

    /// Waits if a library must write the CKC once more, because other terms were recorded.
    private func ckc(
        of prepared: PreparedLicense, _ record: ContentKeyRecord, _ terms: LicenseTerms, for spc: SPC
    ) async throws(LicenseError) -> [UInt8] {
        do throws(LadderError) {
            return try await spc.ckc(
                of: prepared, with: record.key.bytes, iv: record.iv, for: ContentKeyUse(record.attributes),
                under: terms, using: crypto)
        } catch {
            throw LicenseError(error)
        }
    }

    // MARK: Recording

    /// How often recording a license is tried if other requests change its rental meanwhile.
    private static let rentalTriesMaximum = 4

    /// Notes in the request what is remembered about its rental. A session token says it; for any other token the store
    /// is asked.
    ///
    /// If the store does not answer, its error is returned, and the request is not refused here: the license is
    /// computed as if nothing were remembered, and its recording decides.
    private func remember(_ request: inout OpenedRequest, now: Int64) async -> StoreError? {
        guard request.remembersRental else { return nil }
        if let grant = request.claims.renewal {
            request.rental = grant.rental
            return nil
        }
        do throws(StoreError) {
            request.rental = try await recorder?.rental(of: request.claims, request.key.contentID, now: now)
            return nil
        } catch {
            return error
        }
    }

    /// Records the license. If the store remembers the rental differently, computes the license again and retries.
    private func record(
        _ license: inout GrantedLicense, of request: inout OpenedRequest, _ deviceID: DeviceID,
        _ rentalOutage: StoreError?
    ) async throws(LicenseError) -> GrantedLicense {
        var rentalOutage = rentalOutage
        for _ in 0..<Self.rentalTriesMaximum {
            do throws(LicenseError) {
                return try await record(license, of: request, deviceID, rentalOutage)
            } catch .denied(.rentalDiffers(let stored)) {
                request.rental = stored.map { RentalStanding.Memory($0) }
                rentalOutage = nil
                license = try grant(request, to: deviceID, at: license.times.issuedAt, as: license.id)
            }
        }
        throw .store(.unavailable(.busy))
    }

    /// Records the license once, and returns the license to answer with: this one, or for a repeated request the one
    /// that was given before.
    private func record(
        _ license: GrantedLicense, of request: OpenedRequest, _ deviceID: DeviceID, _ rentalOutage: StoreError?
    ) async throws(LicenseError) -> GrantedLicense {
        guard let recorder else {
            guard license.authorization.obligations.isEmpty else { throw .store(.unavailable(.notWritable)) }
            return license
        }
        var decision = try recorder.decision(on: license, of: request, deviceID, using: crypto)
        if decision.entry.previous == nil {
            decision.entry.previous = await previousLicense(of: request, decision.entry)
        }
        let seat = request.admission.seat
        switch try await wrapAsync(LicenseError.store, try await recorder.record(decision, from: seat)) {
        case .recorded: return license
        case .denied(let denial): throw .denied(denial)
        case .repeated(let bytes, _):
            guard let answer = RecordedAnswer(bytes) else { throw .store(.recordMalformed) }
            // The store has not said what it remembers about the rental, so the terms are not known.
            if let rentalOutage { throw .store(rentalOutage) }
            return try repetition(of: answer, license, request, deviceID)
        }
    }

    /// The license of a repeated request: the first license, with what remains of it. The device counts its times from
    /// the moment of the answer, so they are computed for now.
    private func repetition(
        of answer: RecordedAnswer, _ license: GrantedLicense, _ request: OpenedRequest, _ deviceID: DeviceID?
    ) throws(LicenseError) -> GrantedLicense {
        // Only the operator's service knows what remains of what it has allowed, and it was just asked.
        guard !request.isDecidedByService else { return license.renamed(answer.license) }
        let decidedAt = answer.license.seconds
        var request = request
        request.first = FirstLicense(decidedAt: decidedAt, rightEnd: answer.rightEnd)
        if request.rental == nil, let opened = license.authorization.obligations.rental?.memory {
            // The first copy has opened the rental a moment ago.
            request.rental = RentalStanding.Memory(
                openedAt: decidedAt, firstPlay: opened.firstPlay == nil ? nil : decidedAt)
        }
        return try grant(request, to: deviceID, at: license.times.issuedAt, as: answer.license)
    }

    /// The license before this one. It is looked up only if the device keeps the key and the app asks for a renewal.
    private func previousLicense(of request: OpenedRequest, _ entry: LedgerEntry) async -> LicenseID? {
        let wish = request.admission.request.renewal
        guard let history, wish.isRenewal, request.use == .offline, let device = entry.device else { return nil }
        return await history.previousLicense(
            like: PreviousLicense(
                device: device, keyID: request.key.keyID, subject: entry.subject, named: wish.previous),
            on: loop)
    }
}

extension RentalStanding.Memory {
    init(_ record: RentalRecord) {
        self.init(openedAt: record.openedAt, firstPlay: record.firstPlay)
    }
}

extension RentalRecord {
    init(_ memory: RentalStanding.Memory) {
        self.init(openedAt: memory.openedAt, firstPlay: memory.firstPlay)
    }
}

/// The outcome of an admitted request that was not refused.
package enum LicenseOutcome: Sendable {
    case license(IssuedLicense)
    /// The SPC was a sync SPC. It is answered with data, and no key is sent.
    case syncReport(AcceptedSyncReport)
    /// The device says that a playback has stopped. Its slot is free, and no key is sent.
    case playbackEnded(EndedPlayback)
}

/// A playback that its device has ended.
package struct EndedPlayback: Equatable, Sendable {
    package let keyID: KeyID
    package let credentialName: String
}

/// A license that may be sent, and what the ledger and the log need to know about it.
///
/// It is a class for the same reason as `Admission`.
package final class IssuedLicense: Sendable {
    /// The Content Key Context.
    package let ckc: [UInt8]
    let granted: GrantedLicense
    let request: OpenedRequest
    /// HU, as the ladder showed it.
    package let deviceID: DeviceID
    /// The session token, which renews the license without another entitlement token; nil if the license has no lease,
    /// or if nothing is left to renew.
    package let sessionToken: String?
    /// Whether the request is a repetition and gets the license that was given before.
    package let isRepeated: Bool

    init(
        ckc: [UInt8], granted: GrantedLicense, request: OpenedRequest, deviceID: DeviceID, sessionToken: String?,
        isRepeated: Bool
    ) {
        self.ckc = ckc
        self.granted = granted
        self.request = request
        self.deviceID = deviceID
        self.sessionToken = sessionToken
        self.isRepeated = isRepeated
    }

    package var id: LicenseID { granted.id }
    package var terms: LicenseTerms { granted.terms }
    package var times: LicenseTimes { granted.times }
    package var facts: LicenseFacts { LicenseFacts(id, terms, times) }
    package var key: ContentKeyAttributes { request.key }
    /// What the device has stated about itself.
    package var stated: DeviceSummary { request.stated }
    package var credentialName: String { request.admission.credentialKey.credentialName }
}

extension ContentKeyUse {
    /// What a ladder is told about a key: its use, as far as its track says it (protocol, section 3.5).
    init(_ key: ContentKeyAttributes) {
        let (kind, type): (LadderCall.ContentKind, LibraryTerms.ContentType) =
            switch key.contentType {
            case .audio: (.audio, .audio)
            case .sd: (.video, .sd)
            case .hd: (.video, .hd)
            case .uhd: (.video, .uhd)
            }
        self.init(
            kind: key.trackLabel == nil ? .unknown : kind, contentType: type,
            scheme: key.scheme == .cbcs ? .cbcs : .transportStream)
    }
}
