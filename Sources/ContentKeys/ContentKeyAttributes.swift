package import ByteCoding
package import KeyCrypto

/// Everything about a content key but its secret: what a list shows.
package struct ContentKeyAttributes: Hashable, Sendable {
    package var keyID: KeyID
    package var contentID: ContentID
    package var track: Track
    /// The number of the key rotation period (CPIX `ContentKeyPeriod@index`); nil if keys do not rotate.
    package var periodIndex: UInt32?
    package var scheme: EncryptionScheme
    package var state = ContentKeyState.live
    /// When the key was made or imported, in seconds since 1970.
    package var createdAt: Int64

    // The key's own floor: what a token says can be stricter, and never laxer. Nil says nothing beyond the track's
    // content type.

    package var leastHDCP: HDCP?
    package var leastSecurityLevel: SecurityLevel?

    /// A live key without a floor of its own.
    package init(
        keyID: KeyID, contentID: ContentID, track: Track = .unlabelled, periodIndex: UInt32? = nil,
        scheme: EncryptionScheme = .cbcs, createdAt: Int64
    ) {
        self.keyID = keyID
        self.contentID = contentID
        self.track = track
        self.periodIndex = periodIndex
        self.scheme = scheme
        self.createdAt = createdAt
    }

    /// The packager's label; nil for a key that serves every track of its content.
    package var trackLabel: TrackLabel? { track.label }
    /// The type whose policy the key has.
    package var contentType: ContentType { track.contentType }
}

/// How the packager encrypts samples with a key. The raw values are stored, and never change.
package enum EncryptionScheme: String, Hashable, Sendable, CaseIterable {
    /// The pattern scheme for fragmented MP4 (ISO/IEC 23001-7 section 10.4).
    case cbcs
    /// Apple's sample encryption of transport streams.
    case sampleAES = "sample-aes"

    // The other schemes of ISO/IEC 23001-7, which other systems play (packagers, section 1.4).

    case cenc
    case cens
    case cbc1

    /// Whether FairPlay plays what is encrypted so. A key of another scheme is in no licence.
    package var isFairPlay: Bool {
        switch self {
        case .cbcs, .sampleAES: true
        case .cenc, .cens, .cbc1: false
        }
    }
}

/// Whether a key is given out. The raw values are stored, and never change.
package enum ContentKeyState: String, Hashable, Sendable, CaseIterable {
    case live
    /// Kept for the record; no licence carries it any more.
    case withdrawn
}

extension ContentKeyAttributes {
    /// The protection that a digital output must have. The raw values are stored, and never change; cases are ordered
    /// by strength.
    package enum HDCP: String, Hashable, Sendable, CaseIterable, Comparable {
        /// "none"; the case is not called so, because an optional has a case of that name.
        case notRequired = "none"
        case type0
        case type1

        package static func < (one: HDCP, other: HDCP) -> Bool { one.strength < other.strength }

        private var strength: Int {
            switch self {
            case .notRequired: 0
            case .type0: 1
            case .type1: 2
            }
        }
    }

    /// How well a device must protect keys and pictures. The raw values are stored, and never change; cases are ordered
    /// by strength.
    package enum SecurityLevel: String, Hashable, Sendable, CaseIterable, Comparable {
        case audio
        case baseline
        case main

        package static func < (one: SecurityLevel, other: SecurityLevel) -> Bool { one.strength < other.strength }

        private var strength: Int {
            switch self {
            case .audio: 0
            case .baseline: 1
            case .main: 2
            }
        }
    }
}

/// The 16-byte names by which a device reports an offline key (protocol, sections 4.3 and 4.4).
///
/// Both follow from the record alone, so that a report about a licence of long ago still finds its key.
extension ContentKeyAttributes {
    /// The stream id, unique for each key: the bytes of the key id.
    package var streamID: Bytes16 { keyID.words }

    /// The title id, the same for all keys of one content: the first 16 bytes of SHA-256("LKTITLE1" ‖ content id).
    ///
    /// Throws `operationFailed`.
    package func titleID(using crypto: CryptoContext) throws(CryptoError) -> Bytes16 {
        Bytes16(try crypto.sha256(Array("LKTITLE1".utf8) + contentID.text.utf8), at: 0)
    }
}
