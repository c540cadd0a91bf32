package import ByteCoding
import KeyCrypto

/// The contents of a sealed token: the key it grants, until when, and under which terms.
///
/// Times are seconds since 1970. Durations are in seconds.
package struct SealedTokenContents: Equatable, Sendable {
    /// The most bytes of a cookie, as in ExpressPlay's tokens.
    package static let cookieSizeMaximum = 32

    /// An addition that the caller of the token service asked for (`fpExtension`).
    package struct Extension: Equatable, Sendable {
        /// Four bytes.
        package let type: [UInt8]
        package let payload: [UInt8]
    }

    package var tokenID: Bytes16
    package var issuedAt: Int64
    package var expiresAt: Int64
    package var contentKey: EmbeddedContentKey?
    /// The stored key that the token grants, or the ID of the key inside the token.
    package var keyID: KeyID?
    package var contentID: String?
    package var rental: Int64?
    package var lease: Int64?
    package var allowsOffline = false
    package var storage: Int64?
    package var playback: Int64?
    package var bindsFirstDevice = false
    /// The most devices that the subject may have.
    package var deviceMaximum: UInt32?
    /// Whether the token is valid only for devices that are registered already.
    package var isRegisteredOnly = false
    package var device: DeviceIdentifier?
    package var usesPerKey: UInt32?
    package var subject: String?
    package var cookie: String?
    package var protection = Protection()
    package var extensions: [Extension] = []

    package init(tokenID: Bytes16, issuedAt: Int64, expiresAt: Int64) {
        self.tokenID = tokenID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    /// The subject whose devices are registered under a cookie (entitlement, section 1.1.6).
    package static func subject(ofCookie cookie: String, customer: String) -> String { "\(customer)/\(cookie)" }

    func times() throws(EntitlementError) -> TokenTimes {
        guard let issued = NumericDate(issuedAt), let end = NumericDate(expiresAt) else { throw .claimInvalid("exp") }
        return TokenTimes(expiresAt: end, notBefore: nil, issuedAt: issued)
    }
}

// MARK: Writing

extension SealedTokenContents {
    private static let offlineFlag: UInt64 = 1
    private static let firstDeviceFlag: UInt64 = 2
    private static let registeredFlag: UInt64 = 4

    /// Returns the fields in the order of their tags. The caller has checked that no text is too long.
    func fields() -> SecretBytes {
        var writer = SealedFieldWriter()
        writer.write(.tokenID, tokenID.bytes)
        writer.write(.issuedAt, UInt64(clamping: issuedAt))
        writer.write(.expiresAt, UInt64(clamping: expiresAt))
        if let contentKey {
            writer.write(.contentKey, secret: contentKey.key)
            writer.write(.iv, contentKey.iv.bytes)
        }
        if let keyID { writer.write(.keyID, keyID.bytes) }
        writer.write(.rental, rental.map { UInt64(clamping: $0) })
        writer.write(.lease, lease.map { UInt64(clamping: $0) })
        writer.write(.flags, flags)
        writer.write(.storage, storage.map { UInt64(clamping: $0) })
        writer.write(.playback, playback.map { UInt64(clamping: $0) })
        if let cookie { writer.write(.cookie, Array(cookie.utf8)) }
        if let device { writer.write(.device, device.bytes) }
        writer.write(.usesPerKey, usesPerKey.map { UInt64($0) })
        if let subject { writer.write(.subject, Array(subject.utf8)) }
        if let contentID { writer.write(.contentID, Array(contentID.utf8)) }
        if let hdcp = protection.hdcp { writer.write(.hdcp, Array(hdcp.rawValue.utf8)) }
        if let level = protection.securityLevel { writer.write(.minimumLevel, Array(level.rawValue.utf8)) }
        for addition in extensions { writer.write(.addition, addition.type + addition.payload) }
        writer.write(.deviceMaximum, deviceMaximum.map { UInt64($0) })
        return writer.finish()
    }

    private var flags: UInt64 {
        (allowsOffline ? Self.offlineFlag : 0) | (bindsFirstDevice ? Self.firstDeviceFlag : 0)
            | (isRegisteredOnly ? Self.registeredFlag : 0)
    }
}

// MARK: Reading

extension SealedTokenContents {
    /// Throws `claimInvalid` if a field is missing, has another size or an impossible value.
    init(reading fields: consuming SealedFields) throws(EntitlementError) {
        guard let tokenID = fields.bytes(.tokenID).flatMap({ Bytes16($0) }) else { throw .claimInvalid("jti") }
        self.init(
            tokenID: tokenID, issuedAt: try Self.seconds(.issuedAt, "iat", fields) ?? 0,
            expiresAt: try Self.seconds(.expiresAt, "exp", fields) ?? 0)
        guard expiresAt > 0 else { throw .claimInvalid("exp") }
        guard issuedAt > 0 else { throw .claimInvalid("iat") }
        contentKey = try Self.contentKey(fields)
        if let bytes = fields.bytes(.keyID) {
            guard let keyID = KeyID(bytes: bytes) else { throw .claimInvalid("kid") }
            self.keyID = keyID
        }
        rental = try Self.seconds(.rental, "rental", fields)
        lease = try Self.seconds(.lease, "lease", fields)
        try readFlags(fields)
        storage = try Self.seconds(.storage, "storage", fields)
        playback = try Self.seconds(.playback, "playback", fields)
        cookie = try Self.text(.cookie, "cookie", sizeMaximum: Self.cookieSizeMaximum, fields)
        try readDevice(fields)
        usesPerKey = try Self.count(.usesPerKey, "uses", fields)
        subject = try Self.text(.subject, "sub", sizeMaximum: ClaimObject.stringSizeMaximum, fields)
        contentID = try Self.text(.contentID, "content", sizeMaximum: ClaimObject.stringSizeMaximum, fields)
        guard contentID.map(ClaimObject.isIdentifier) ?? true else { throw .claimInvalid("content") }
        protection = Protection(
            hdcp: try Self.word(.hdcp, "hdcp", fields), securityLevel: try Self.word(.minimumLevel, "min_level", fields)
        )
        for bytes in fields.all(.addition) {
            guard bytes.count >= 4 else { throw .claimInvalid("extension") }
            extensions.append(Extension(type: Array(bytes.prefix(4)), payload: Array(bytes.dropFirst(4))))
        }
        deviceMaximum = try Self.count(.deviceMaximum, "device.max", fields)
        // Devices are registered under the subject.
        if deviceMaximum != nil || isRegisteredOnly, subject == nil { throw .claimInvalid("sub") }
    }

    private mutating func readFlags(_ fields: borrowing SealedFields) throws(EntitlementError) {
        let flags = try fields.number(.flags, "flags") ?? 0
        let known = Self.offlineFlag | Self.firstDeviceFlag | Self.registeredFlag
        guard flags & ~known == 0 else { throw .claimUnsupported("flags") }
        allowsOffline = flags & Self.offlineFlag != 0
        bindsFirstDevice = flags & Self.firstDeviceFlag != 0
        isRegisteredOnly = flags & Self.registeredFlag != 0
    }

    private mutating func readDevice(_ fields: borrowing SealedFields) throws(EntitlementError) {
        guard let bytes = fields.bytes(.device) else { return }
        guard let device = DeviceIdentifier(bytes) else { throw .claimInvalid("cnf") }
        self.device = device
    }

    /// Reads the key and its vector. A token has both or neither.
    private static func contentKey(_ fields: borrowing SealedFields) throws(EntitlementError) -> EmbeddedContentKey? {
        guard fields.contains(.contentKey) || fields.contains(.iv) else { return nil }
        guard let key = fields.secret(.contentKey, size: EmbeddedContentKey.size),
            let iv = fields.bytes(.iv).flatMap({ Bytes16($0) })
        else { throw .claimInvalid("key") }
        return try EmbeddedContentKey(key: key, iv: iv)
    }

    private static func seconds(
        _ tag: SealedFields.Tag, _ name: String, _ fields: borrowing SealedFields
    ) throws(EntitlementError) -> Int64? {
        guard let number = try fields.number(tag, name) else { return nil }
        guard let seconds = Int64(exactly: number) else { throw .claimInvalid(name) }
        return seconds
    }

    private static func count(
        _ tag: SealedFields.Tag, _ name: String, _ fields: borrowing SealedFields
    ) throws(EntitlementError) -> UInt32? {
        guard let number = try fields.number(tag, name) else { return nil }
        guard let count = UInt32(exactly: number) else { throw .claimInvalid(name) }
        return count
    }

    private static func text(
        _ tag: SealedFields.Tag, _ name: String, sizeMaximum: Int, _ fields: borrowing SealedFields
    ) throws(EntitlementError) -> String? {
        guard let bytes = fields.bytes(tag) else { return nil }
        guard (1...sizeMaximum).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self) else {
            throw .claimInvalid(name)
        }
        return text
    }

    private static func word<Word: RawRepresentable>(
        _ tag: SealedFields.Tag, _ name: String, _ fields: borrowing SealedFields
    ) throws(EntitlementError) -> Word? where Word.RawValue == String {
        guard let text = try text(tag, name, sizeMaximum: 16, fields) else { return nil }
        guard let word = Word(rawValue: text) else { throw .claimInvalid(name) }
        return word
    }
}

