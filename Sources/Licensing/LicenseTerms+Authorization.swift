import ByteCoding
import ContentKeys
import Entitlements
import FairPlay

/// From what the gate allows to what a device is told (entitlement, section 4.4): nothing here is longer or laxer than
/// the authorization, the key's own floor and the content policy together.
extension LicenseTerms {
    /// `titleID` names the key's content to a device that keeps the key. Throws if the device cannot be told a
    /// limit.
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

    /// The strictest of all that say something. A floor that demands nothing sends no block if no other source asks for
    /// one.
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
