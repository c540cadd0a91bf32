package import ContentKeys
package import FairPlay

/// What this server demands of devices beside what tokens and key records say. It can only tighten.
package struct LicensePolicy: Sendable, Equatable {
    package var content: ContentPolicyTable
    package var device: DevicePolicy

    package init(content: ContentPolicyTable = .default, device: DevicePolicy = DevicePolicy()) {
        self.content = content
        self.device = device
    }
}

/// What a kind of content demands of the device that plays it.
package struct ContentPolicy: Sendable, Equatable {
    /// Told to the device in every licence; one that is known to be below it gets none.
    package var securityLevel: SecurityLevel
    /// Nil: the device's own default, HDCP Type 0 if it has outputs.
    package var leastHDCP: HDCPLevel?

    package init(securityLevel: SecurityLevel, leastHDCP: HDCPLevel? = nil) {
        self.securityLevel = securityLevel
        self.leastHDCP = leastHDCP
    }
}

/// The content policies of this server. The defaults are those of Apple's own reference server (protocol, section 4.6).
///
/// | content | security level | HDCP |
/// |---|---|---|
/// | audio | Audio | |
/// | SD | Baseline | |
/// | HD | Baseline | at least Type 0 |
/// | UHD | Main | Type 1 |
///
/// The configuration replaces single entries by `fairplay.contentPolicies`.
package struct ContentPolicyTable: Sendable, Equatable {
    package var audio: ContentPolicy
    package var sd: ContentPolicy
    package var hd: ContentPolicy
    package var uhd: ContentPolicy

    package static let `default` = ContentPolicyTable(
        audio: ContentPolicy(securityLevel: .audio),
        sd: ContentPolicy(securityLevel: .baseline),
        hd: ContentPolicy(securityLevel: .baseline, leastHDCP: .type0),
        uhd: ContentPolicy(securityLevel: .main, leastHDCP: .type1))

    package subscript(type: ContentType) -> ContentPolicy {
        switch type {
        case .audio: audio
        case .sd: sd
        case .hd: hd
        case .uhd: uhd
        }
    }
}
