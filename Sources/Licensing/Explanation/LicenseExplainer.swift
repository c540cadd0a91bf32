import ContentKeys
package import Entitlements
package import FairPlay
package import KeyCrypto

/// Explains what would become of a request. It issues nothing, spends nothing and commits nothing.
package struct LicenseExplainer: Sendable {
    /// What is to be explained; none of it is trusted.
    package struct Subject: Sendable {
        package var token: [UInt8]
        package var message: [UInt8]?
        package var use: LicenseUse
        package var origin: RequestOrigin

        package init(
            token: [UInt8], message: [UInt8]? = nil, use: LicenseUse = .streaming,
            origin: RequestOrigin = RequestOrigin()
        ) {
            self.token = token
            self.message = message
            self.use = use
            self.origin = origin
        }
    }

    private let credentials: CredentialSet
    private let verifier: TokenVerifier
    private let keys: RecentContentKeys
    private let policy: LicensePolicy
    private let entitlementPolicy: EntitlementPolicy
    private let revocations: RevocationView
    private let servedVersions: Set<UInt32>
    private let operations: RSAOperationCount

    package init(
        credentials: CredentialSet, verifier: TokenVerifier, keys: RecentContentKeys, policy: LicensePolicy,
        entitlementPolicy: EntitlementPolicy, revocations: RevocationView = RevocationView(),
        servedVersions: Set<UInt32>, operations: RSAOperationCount
    ) {
        self.credentials = credentials
        self.verifier = verifier
        self.keys = keys
        self.policy = policy
        self.entitlementPolicy = entitlementPolicy
        self.revocations = revocations
        self.servedVersions = servedVersions
        self.operations = operations
    }

    /// `now` is in seconds since 1970. An SPC costs one RSA operation, whatever the token is: that is for the operator's eyes alone.
    package func explain(_ subject: Subject, now: Int64) async throws(CryptoError) -> LicenseExplanation {
        var explanation = LicenseExplanation(token: verifier.explain(subject.token, now: now))
        let claims = explanation.token.claims
        if let claims {
            explanation.findings = PolicyLint.findings(in: claims, policy: entitlementPolicy, now: now)
        }
        guard let message = subject.message else { return explanation }
        let crypto = try CryptoContext()
        var stages = StageBuilder()
        if let opened = open(message, &stages, using: crypto) {
            explanation.spc = LicenseExplanation.OpenedSPC(opened)
            if let claims {
                let record = await self.record(for: opened.spc, claims, &stages)
                explanation.key = record?.attributes
                if let record { try explain(opened, record.attributes, claims, subject, now, &explanation, crypto) }
            }
        }
        explanation.stages = stages.finish()
        return explanation
    }

    /// An SPC, and what led to its contents.
    fileprivate struct Opened {
        let envelope: SPCEnvelope
        let credentialKey: CredentialKey
        let spc: SPC
    }

    private func open(_ message: [UInt8], _ stages: inout StageBuilder, using crypto: CryptoContext) -> Opened? {
        let envelope = stages.step(.container) { () throws(LicenseError) in
            try spcStep { () throws(SPCError) in
                try SPCEnvelope(parsing: message, served: credentials.servedVersions)
            }
        }
        guard let envelope else { return nil }
        let key = stages.step(.certificate) { () throws(LicenseError) in
            try spcStep { () throws(SPCError) in try credentials.key(for: envelope) }
        }
        guard let key else { return nil }
        let spc = stages.step(.contents) { () throws(LicenseError) in
            try spcStep { () throws(SPCError) in try openContents(of: envelope, with: key, using: crypto) }
        }
        return spc.map { Opened(envelope: envelope, credentialKey: key, spc: $0) }
    }

    private func openContents(
        of envelope: SPCEnvelope, with key: CredentialKey, using crypto: CryptoContext
    ) throws(SPCError) -> SPC {
        let opener: SPCOpener
        do throws(CryptoError) {
            opener = try SPCOpener(using: crypto)
        } catch {
            throw .internalFailure(error)
        }
        let job = try opener.unwrapJob(for: envelope, with: key)
        OpenSSLRSAUnwrapper(counting: operations).unwrap([job])
        return try opener.open(envelope, with: key, unwrapped: job, servedVersions: servedVersions)
    }

    private func spcStep<Value>(_ body: () throws(SPCError) -> Value) throws(LicenseError) -> Value {
        do throws(SPCError) {
            return try body()
        } catch {
            throw .spc(error)
        }
    }

    private func record(for spc: SPC, _ claims: Claims, _ stages: inout StageBuilder) async -> ContentKeyRecord? {
        do throws(LicenseError) {
            let record = try await LicenseIssuer.record(for: spc, claims: claims, in: keys)
            return stages.step(.key) { record }
        } catch {
            return stages.step(.key) { () throws(LicenseError) in throw error }
        }
    }

    private func explain(
        _ opened: Opened, _ key: ContentKeyAttributes, _ claims: Claims, _ subject: Subject, _ now: Int64,
        _ explanation: inout LicenseExplanation, _ crypto: CryptoContext
    ) throws(CryptoError) {
        guard opened.spc.syncReport == nil else {
            explanation.sync = Result { () throws(EntitlementError) in
                try Gate.permitSync(claims: claims, content: RequestedContent(key))
            }
            return
        }
        let admission = LicenseIssuer.Admission(
            claims: claims, envelope: opened.envelope, credentialKey: opened.credentialKey, use: subject.use,
            message: opened.envelope.message, token: PresentedToken(source: .bearer, tokens: [subject.token]),
            origin: subject.origin, renewal: RenewalWish())
        let request = DecidedRequest(
            admission: admission, spc: opened.spc, device: opened.spc.device, key: key, policy: entitlementPolicy,
            revocations: revocations)
        let gate = Gate.explain(request.gateRequest(to: opened.spc.sessionKeys?.deviceID, at: now))
        explanation.gate = gate
        guard case .success(let authorization) = gate.decision else { return }
        let titleID = try key.titleID(using: crypto)
        explanation.terms = Result { () throws(LicenseTermsError) in
            try LicenseTerms(authorization, key: key, titleID: titleID, device: request.device, policy: policy)
        }
    }
}

/// Collects results; after the first step that gives nothing, no later step is reached.
private struct StageBuilder {
    private var results: [LicenseExplanation.StageResult] = []

    /// Notes the result of a step that the later ones need; nil where it failed.
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
