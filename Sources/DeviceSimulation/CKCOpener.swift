package import ByteCoding
package import FairPlay
package import KeyCrypto

/// The content of a CKC of which every part is valid.
package struct OpenedLicense: Sendable {
    /// The content key, 16 bytes.
    package let contentKey: SharedSecret
    package let contentIV: Bytes16
    package let terms: LicenseTerms
    /// The version: 1, or 2 if the CKC returns the R1 for video.
    package let version: UInt32
    /// The session key that wraps the content key; nil if the CKC does not name it, which only external modules do.
    package let sessionKeyVersion: SessionKeyVersion?
    /// Details of this CKC that a device accepts and this server never sends. Empty for each of this server's own CKCs.
    package let remarks: [CKCRemark]
}

/// Opens a CKC as strictly as a device does. The SPC must have been made here.
package struct CKCOpener {
    private let secrets: RequestSecrets
    private let crypto: CryptoContext

    package init(secrets: RequestSecrets, using crypto: CryptoContext) {
        self.secrets = secrets
        self.crypto = crypto
    }

    package func open(_ message: [UInt8]) throws(CKCFault) -> OpenedLicense {
        let envelope = try CKCEnvelope(parsing: message)
        let session = try session(of: envelope)
        let license = try LicenseReader(parsing: try decrypt(envelope, session))
        let r1 = try license.requiredValue(of: TLLVTag.r1, size: 44)
        guard ConstantTime.areEqual(license.payload[r1], session.bytes.copy(Self.r1Range).revealed()[...]) else {
            throw .r1Mismatch
        }
        var remarks: [CKCRemark] = envelope.reserved == 0 ? [] : [.reservedWord(envelope.reserved)]
        remarks += try license.checkEchoes(secrets.expectedEchoes)
        let terms = try license.terms(for: secrets.abilities)
        if let remark = try license.durationRemark() { remarks.append(remark) }
        let sessionKeyVersion = try sessionKeyVersion(of: license, in: envelope)
        let key = try license.requiredValue(of: TLLVTag.contentKey, size: 32)
        return OpenedLicense(
            contentKey: try unwrap(Bytes16(license.payload, at: key.lowerBound + 16), by: sessionKeyVersion),
            contentIV: Bytes16(license.payload, at: key.lowerBound), terms: terms, version: envelope.version,
            sessionKeyVersion: sessionKeyVersion, remarks: remarks)
    }

    private static let r1Range = 36..<80

    /// Returns the SK..R1 block whose R1 the CKC returns. Version 2 returns the R1 for video.
    private func session(of envelope: CKCEnvelope) throws(CKCFault) -> SharedSecret {
        switch envelope.version {
        case 1: return secrets.sessionBlock
        case 2:
            guard secrets.abilities.offersVideoSessionKey else { throw .videoNotOffered }
            return secrets.videoSessionBlock ?? secrets.sessionBlock
        case let version: throw .version(version)
        }
    }

    /// Returns the session key that the CKC names. Only modules name it, and a CKC of version 2 must.
    private func sessionKeyVersion(
        of license: LicenseReader, in envelope: CKCEnvelope
    ) throws(CKCFault) -> SessionKeyVersion? {
        let version = try license.sessionKeyVersion()
        if version == nil, envelope.version == 2 { throw .missingTag(TLLVTag.sessionKeyVersionUsed) }
        if version == .video, !secrets.abilities.offersVideoSessionKey { throw .videoNotOffered }
        return version
    }

    /// The key of the CKC's payload is AES-ECB(SHA-1(R1)[0..<16], anti-replay seed) (protocol, section 3.3).
    private func decrypt(_ envelope: CKCEnvelope, _ session: SharedSecret) throws(CKCFault) -> [UInt8] {
        try wrap(CKCFault.cryptography) { () throws(CryptoError) in
            let antiReplayKey = try crypto.sha1Key(of: session.bytes, in: Self.r1Range)
            let key = try crypto.deriveKey(from: secrets.antiReplaySeed, key: antiReplayKey)
            return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: key, iv: envelope.iv)
        }
    }

    /// The content key is encrypted under the session key, which begins the plain SK..R1 block (section 3.4).
    private func unwrap(
        _ wrapped: Bytes16, by version: SessionKeyVersion?
    ) throws(CKCFault) -> SharedSecret {
        let session =
            switch version {
            case .none, .generic: secrets.sessionBlock
            case .video: secrets.videoSessionBlock ?? secrets.sessionBlock
            }
        return SharedSecret(try wrap(CKCFault.cryptography, try crypto.unwrapBlock(wrapped, key: session.bytes)))
    }
}

/// The outer layout of a CKC (protocol, section 1.3). Reading it needs no key.
package struct CKCEnvelope: Sendable {
    package let message: [UInt8]
    package let version: UInt32
    package let reserved: UInt32
    package let iv: Bytes16
    package let payload: Range<Int>

    /// Throws `truncated`, `payloadLength` or `payloadUnaligned`. All values of version and reserved word are accepted.
    package init(parsing message: [UInt8]) throws(CKCFault) {
        let declared: UInt32
        var reader = ByteReader(message)
        do throws(ByteReaderError) {
            version = try reader.readUInt32("version")
            reserved = try reader.readUInt32("reserved")
            iv = try reader.readBytes16("initialization vector")
            declared = try reader.readUInt32("payload length")
        } catch {
            throw .truncated(error)
        }
        guard Int(declared) == reader.remaining else {
            throw .payloadLength(declared: declared, available: reader.remaining)
        }
        guard declared % 16 == 0, declared > 0 else { throw .payloadUnaligned }
        self.message = message
        payload = reader.offset..<message.count
    }
}

/// The reason why a device would refuse a CKC.
package enum CKCFault: Error, Equatable, Sendable {
    case truncated(ByteReaderError)
    case version(UInt32)
    case payloadLength(declared: UInt32, available: Int)
    case payloadUnaligned
    case framing(TLLVError)
    case missingTag(UInt64)
    case wrongSize(tag: UInt64, size: Int)
    case r1Mismatch
    case echoMissing(tag: UInt64)
    case echoAltered(tag: UInt64)
    case echoOutOfOrder(tag: UInt64)
    case unexpectedTag(UInt64)
    /// A word has another value than the only legal one.
    case reservedWord(tag: UInt64, UInt32)
    /// A version, a key type or a level that does not exist.
    case unknownValue(tag: UInt64, UInt64)
    /// The lease and rental of the duration block do not fit its key type.
    case keyTypeContradictsDurations
    /// The duration is 0xFFFFFFFF seconds. Older servers mean no limit by it, but devices read it as a duration.
    case secondsOutOfRange(tag: UInt64)
    /// The CKC has both a duration block and an offline key block. Clients report this as "invalid CKC".
    case durationWithOfflineKey
    /// The block or its value needs an ability that the device did not state in its SPC.
    case beyondAbilities(tag: UInt64)
    /// The CKC uses the R1 or session key for video, but the device has none or the CKC does not name it.
    case videoNotOffered
    case cryptography(CryptoError)
}

/// A detail of a CKC that a device accepts and this server never sends (protocol, sections 1.3, 2.2, 2.3 and 4.2).
package enum CKCRemark: Equatable, Sendable {
    /// The container's reserved word is not 0. Apple's newer server writes its version there.
    case reservedWord(UInt32)
    /// A block was returned with its value but with other padding. Apple's newer server does this.
    case echoPadding(tag: UInt64)
    /// The CKC has the unnamed block of Apple's sample CKCs.
    case sampleBlock
    /// The reserved word of the duration block is not 86d34a3a.
    case durationReservedWord(UInt32)
}
