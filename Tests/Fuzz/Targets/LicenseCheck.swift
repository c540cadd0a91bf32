import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// Checks that a CKC is the answer to an SPC, by opening it with the device's secrets.
struct LicenseCheck {
    let spc: SPC
    let wrapped: WrappedContentKey
    let contentKey: SharedSecret
    let contentIV: Bytes16
    let terms: LicenseTerms
    /// Whether the SPC has the fixed session.
    let knowsSession: Bool
    let crypto: CryptoContext

    func run(_ message: [UInt8]) throws {
        let envelope = try CKCEnvelope(parsing: message)
        try require(envelope.version == wrapped.licenseVersion && envelope.reserved == 0, "the header fits a CKC")
        let payload = try decrypt(envelope)
        let framing = TLLVFraming(payload)
        try require(framing.error == nil, "the payload is a row of blocks: \(String(describing: framing.error))")
        try framing.check(payload)
        let echoes = spc.returnedBlocks
        let own = framing.blocks.dropLast(echoes.count)
        try require(Set(own.map(\.tag)) == ownTags, "the CKC's own blocks are those of its terms")
        for (block, echo) in zip(framing.blocks.suffix(echoes.count), echoes) {
            try require(payload[block.range].elementsEqual(echo), "an echo equals the received block")
        }
        if knowsSession, ownTags.contains(TLLVTag.contentKey) { try checkAsDevice(message) }
    }

    /// Checks that the device's reader, which is separate from the server's code, opens the CKC and reads the same
    /// terms.
    private func checkAsDevice(_ message: [UInt8]) throws {
        let device = spc.device
        let tags = spc.blocks.filter { !$0.value.isEmpty }.map(\.tag)
        let abilities = DeviceAbilities(
            hasPlaybackState: device.playbackState != nil,
            capabilities: tags.contains(TLLVTag.capabilities) ? device.capabilities : nil,
            offersVideoSessionKey: tags.contains(TLLVTag.sessionKeyBlockVideo) && tags.contains(TLLVTag.r2Video))
        let secrets = try RequestSecrets(
            wrappedKey: SharedSecret(SecretBytes(count: 16)),
            sessionBlock: SharedSecret(SecretBytes(copying: FixedSession.plain)), antiReplaySeed: spc.antiReplaySeed,
            expectedEchoes: spc.returnedBlocks.map(Array.init), abilities: abilities)
        let opened = try CKCOpener(secrets: secrets, using: crypto).open(message)
        try require(opened.terms == terms, "the device reads the terms that were written")
        try require(opened.contentIV == contentIV, "the device reads the IV")
        // The module of the fuzz targets does not encrypt the key.
        guard case .here = wrapped else { return }
        try require(opened.contentKey.bytes.isEqual(to: contentKey.bytes), "the device reads the key")
    }

    /// Decrypts the payload. Its key is AES-ECB(SHA-1(R1)[0..<16], anti-replay seed).
    private func decrypt(_ envelope: CKCEnvelope) throws -> [UInt8] {
        let r1 = SecretBytes(copying: spc.sessionKeys?.r1 ?? FixedSession.r1)
        let antiReplayKey = try crypto.sha1Key(of: r1, in: 0..<r1.count)
        let key = try crypto.deriveKey(from: spc.antiReplaySeed, key: antiReplayKey)
        return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: key, iv: envelope.iv)
    }

    private var ownTags: Set<UInt64> {
        var tags: Set = [TLLVTag.r1]
        switch wrapped {
        case .here: tags.insert(TLLVTag.contentKey)
        case .module(let answer): tags.formUnion([answer.contentKeyTag, TLLVTag.sessionKeyVersionUsed])
        }
        switch terms.validity {
        case .session: break
        case .duration: tags.insert(TLLVTag.contentKeyDuration)
        case .offlineKey: tags.insert(TLLVTag.offlineKey)
        }
        if terms.hdcp != nil { tags.insert(TLLVTag.hdcpEnforcement) }
        if terms.securityLevel != nil { tags.insert(TLLVTag.requiredSecurityLevel) }
        return tags
    }
}
