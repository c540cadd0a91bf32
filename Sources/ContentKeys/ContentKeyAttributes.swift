package import ByteCoding
package import KeyCrypto

/// All properties of a content key without its secret, as lists show them.
package struct ContentKeyAttributes: Hashable, Sendable {
    package var keyID: KeyID
    package var contentID: ContentID
    package var track: Track
    /// The index of the key period (CPIX `ContentKeyPeriod@index`); nil if the content's keys do not rotate.
    package var periodIndex: UInt32?
    package var scheme: EncryptionScheme
    package var state = ContentKeyState.live
    /// When the key was made or imported, in seconds since 1970.
    package var createdAt: Int64

    // The key's own floor. A token can demand more, but never less. If a value is nil, only the track's content type
    // sets a floor.

    package var leastHDCP: HDCP?
    package var leastSecurityLevel: SecurityLevel?

    /// Makes the attributes of a live key without a floor of its own.
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
    /// The content type, which decides the key's policy.
    package var contentType: ContentType { track.contentType }
}

/// The scheme with which the packager encrypts samples. The raw values are stored, and never change.
package enum EncryptionScheme: String, Hashable, Sendable, CaseIterable {
    /// The pattern scheme for fragmented MP4 (ISO/IEC 23001-7 section 10.4).
    case cbcs
    /// Apple's sample encryption of transport streams.
    case sampleAES = "sample-aes"

    // The other schemes of ISO/IEC 23001-7, which other DRM systems play (packagers, section 1.4).

    case cenc
    case cens
    case cbc1

    /// Whether FairPlay plays content of this scheme. No license contains a key of another scheme.
    package var isFairPlay: Bool {
        switch self {
        case .cbcs, .sampleAES: true
        case .cenc, .cens, .cbc1: false
        }
    }
}

/// Whether a key is delivered. The raw values are stored, and never change.
package enum ContentKeyState: String, Hashable, Sendable, CaseIterable {
    case live
    /// The key is kept only for the record. No license contains it any more.
    case withdrawn
}

extension ContentKeyAttributes {
    /// The protection that a digital output must have. The raw values are stored, and never change. The cases are
    /// ordered by strength.
    package enum HDCP: String, Hashable, Sendable, CaseIterable, Comparable {
        /// The raw value is "none". The case has another name, because an optional has a case `none`.
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

    /// How well a device must protect keys and pictures. The raw values are stored, and never change. The cases are
    /// ordered by strength.
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
/// Both depend only on the record. A report about an old license can therefore still be matched with its key.
extension ContentKeyAttributes {
    /// The stream id, which is unique for each key: the bytes of the key id.
    package var streamID: Bytes16 { keyID.words }

    /// Returns the title id, which is the same for all keys of one content: the first 16 bytes of SHA-256("LKTITLE1" ‖
    /// content id).
    ///
    /// Throws `operationFailed`.
    package func titleID(using crypto: CryptoContext) throws(CryptoError) -> Bytes16 {
        Bytes16(try crypto.sha256(Array("LKTITLE1".utf8) + contentID.text.utf8), at: 0)
    }
}
