import ByteCoding
package import ContentKeys
package import Entitlements
package import FairPlay

/// The results of every check that the pipeline makes of a request, in its order, and the terms of the license that
/// would follow.
///
/// It holds findings only: no license can be made from it.
package struct LicenseExplanation: Sendable {
    /// The checks of an SPC and of the key that it names.
    package enum Stage: String, Sendable, CaseIterable {
        /// The container is well-formed, and its version is served.
        case container
        /// A credential has the SPC's certificate hash.
        case certificate
        /// RSA, AES, blocks and integrity. Clients get one uniform refusal for every cause.
        case contents
        /// A key is stored for the asset id.
        case key
    }

    package struct StageResult: Sendable, Equatable {
        package enum Verdict: Sendable, Equatable {
            case passed
            case failed(LicenseError)
            /// An earlier stage has failed.
            case notReached
        }

        package let stage: Stage
        package let verdict: Verdict
    }

    /// The facts of an SPC that could be opened.
    package struct OpenedSPC: Sendable {
        package let version: SPCVersion
        package let credentialName: String
        package let assetID: [UInt8]
        /// HU; nil if only an external module can read it.
        package let deviceID: DeviceID?
        /// Whether the SPC carries a device's sync report and asks for no license.
        package let isSync: Bool
    }

    package let token: TokenExplanation
    /// What the license is for. If the request does not say it, the rights of some issuers say it once the content is
    /// known.
    package internal(set) var use: LicenseUse
    /// Whether anything that the token alone names is revoked; nil if the token is not good.
    package internal(set) var revocation: CheckResult?
    /// What the policy lint finds in the token's rights under this configuration.
    package internal(set) var findings: [PolicyFinding] = []
    /// The results of the stages; nil if there is no SPC, so that only the token is explained.
    package internal(set) var stages: [StageResult]?
    package internal(set) var spc: OpenedSPC?
    package internal(set) var key: ContentKeyAttributes?
    /// What is remembered about the token's rental, or why it could not be read; nil if the token has no rental that is
    /// remembered.
    package internal(set) var rental: Result<RentalStanding.Memory?, StoreError>?
    package internal(set) var gate: GateExplanation?
    /// For an ordinary SPC: the terms that the device would get, or why they cannot be told to it.
    package internal(set) var terms: Result<LicenseTerms, LicenseTermsError>?
    /// For a sync SPC: whether its sender may ask about the content.
    package internal(set) var sync: Result<SyncPermission, EntitlementError>?

    init(token: TokenExplanation, use: LicenseUse) {
        self.token = token
        self.use = use
    }

    /// The first refusal; nil if no check that can be made beforehand refuses the request.
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

    /// The limit that cannot be told to the device, if the error is about one.
    package func limitedTerm(where error: LicenseTermsError) -> LimitedTerm? {
        guard case .success(let authorization)? = gate?.decision else { return nil }
        return LimitedTerm(authorization.limits, where: error)
    }

    /// What a license would spend or count in the shared store. Only the store knows whether any is left.
    package var obligations: Obligations? {
        guard case .success(let authorization)? = gate?.decision else { return nil }
        return authorization.obligations
    }
}
