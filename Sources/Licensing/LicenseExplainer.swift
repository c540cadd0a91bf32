import ByteCoding
package import ContentKeys
package import Entitlements
import FairPlay
package import KeyCrypto

/// Explains how a request would be decided. It issues nothing, spends nothing and commits nothing.
package struct LicenseExplainer: Sendable {
    /// The request to explain. No part of it is trusted.
    package struct Subject: Sendable {
        package var token: [UInt8]
        package var message: [UInt8]?
        /// What the license is for; nil if the request does not say it.
        package var use: LicenseUse?
        package var origin: RequestOrigin

        package init(
            token: [UInt8], message: [UInt8]? = nil, use: LicenseUse? = nil,
            origin: RequestOrigin = RequestOrigin()
        ) {
            self.token = token
            self.message = message
            self.use = use
            self.origin = origin
        }
    }

    private let rules: LicenseRules
    private let keys: RecentContentKeys
    private let periods: ServedPeriods
    private let revocations: RevocationView
    private let operations: RSAOperationCount
    private let rentals: RentalLookup

    /// Looks up what is remembered about the rental of a content by the token's subject; returns nil if nothing is.
    /// `now` is in seconds since 1970.
    package typealias RentalLookup =
        @Sendable (Claims, ContentID, _ now: Int64) async throws(StoreError) -> RentalStanding.Memory?

    package init(
        rules: LicenseRules, keys: RecentContentKeys, periods: ServedPeriods = ServedPeriods(),
        revocations: RevocationView = RevocationView(), operations: RSAOperationCount, rentals: @escaping RentalLookup
    ) {
        self.periods = periods
        self.rentals = rentals
        self.rules = rules
        self.keys = keys
        self.revocations = revocations
        self.operations = operations
    }

    /// Explains a request. `now` is in seconds since 1970.
    ///
    /// An SPC costs one RSA operation, even if the token is not good. So only the operator may ask for explanations.
    package func explain(_ subject: Subject, now: Int64) async throws(CryptoError) -> LicenseExplanation {
        var explanation = LicenseExplanation(
            token: rules.entitlement.tokens.verifier.explain(subject.token, now: now), use: subject.use ?? .streaming)
        let claims = explanation.token.claims
        if let claims {
            explanation.revocation = revocation(of: claims, now: now)
            explanation.findings = PolicyLint.findings(in: claims, policy: rules.entitlement.policy, now: now)
        }
        guard let message = subject.message else { return explanation }
        let crypto = try CryptoContext()
        var stages = StageBuilder()
        if let opened = open(message, &stages, using: crypto) {
            explanation.spc = LicenseExplanation.OpenedSPC(opened)
            let held = claims.map { HeldClaims($0) }
            if let held, let record = await record(for: opened.spc, held, now: now, &stages) {
                explanation.key = record.attributes
                if var request = request(of: subject, message, by: held, for: record.attributes, opened.spc) {
                    explanation.use = request.use
                    explanation.rental = await rental(of: held.claims, record.attributes.contentID, now: now)
                    request.rental = try? explanation.rental?.get()
                    try decide(about: request, &explanation, now: now, using: crypto)
                }
            }
        }
        explanation.stages = stages.finish()
        return explanation
    }

    private func revocation(of claims: Claims, now: Int64) -> CheckResult {
        do throws(EntitlementError) {
            try revocations.check(claims, now: now)
            return CheckResult("revocation", .passed)
        } catch {
            return CheckResult("revocation", .failed(error))
        }
    }

    /// An opened SPC, with its container and the key that opened it.
    fileprivate struct Opened {
        let envelope: SPCEnvelope
        let credentialKey: CredentialKey
        let spc: SPC
    }

    private func open(_ message: [UInt8], _ stages: inout StageBuilder, using crypto: CryptoContext) -> Opened? {
        let credentials = rules.fairplay.credentials
        let envelope = stages.step(.container) { () throws(LicenseError) in
            try wrap(LicenseError.spc, try SPCEnvelope(parsing: message, served: credentials.servedVersions))
        }
        guard let envelope else { return nil }
        let key = stages.step(.certificate) { () throws(LicenseError) in
            try wrap(LicenseError.spc, try credentials.key(for: envelope))
        }
        guard let key else { return nil }
        let spc = stages.step(.contents) { () throws(LicenseError) in
            try wrap(LicenseError.spc, try openContents(of: envelope, with: key, using: crypto))
        }
        return spc.map { Opened(envelope: envelope, credentialKey: key, spc: $0) }
    }

    private func openContents(
        of envelope: SPCEnvelope, with key: CredentialKey, using crypto: CryptoContext
    ) throws(SPCError) -> SPC {
        let opener = try wrap(SPCError.internalFailure, try SPCOpener(using: crypto))
        let job = try opener.unwrapJob(for: envelope, with: key)
        OpenSSLRSAUnwrapper(counting: operations).unwrap([job])
        return try opener.open(
            envelope, with: key, unwrapped: job, servedVersions: rules.fairplay.servedVersions)
    }

    private func record(
        for spc: SPC, _ held: HeldClaims, now: Int64, _ stages: inout StageBuilder
    ) async -> ContentKeyRecord? {
        do throws(LicenseError) {
            let record = try await keys.record(for: spc, claims: held)
            // A device may report on the key of any period.
            if spc.syncReport == nil { try await periods.check(record.attributes, for: held, now: now) }
            return stages.step(.key) { record }
        } catch {
            return stages.step(.key) { () throws(LicenseError) in throw error }
        }
    }

    /// The request in the form that the pipeline uses once the key is found. It is never nil if the earlier stages have
    /// passed.
    private func request(
        of subject: Subject, _ message: [UInt8], by held: HeldClaims, for key: ContentKeyAttributes, _ spc: SPC
    ) -> OpenedRequest? {
        let request = LicenseRequest(message: message, use: subject.use, origin: subject.origin)
        let token = PresentedToken(source: .bearer, tokens: [subject.token])
        let admission = try? Admission(request, by: token, .verified(held), under: rules)
        return admission.map {
            OpenedRequest(admission: $0, claims: held, spc: spc, key: key, revocations: revocations)
        }
    }

    private func rental(
        of claims: Claims, _ content: ContentID, now: Int64
    ) async -> Result<RentalStanding.Memory?, StoreError>? {
        guard claims.remembersRental else { return nil }
        do throws(StoreError) { return .success(try await rentals(claims, content, now)) } catch {
            return .failure(error)
        }
    }

    private func decide(
        about request: OpenedRequest, _ explanation: inout LicenseExplanation, now: Int64,
        using crypto: CryptoContext
    ) throws(CryptoError) {
        guard request.spc.syncReport == nil else {
            explanation.sync = Result { () throws(EntitlementError) in
                try Gate.permitSync(claims: request.claims, content: RequestedContent(request.key))
            }
            return
        }
        let gate = Gate.explain(request.gateRequest(to: request.spc.sessionKeys?.deviceID, at: now))
        explanation.gate = gate
        guard case .success(let authorization) = gate.decision else { return }
        let titleID = try request.key.titleID(using: crypto)
        explanation.terms = Result { () throws(LicenseTermsError) in
            let terms = try LicenseTerms(
                authorization, key: request.key, titleID: titleID, device: request.device,
                policy: rules.fairplay.policy)
            try wrap(
                LicenseTermsError.library, try request.spc.checkExpressible(terms, for: ContentKeyUse(request.key)))
            return terms
        }
    }
}

/// Collects the results of the stages. The stages after a failed one count as not reached.
private struct StageBuilder {
    private var results: [LicenseExplanation.StageResult] = []

    /// Runs a stage, notes its result and returns its value; returns nil if it failed.
    mutating func step<Value>(
        _ stage: LicenseExplanation.Stage, _ body: () throws(LicenseError) -> Value
    ) -> Value? {
        do throws(LicenseError) {
            let value = try body()
            results.append(.init(stage: stage, verdict: .passed))
            return value
        } catch {
            results.append(.init(stage: stage, verdict: .failed(error)))
            return nil
        }
    }

    func finish() -> [LicenseExplanation.StageResult] {
        let rest = LicenseExplanation.Stage.allCases.dropFirst(results.count)
        return results + rest.map { .init(stage: $0, verdict: .notReached) }
    }
}

extension LicenseExplanation.OpenedSPC {
    fileprivate init(_ opened: LicenseExplainer.Opened) {
        self.init(
            version: opened.envelope.version, credentialName: opened.credentialKey.credentialName,
            assetID: Array(opened.spc.assetID), deviceID: opened.spc.sessionKeys?.deviceID,
            isSync: opened.spc.syncReport != nil)
    }
}
