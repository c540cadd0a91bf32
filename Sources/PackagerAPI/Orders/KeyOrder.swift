package import ByteCoding
package import ContentKeys

/// An order of a packager or an operator for keys of one content, which exist already or must be made.
package struct KeyOrder: Sendable {
    /// How many keys one order may have.
    package static let keyCountMaximum = CPIXRequest.keyCountMaximum

    /// One key of an order.
    package struct Key: Sendable {
        /// The key id; nil if the key is found by its track and period.
        package var keyID: KeyID?
        package var track: Track
        package var periodIndex: UInt32?
        package var scheme: EncryptionScheme
        /// The IV that the key must have; nil for any IV.
        package var iv: Bytes16?
        /// The key bytes, if the packager has already used the key; nil for any bytes.
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
    /// The periods of the keys for which the packager has said times.
    package let periods: Set<KnownPeriod>

    /// Makes an order of at least one key. No two keys may share a key id. No two keys without a key id may share a
    /// track and period.
    package init(contentID: ContentID, keys: [Key], periods: Set<KnownPeriod> = []) {
        precondition(!keys.isEmpty, "an order has a key")
        self.contentID = contentID
        self.keys = keys
        self.periods = periods
    }

    /// Makes an order from a request of SPEKE.
    package init(_ request: CPIXRequest) {
        self.init(
            contentID: request.contentID,
            keys: request.keys.map { key in
                var wanted = Key(
                    keyID: key.keyID, track: key.track, periodIndex: key.period?.index,
                    scheme: EncryptionScheme(request.scheme(of: key)), iv: key.explicitIV)
                wanted.leastHDCP = key.floor.leastHDCP
                wanted.leastSecurityLevel = key.floor.leastSecurityLevel
                return wanted
            }, periods: Set(request.keys.compactMap { $0.period.flatMap(KnownPeriod.init) }))
    }

    /// Throws `url` or `sharedURL` if a key of the order would have no URL of its own. Such an order is refused before
    /// its keys are stored.
    package func checkURLs(_ urls: SKDTemplate, authority: String?) throws(KeyExportError) {
        var found: Set<String> = []
        for (index, key) in keys.enumerated() {
            // The size of a URL does not depend on the key id and the IV.
            let words = Bytes16(high: 0, low: UInt64(index))
            let names = SKDNames(
                contentID: contentID, keyID: key.keyID ?? KeyID(words: words), iv: words, periodIndex: key.periodIndex,
                trackLabel: key.track.label, authority: authority)
            let url = try wrap(KeyExportError.url, try urls.url(for: names))
            guard found.insert(url).inserted else { throw .sharedURL }
        }
    }

    /// Whether the order contains the bytes of any key.
    package var imports: Bool { keys.contains { $0.key != nil } }
}

extension KnownPeriod {
    /// Returns nil for a period without times, which the store finds by its keys.
    fileprivate init?(_ period: KeyPeriod) {
        guard period.start != nil || period.end != nil else { return nil }
        self.init(index: period.index, start: period.start?.seconds, end: period.end?.seconds)
    }
}

extension EncryptionScheme {
    /// The scheme of the samples for the value in a request. `SAMPLE-AES` of HLS is read as Apple's encryption of
    /// transport streams, and `SAMPLE-AES-CTR` as `cenc`.
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
