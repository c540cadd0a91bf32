import ByteCoding
import KeyCrypto

extension ExpressPlayTokenRequest {
    private static let extensionCountMaximum = 8
    private static let extensionSizeMaximum = 64
    private static let durationMaximum = Int64(UInt32.max) - 1

    /// Reads all parameters except the authenticator.
    ///
    /// `now` is in seconds since 1970. No token is valid for longer than `lifeMaximum` seconds. Throws the code of the
    /// first parameter that is missing, repeated or invalid.
    package init(
        reading form: ExpressPlayForm, allowsKeysInURL: Bool, now: Int64, lifeMaximum: Int64 = lifeMaximum
    ) throws(ExpressPlayCode) {
        if let flags = try form.value(of: .generalFlags, else: .generalFlagsInvalid) {
            // The only documented value is 0000, but callers send eight digits too. The flags have no effect here.
            guard flags.count == 4 || flags.count == 8, (try? Hexadecimal.decode(flags)) != nil else {
                throw .generalFlagsInvalid
            }
        }
        key = try Self.key(in: form, allowsKeysInURL: allowsKeysInURL)
        rental = try Self.seconds(.rentalDuration, 0...Self.durationMaximum, in: form).flatMap { $0 == 0 ? nil : $0 }
        extensions = try Self.extensions(in: form)
        expiresAt = try Self.end(in: form, now: now, lifeMaximum: min(lifeMaximum, Self.lifeMaximum))
        cookie = try Self.cookie(in: form)
        unused = try UnusedParameter.all(in: form)
        lease = try Self.seconds(.lease, 1...Self.durationMaximum, in: form)
        (device, bindsFirstDevice) = try Self.binding(in: form)
        usesPerKey = try Self.uses(in: form)
        hdcp = try Self.hdcp(in: form)
    }

    // MARK: Keys

    private static func key(
        in form: ExpressPlayForm, allowsKeysInURL: Bool
    ) throws(ExpressPlayCode) -> Key {
        if !allowsKeysInURL {
            if form.isInURL(.contentKey) { throw .contentKeyInvalid }
            if form.isInURL(.kek) || form.isInURL(.ek) { throw .wrappedKeyInvalid }
        }
        let clear = try form.value(of: .contentKey, else: .contentKeyInvalid)
        let encryption = try encryptionKey(in: form)
        let wrapped = try form.value(of: .ek, else: .wrappedKeyInvalid)
        let name = try name(in: form)
        let iv = try iv(in: form)
        if let clear {
            guard encryption == nil, wrapped == nil else { throw .contentKeyInvalid }
            guard clear.count == 2 * EmbeddedContentKey.size else { throw .contentKeySizeWrong }
            guard let key = secret(clear) else { throw .contentKeyInvalid }
            return try embedded(key, iv, name, else: .contentKeyInvalid)
        }
        if let wrapped {
            guard let encryption, name == nil else { throw .wrappedKeyInvalid }
            guard let key = unwrap(wrapped, with: encryption) else { throw .wrappedKeyInvalid }
            return try embedded(key, iv, nil, else: .wrappedKeyInvalid)
        }
        // A key-encryption key is ignored if the request names a stored key, because the store decrypts its own keys.
        guard let name else { throw encryption == nil ? .contentKeyInvalid : .keyIDMissing }
        return .stored(name, iv: iv)
    }

    private static func embedded(
        _ key: consuming SecretBytes, _ iv: Bytes16?, _ name: KeyName?, else code: ExpressPlayCode
    ) throws(ExpressPlayCode) -> Key {
        guard let iv else { throw .ivInvalid }
        do throws(EntitlementError) {
            return .embedded(try EmbeddedContentKey(key: key, iv: iv), named: name)
        } catch {
            throw code
        }
    }

    private static func encryptionKey(in form: ExpressPlayForm) throws(ExpressPlayCode) -> SharedSecret? {
        guard let text = try form.value(of: .kek, else: .wrappedKeyInvalid) else { return nil }
        guard AESKeyWrap.keySizes.contains(text.count / 2), let key = secret(text) else { throw .wrappedKeyInvalid }
        return SharedSecret(key)
    }

    private static func unwrap(_ wrapped: [UInt8], with encryption: SharedSecret) -> SecretBytes? {
        guard wrapped.count == 2 * (EmbeddedContentKey.size + AESKeyWrap.overhead),
            let bytes = try? Hexadecimal.decode(wrapped)
        else { return nil }
        return try? AESKeyWrap.unwrap(bytes, with: encryption.bytes)
    }

    /// Decodes a secret from hexadecimal digits; nil if they are invalid.
    private static func secret(_ text: [UInt8]) -> SecretBytes? {
        guard var bytes = try? Hexadecimal.decode(text), !bytes.isEmpty else { return nil }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return SecretBytes(copying: bytes)
    }

