package import ByteCoding
package import FairPlay
package import KeyCrypto

/// What a device learns from a CKC whose every part holds.
package struct OpenedLicense: Sendable {
    /// 16 bytes.
    package let contentKey: SharedSecret
    package let contentIV: Bytes16
    package let terms: LicenseTerms
    /// 1, or 2 if the R1 for video came back.
    package let version: UInt32
    /// The session key that wraps the content key, if an external module said so.
    package let sessionKeyVersion: SessionKeyVersion?
    /// What a device accepts in this CKC, and this server never sends; empty for each of its own CKCs.
    package let remarks: [CKCRemark]
}

/// Opens a CKC as strictly as a device, for an SPC that was made here.
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

    /// The SK..R1 block whose R1 comes back: version 2 brings the one for video.
    private func session(of envelope: CKCEnvelope) throws(CKCFault) -> SharedSecret {
        switch envelope.version {
        case 1: return secrets.sessionBlock
        case 2:
            guard secrets.abilities.offersVideoSessionKey else { throw .videoNotOffered }
            return secrets.videoSessionBlock ?? secrets.sessionBlock
        case let version: throw .version(version)
        }
    }

    /// Modules alone say which session key they used, and always with version 2.
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
