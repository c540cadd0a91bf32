import ByteCoding
package import ContentKeys
package import Entitlements
package import FairPlay

/// Every question that the pipeline asks of a request, in its order, with the answer and the reason, and the terms
/// that would come of it.
///
/// It is a value of findings alone: no licence can be made of it.
package struct LicenseExplanation: Sendable {
    /// The questions about an SPC and the key that it names.
    package enum Stage: String, Sendable, CaseIterable {
        /// The container is one that is served.
        case container
        /// A credential has the SPC's certificate hash.
        case certificate
        /// RSA, AES, blocks and integrity; what a client hears as one refusal for every cause.
        case contents
        /// A key is stored for the asset id.
        case key
    }

    package struct StageResult: Sendable, Equatable {
        package enum Verdict: Sendable, Equatable {
            case passed
            case failed(LicenseError)
            /// The question needs something that an earlier one did not give.
            case notReached
        }

        package let stage: Stage
        package let verdict: Verdict
    }

    /// What an SPC that could be opened says of itself.
    package struct OpenedSPC: Sendable {
        package let version: SPCVersion
        package let credentialName: String
        package let assetID: [UInt8]
        /// HU; nil if only an external module could tell it.
        package let deviceID: DeviceID?
        /// Whether it carries a device's report in place of a wish for a licence.
        package let isSync: Bool
    }

    package let token: TokenExplanation
    /// What the licence is for. If the request does not say it, the rights of some issuers do, once the content is
    /// known.
    package internal(set) var use: LicenseUse
    /// Whether something is revoked, as far as the token alone tells; nil if the token is not good.
    package internal(set) var revocation: CheckResult?
    /// What is odd about the token's rights under the rules of the configuration.
    package internal(set) var findings: [PolicyFinding] = []
    /// Nil if no SPC was brought: then the answer is about the token alone.
    package internal(set) var stages: [StageResult]?
    package internal(set) var spc: OpenedSPC?
    package internal(set) var key: ContentKeyAttributes?
    /// What is remembered of the rental that a right of the token speaks of, or why that is not known; nil without such
    /// a rental.
    package internal(set) var rental: Result<RentalStanding.Memory?, StoreError>?
    package internal(set) var gate: GateExplanation?
    /// For an ordinary SPC, what the device would be told, or why it cannot be.
    package internal(set) var terms: Result<LicenseTerms, LicenseTermsError>?
    /// For a sync SPC, whether its sender may ask about the content.
    package internal(set) var sync: Result<SyncPermission, EntitlementError>?

    init(token: TokenExplanation, use: LicenseUse) {
        self.token = token
        self.use = use
    }

    /// What the first refusal would be; nil if nothing that can be known beforehand refuses.
    package var refusal: LicenseError? {
        if let refusal = token.refusal { return .entitlement(refusal) }
        if case .failed(let error)? = revocation?.verdict { return .entitlement(error) }
        for result in stages ?? [] {
            if case .failed(let error) = result.verdict { return error }
        }
        if case .failure(let error)? = sync { return .entitlement(error) }
        if case .failure(let error)? = gate?.decision { return .entitlement(error) }
        if case .failure(let error)? = terms { return .terms(error, of: limitedTerm(where: error)) }
        return nil
    }

    /// The limit that the device cannot be told.
    package func limitedTerm(where error: LicenseTermsError) -> LimitedTerm? {
        guard case .success(let authorization)? = gate?.decision else { return nil }
        return LimitedTerm(authorization.limits, where: error)
    }

    /// What a licence would spend or count in the shared store, which alone can say whether there is any left.
    package var obligations: Obligations? {
        guard case .success(let authorization)? = gate?.decision else { return nil }
        return authorization.obligations
    }
}
