package import ByteCoding
package import ContentKeys
package import KeyCrypto

/// A packager's request for content keys: a CPIX document that has been checked (packagers, sections 1.3 to 1.5).
///
/// The document is kept unchanged, because the answer is the same document with keys and signalling filled in.
package struct CPIXRequest: Sendable {
    /// How many keys a request may have. A request of SPEKE v1 has exactly one.
    package static let keyCountMaximum = 64
    package static let systemCountMaximum = 256
    package static let recipientCountMaximum = 8

    package let version: SPEKEVersion
    /// `CPIX@contentId`, in SPEKE v1 `CPIX@id`.
    package let contentID: ContentID
    /// The keys in the document's order. Their key ids are distinct.
    package let keys: [RequestedContentKey]
    /// The recipients to which the keys are encrypted. Empty if the request asks for keys in the clear.
    package let recipients: [DeliveryRecipient]
    /// The systems for which the request asks for signalling, over all keys.
    package let systems: Set<DRMSystem>
    let document: MarkupElement

    /// Reads a request of the version that the path and the header field say. Throws the errors with status 422, except
    /// `ivConflict`.
    package init(parsing body: [UInt8], version: SPEKEVersion) throws(CPIXError) {
        let root = try wrap(CPIXError.document, try MarkupReader.read(body))
        self = try CPIXRequestReader(root: root, version: version).read()
    }

    /// The content that a document names, also if the document is refused. Nil if it names none.
    package static func contentID(namedIn body: [UInt8], version: SPEKEVersion) -> ContentID? {
        guard let root = try? MarkupReader.read(body) else { return nil }
        return try? CPIXRequestReader(root: root, version: version).readContentID()
    }

    init(
        version: SPEKEVersion, contentID: ContentID, keys: [RequestedContentKey], recipients: [DeliveryRecipient],
        systems: Set<DRMSystem>, document: MarkupElement
    ) {
        self.version = version
        self.contentID = contentID
        self.keys = keys
        self.recipients = recipients
        self.systems = systems
        self.document = document
    }

    /// The scheme of a key. SPEKE v1 does not say it: then it is `cbcs` if FairPlay is asked for, and otherwise `cenc`,
    /// the first scheme of DASH.
    package func scheme(of key: RequestedContentKey) -> CommonEncryptionScheme {
        key.scheme ?? (systems.contains(.fairPlay) ? .cbcs : .cenc)
    }
}

/// A key that a packager asks for, with everything that the request says about it.
package struct RequestedContentKey: Hashable, Sendable {
    package let keyID: KeyID
    /// `ContentKey@kid` as it was written.
    let writtenKeyID: String
    /// The scheme; nil in SPEKE v1, which does not say it.
    package let scheme: CommonEncryptionScheme?
    /// The IV that the key must have; nil if any IV will do.
    package let explicitIV: Bytes16?
    /// The track of the usage rule. In SPEKE v1 a key is for every track.
    package let track: Track
    /// The key period; nil if keys do not rotate.
    package let period: KeyPeriod?
    package let floor: KeyFloor
}

/// A `ContentKeyPeriod` of live content.
package struct KeyPeriod: Hashable, Sendable {
    let identifier: String
    /// `ContentKeyPeriod@index`: the next period has the next number.
    package let index: UInt32
    /// When the period begins; nil before SPEKE v2.1, and if the request does not say it.
    package let start: UnixTime?
    package let end: UnixTime?
}

/// A recipient of encrypted keys (packagers, section 1.5).
package struct DeliveryRecipient: Sendable {
    /// The sizes of RSA keys that are accepted, in bits. SPEKE asks for 2,048.
    package static let keyBits = 2_048...4_096

    package let certificate: Certificate

    /// Reads the text of `ds:X509Certificate`. Throws `recipientCertificate`.
    init(base64 text: String) throws(CPIXError) {
        let digits = Array(text.utf8).filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let der = try? Base64.decode(digits), let certificate = try? Certificate(parsing: der),
            Self.keyBits.contains(certificate.keyBits)
        else { throw .recipientCertificate }
        self.certificate = certificate
    }
}
