package import ByteCoding

/// The namespaces of CPIX documents (packagers, section 1.1). URIs are compared; prefixes do not matter.
enum CPIXNamespace {
    static let cpix = "urn:dashif:org:cpix"
    static let pskc = "urn:ietf:params:xml:ns:keyprov:pskc"
    /// SPEKE v1.
    static let speke = "urn:aws:amazon:com:speke"
    /// XMLDSIG.
    static let signature = "http://www.w3.org/2000/09/xmldsig#"
    /// XMLENC.
    static let encryption = "http://www.w3.org/2001/04/xmlenc#"
}

/// The values of `ContentKey@commonEncryptionScheme`: the schemes of ISO/IEC 23001-7, and in SPEKE v2.1 also methods of
/// HLS.
package enum CommonEncryptionScheme: String, Hashable, Sendable, CaseIterable {
    case cenc
    case cens
    case cbc1
    case cbcs
    case sampleAES = "SAMPLE-AES"
    case sampleAESCounter = "SAMPLE-AES-CTR"

    /// Whether it is a scheme of ISO/IEC 23001-7, which SPEKE v2.0 knows too.
    var isCommonEncryption: Bool {
        switch self {
        case .cenc, .cens, .cbc1, .cbcs: true
        case .sampleAES, .sampleAESCounter: false
        }
    }

    /// Whether FairPlay devices can decrypt samples of this scheme (packagers, section 1.4).
    package var isForFairPlay: Bool {
        switch self {
        case .cbcs, .sampleAES: true
        case .cenc, .cens, .cbc1, .sampleAESCounter: false
        }
    }

    /// Whether AES runs in counter mode. Otherwise it runs in CBC mode.
    var isCounterMode: Bool {
        switch self {
        case .cenc, .cens, .sampleAESCounter: true
        case .cbc1, .cbcs, .sampleAES: false
        }
    }
}

/// A DRM system whose signalling this server writes.
///
/// Latchkey issues licenses of FairPlay only. It writes the signalling of the other systems so that the same encrypted
/// stream can be played with licenses of another server.
package enum DRMSystem: Hashable, Sendable, CaseIterable {
    case fairPlay
    case widevine
    case playReady

    /// The UUID of `DRMSystem@systemId` (packagers, section 1.1).
    package var identifier: KeyID {
        switch self {
        case .fairPlay: KeyID(words: Bytes16(high: 0x94CE_86FB_07FF_4F43, low: 0xADB8_93D2_FA96_8CA2))
        case .widevine: KeyID(words: Bytes16(high: 0xEDEF_8BA9_79D6_4ACE, low: 0xA3C8_27DC_D51D_21ED))
        case .playReady: KeyID(words: Bytes16(high: 0x9A04_F079_9840_4286, low: 0xAB92_E65B_E088_5F95))
        }
    }

    /// Returns the system with this UUID, in upper or lower case; nil if the system is not known.
    init?(identifier: String) {
        let parsed = try? KeyID(parsing: identifier)
        guard let system = Self.allCases.first(where: { $0.identifier == parsed }) else { return nil }
        self = system
    }
}
