package import ByteCoding
package import ContentKeys

/// What a packager or an operator wants: keys of one content, whether they are there or must be made.
package struct KeyOrder: Sendable {
    /// How many keys one order may have.
    package static let keyCountMaximum = CPIXRequest.keyCountMaximum

    /// One key of an order.
    package struct Key: Sendable {
        /// Nil if the key is found by its track and period.
        package var keyID: KeyID?
        package var track: Track
        package var periodIndex: UInt32?
        package var scheme: EncryptionScheme
        /// The IV that the key must have; nil for any.
        package var iv: Bytes16?
        /// The bytes that the key must have, of a key that a packager has used already; nil for any.
        package var key: ContentKey?
        package var leastHDCP: ContentKeyAttributes.HDCP?
        package var leastSecurityLevel: ContentKeyAttributes.SecurityLevel?

        package init(
            keyID: KeyID? = nil, track: Track = .unlabelled, periodIndex: UInt32? = nil,
            scheme: EncryptionScheme = .cbcs, iv: Bytes16? = nil, key: ContentKey? = nil
        ) {
            self.keyID = keyID
            self.track = track
            self.periodIndex = periodIndex
            self.scheme = scheme
            self.iv = iv
            self.key = key
        }
    }

    package let contentID: ContentID
    package let keys: [Key]
    /// The periods of the keys whose times the packager says.
    package let periods: Set<KnownPeriod>

    /// At least one key. No two have one key id, or one track and period without a key id.
    package init(contentID: ContentID, keys: [Key], periods: Set<KnownPeriod> = []) {
        precondition(!keys.isEmpty, "an order has a key")
        self.contentID = contentID
        self.keys = keys
        self.periods = periods
    }

    /// What a checked request of SPEKE asks for.
    package init(_ request: CPIXRequest) {
        self.init(
            contentID: request.contentID,
            keys: request.keys.map { key in
                Key(
                    keyID: key.keyID, track: key.track, periodIndex: key.period?.index,
                    scheme: EncryptionScheme(request.scheme(of: key)), iv: key.explicitIV)
            }, periods: Set(request.keys.compactMap { $0.period.flatMap(KnownPeriod.init) }))
    }

    /// Whether the order brings the bytes of a key along.
    package var imports: Bool { keys.contains { $0.key != nil } }
}

extension KnownPeriod {
    /// Nil for a period without times: the store finds it by its keys.
    fileprivate init?(_ period: KeyPeriod) {
        guard period.start != nil || period.end != nil else { return nil }
        self.init(index: period.index, start: period.start?.seconds, end: period.end?.seconds)
    }
}

extension EncryptionScheme {
    /// The scheme of samples that a request names. HLS calls `cbcs` and Apple's encryption of transport streams by one
    /// name, and `cenc` by another.
    init(_ scheme: CommonEncryptionScheme) {
        self =
            switch scheme {
            case .cbcs: .cbcs
            case .cenc, .sampleAESCounter: .cenc
            case .cens: .cens
            case .cbc1: .cbc1
            case .sampleAES: .sampleAES
            }
    }
}