// MARK: Claims

extension Claims {
    /// Reads the one right of a sealed token.
    ///
    /// Throws `claimInvalid` if the token names no content, and `claimUnsupported` if it has an extension that demands
    /// something.
    init(sealed contents: SealedTokenContents, _ verified: Verified) throws(EntitlementError) {
        for addition in contents.extensions where !addition.saysNothing { throw .claimUnsupported("extension") }
        var right = Right(try Self.selector(of: contents))
        right.duration = contents.rental
        right.lease = contents.lease
        right.mode = contents.allowsOffline ? .both : .stream
        right.storage = contents.storage
        right.playback = contents.playback
        right.protection = contents.protection
        self.init(
            verified, subject: contents.subject, tokenID: Hexadecimal.encode(contents.tokenID.bytes), rights: [right])
        device = DeviceClaims(
            pinned: contents.device, binding: contents.bindsFirstDevice ? .firstUse : .unbound,
            maximum: contents.deviceMaximum, isRegisteredOnly: contents.isRegisteredOnly,
            // Only a token that registers a device has a maximum (entitlement, section 1.1.6). The viewer asks for such
            // a token on the new device.
            replacesOldest: contents.deviceMaximum != nil)
        limits = UseLimits(usesPerKey: contents.usesPerKey)
        cookie = contents.cookie
        embeddedKey = contents.contentKey
    }

    /// Returns the content or the key that the token names.
    ///
    /// A token with a key inside need not name any: it is then valid for every asset that the player names, because a
    /// token URL that stands in the playlist names no asset.
    private static func selector(of contents: SealedTokenContents) throws(EntitlementError) -> Right.Selector {
        if let contentID = contents.contentID { return .content(contentID) }
        if let keyID = contents.keyID { return .keyIDs([keyID]) }
        guard contents.contentKey != nil else { throw .claimInvalid("kid") }
        return .anything
    }
}

extension SealedTokenContents.Extension {
    /// Whether the extension demands nothing.
    ///
    /// The only extension that callers are known to send is `wudo`. It has no published description, and is taken to
    /// demand nothing if all its bytes are zero.
    var saysNothing: Bool {
        type == Array("wudo".utf8) && payload.allSatisfy { $0 == 0 }
    }
}
