import ByteCoding
import ContentKeys
import Entitlements
import FairPlay

/// Turns what the gate allows into what a device is told (entitlement, section 4.4). The terms are never longer or
/// laxer than the authorization, the key record and the content policy allow.
extension LicenseTerms {
    /// Makes the terms of a license. `titleID` names the key's content to a device that keeps the key.
    ///
    /// Throws if a limit cannot be told to the device, or if the device does not meet a demand.
    init(
        _ authorization: Authorization, key: ContentKeyAttributes, titleID: Bytes16?, device: DeviceFacts,
        policy: LicensePolicy
    ) throws(LicenseTermsError) {
        let content = policy.content[key.contentType]
        let validity: Validity =
            switch authorization.limits {
            case .streaming(let limits): Validity(limits)
            case .offline(let limits):
                try OfflineTerms(.init(limits), streamID: key.streamID, titleID: titleID ?? key.streamID)
                    .validity(for: device, by: policy.device)
            }
        self.init(
            validity: validity, hdcp: Self.hdcp(authorization.protection, key, content),
            securityLevel: Self.securityLevel(authorization.protection, key, content))
        try check(for: device, by: policy.device)
    }

    /// The strictest HDCP level that the token, the key record or the content policy demands; nil for no HDCP block.
    ///
    /// If only the key record or the content policy says that HDCP is not required, no block is sent. If the token says
    /// it, a block is sent.
    private static func hdcp(
        _ protection: Protection, _ key: ContentKeyAttributes, _ content: ContentPolicy
    ) -> HDCPLevel? {
        let floors = [key.leastHDCP.map { HDCPLevel($0) }, content.leastHDCP].compactMap(\.self)
        let demands = floors.filter { $0 > .none } + [protection.hdcp.map { HDCPLevel($0) }].compactMap(\.self)
        return demands.max()
    }

    private static func securityLevel(
        _ protection: Protection, _ key: ContentKeyAttributes, _ content: ContentPolicy
    ) -> FairPlay.SecurityLevel {
        max(
            content.securityLevel,
            max(
                key.leastSecurityLevel.map { SecurityLevel($0) } ?? .audio,
                protection.securityLevel.map { SecurityLevel($0) } ?? .audio))
    }
}

extension LicenseTerms.Validity {
    fileprivate init(_ limits: StreamingLimits) {
        let lease = limits.lease.map { LicenseSeconds(atLeastOne: $0) }
        let rental = limits.rental.map { LicenseSeconds(atLeastOne: $0) }
        self =
            switch (lease, rental) {
            case (nil, nil): .session
            case (.some(let lease), .none): .duration(.lease(lease))
            case (.none, .some(let rental)): .duration(.rental(rental))
            case (.some(let lease), .some(let rental)): .duration(.leaseAndRental(lease: lease, rental: rental))
            }
    }
}

extension OfflineTerms.Expiry {
    fileprivate init(_ limits: OfflineLimits) {
        self =
            switch limits {
            case .unlimited: .never
            case .hardEnd(let seconds): .hardEnd(LicenseSeconds(atLeastOne: seconds))
            case .aroundFirstPlay(let storage, let playback):
                .aroundFirstPlay(
                    storage: storage.map { LicenseSeconds(atLeastOne: $0) },
                    playback: playback.map { LicenseSeconds(atLeastOne: $0) })
            }
    }
}

extension HDCPLevel {
    fileprivate init(_ claim: Right.HDCP) {
        self =
            switch claim {
            case .notRequired: .none
            case .type0: .type0
            case .type1: .type1
            }
    }

    fileprivate init(_ floor: ContentKeyAttributes.HDCP) {
        self =
            switch floor {
            case .notRequired: .none
            case .type0: .type0
            case .type1: .type1
            }
    }
}

extension SecurityLevel {
    fileprivate init(_ claim: Right.SecurityLevel) {
        self =
            switch claim {
            case .audio: .audio
            case .baseline: .baseline
            case .main: .main
            }
    }

    fileprivate init(_ floor: ContentKeyAttributes.SecurityLevel) {
        self =
            switch floor {
            case .audio: .audio
            case .baseline: .baseline
            case .main: .main
            }
    }
}