    private static func name(in form: ExpressPlayForm) throws(ExpressPlayCode) -> KeyName? {
        guard let value = try form.value(of: .kid, else: .keyIDInvalid) else { return nil }
        if value.first == UInt8(ascii: "^") {
            let name = value.dropFirst()
            guard name.count <= 64 else { throw .keyNameTooLong }
            let text = String(decoding: name, as: UTF8.self)
            guard !name.isEmpty, ClaimObject.isIdentifier(text) else { throw .keyIDInvalid }
            return .text(text)
        }
        guard value.count == 2 * KeyID.size else { throw .keyIDSizeWrong }
        guard let keyID = (try? Hexadecimal.decode(value)).flatMap({ KeyID(bytes: $0) }) else { throw .keyIDInvalid }
        return .keyID(keyID)
    }

    private static func iv(in form: ExpressPlayForm) throws(ExpressPlayCode) -> Bytes16? {
        guard let value = try form.value(of: .iv, else: .ivInvalid) else { return nil }
        guard let iv = (try? Hexadecimal.decode(value)).flatMap({ Bytes16($0) }) else { throw .ivInvalid }
        return iv
    }

    // MARK: Terms

    private static func seconds(
        _ name: ExpressPlayForm.Name, _ range: ClosedRange<Int64>, in form: ExpressPlayForm
    ) throws(ExpressPlayCode) -> Int64? {
        guard let value = try form.value(of: name, else: .rentalDurationInvalid) else { return nil }
        guard let seconds = FormNumber.read(value, in: range) else { throw .rentalDurationInvalid }
        return seconds
    }

    private static func end(
        in form: ExpressPlayForm, now: Int64, lifeMaximum: Int64
    ) throws(ExpressPlayCode) -> Int64 {
        guard let value = try form.value(of: .expirationTime, else: .expirationInvalid) else {
            return now + lifeMaximum
        }
        let end: Int64
        switch FormTime(value) {
        case .at(let time): end = time
        case .after(let seconds): end = now + seconds
        case nil: throw .expirationInvalid
        }
        guard end > now, end <= now + lifeMaximum else { throw .expirationInvalid }
        return end
    }

    private static func cookie(in form: ExpressPlayForm) throws(ExpressPlayCode) -> String? {
        guard let value = try form.value(of: .cookie, else: .cookieInvalid) else { return nil }
        guard !value.isEmpty else { return nil }
        guard let cookie = SealedTokenContents.cookie(value) else { throw .cookieInvalid }
        return cookie
    }

    /// Reads the extensions. One that demands something is refused: without it, the license would be less strict than
    /// was asked for.
    private static func extensions(in form: ExpressPlayForm) throws(ExpressPlayCode) -> [SealedTokenContents.Extension]
    {
        let values = form.values(of: ExpressPlayForm.Name.fpExtension.rawValue)
        guard values.count <= extensionCountMaximum else { throw .extensionInvalid }
        var extensions: [SealedTokenContents.Extension] = []
        for value in values {
            guard let comma = value.firstIndex(of: UInt8(ascii: ",")) else { throw .extensionInvalid }
            guard comma == 4 else { throw .extensionTypeSizeWrong }
            // An unescaped plus has become a space.
            let text = value[(comma + 1)...].map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
            guard let payload = try? Base64.decode(text) else { throw .extensionPayloadInvalid }
            let addition = SealedTokenContents.Extension(type: Array(value[..<comma]), payload: payload)
            guard (1...extensionSizeMaximum).contains(payload.count), addition.saysNothing else {
                throw .extensionInvalid
            }
            extensions.append(addition)
        }
        return extensions
    }

    // MARK: Parameters that this server adds

    private static func binding(in form: ExpressPlayForm) throws(ExpressPlayCode) -> (DeviceIdentifier?, Bool) {
        let device = try form.value(of: .device, else: .deviceBindingInvalid)
        let binding = try form.value(of: .binding, else: .deviceBindingInvalid)
        guard let device else {
            guard let binding else { return (nil, false) }
            switch String(decoding: binding, as: UTF8.self) {
            case "first": return (nil, true)
            case "none": return (nil, false)
            default: throw .deviceBindingInvalid  // The caller sent a word that is not known.
            }
        }
        guard binding == nil, let identifier = DeviceIdentifier(text: String(decoding: device, as: UTF8.self)) else {
            throw .deviceBindingInvalid
        }
        return (identifier, false)
    }

    private static func uses(in form: ExpressPlayForm) throws(ExpressPlayCode) -> UInt32? {
        guard let value = try form.value(of: .uses, else: .valueUnknown) else { return nil }
        guard let uses = FormNumber.read(value, in: 1...Int64(UInt32.max)) else { throw .valueUnknown }
        return UInt32(uses)
    }

    private static func hdcp(in form: ExpressPlayForm) throws(ExpressPlayCode) -> Right.HDCP? {
        guard let value = try form.value(of: .hdcp, else: .outputFlagsInvalid) else { return nil }
        guard let hdcp = Right.HDCP(rawValue: String(decoding: value, as: UTF8.self)) else {
            throw .outputFlagsInvalid
        }
        return hdcp
    }
}

extension SealedTokenContents {
    /// Returns the text of a cookie; nil unless it is 1 to 32 bytes of UTF-8 without control characters.
    package static func cookie(_ bytes: [UInt8]) -> String? {
        guard (1...cookieSizeMaximum).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
        else { return nil }
        return text
    }
}
