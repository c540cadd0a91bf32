import ByteCoding
package import FairPlay
package import KeyCrypto

/// The other side of the protocol: makes genuine SPCs for a server whose application secret it shares.
///
/// It can open only the answers to SPCs that it made itself. It cannot obtain keys from a server whose secret it does not have.
package final class SimulatedDevice {
    private let certificate: Certificate
    private let ladder: ApplicationSecretKeyLadder
    private let crypto: CryptoContext

    /// `certificate` is the one that session keys are wrapped for: 1024 bits for version 1, 2048 bits for version 2.
    package init(certificate: Certificate, ladder: ApplicationSecretKeyLadder, using crypto: CryptoContext) {
        self.certificate = certificate
        self.ladder = ladder
        self.crypto = crypto
    }

    /// A fresh SPC.
    package func makeRequest(_ options: DeviceOptions) throws(CryptoError) -> DeviceRequest {
        let draft = try makeDraft(options)
        return DeviceRequest(message: try seal(draft), secrets: draft.secrets)
    }

    /// An SPC with a fault: in its container, or in a payload that is encrypted again.
    package func makeRequest(_ options: DeviceOptions, with fault: SPCFault) throws(CryptoError) -> DeviceRequest {
        var draft = try makeDraft(options)
        try fault.apply(to: &draft, using: crypto)
        var message = try seal(draft)
        fault.apply(toMessage: &message, version: options.version)
        return DeviceRequest(message: message, secrets: draft.secrets)
    }

    private func makeDraft(_ options: DeviceOptions) throws(CryptoError) -> SPCDraft {
        let sessionBlock = try makeSessionBlock(options)
        let r2 = Array(try crypto.randomBytes(count: 21))
        let dask = try ladder.deriveDASk(r2: r2[...], using: crypto)
        let sessionIV = try crypto.randomBytes16()
        let encrypted = try crypto.encryptCBC(secret: sessionBlock, key: dask, iv: sessionIV)
        let seed = try crypto.randomBytes16()

        let random = try crypto.randomBytes16()
        let transactionID = options.transactionID ?? random.low

        var blocks = try optionalBlocks(options)
        blocks += [
            DeviceBlock(TLLVTag.sessionKeyBlock, sessionIV.bytes + encrypted),
            DeviceBlock(TLLVTag.sessionKeyIntegrity, sessionBlock.copy(80..<96).revealed()),
            DeviceBlock(TLLVTag.antiReplaySeed, seed.bytes),
            DeviceBlock(TLLVTag.r2, r2, extraBlocks: 10),
            DeviceBlock(TLLVTag.assetID, options.assetID),
            DeviceBlock(TLLVTag.transactionID, bigEndian(transactionID)),
            DeviceBlock(
                TLLVTag.protocolVersionsSupported, options.protocolVersionsSupported.flatMap { bigEndian($0) }),
            DeviceBlock(TLLVTag.protocolVersionUsed, bigEndian(options.protocolVersionUsed)),
        ]
        let returned = options.returnRequest ?? defaultReturnRequest(of: blocks)
        blocks.append(DeviceBlock(TLLVTag.tagReturnRequest, returned.flatMap { bigEndian($0) }))
        if options.shufflesBlocks { try shuffle(&blocks) }

        let ownHash = try crypto.sha1(certificate.der, in: 0..<certificate.der.count)
        let rawBlocks = try blocks.map { (block) throws(CryptoError) in try RawBlock(block, using: crypto) }
        return SPCDraft(
            version: options.version, iv: try crypto.randomBytes16(),
            certificateHash: options.certificateHash?.bytes ?? ownHash,
            blocks: rawBlocks,
            secrets: try RequestSecrets(
                payloadKey: .random(count: 16), sessionBlock: sessionBlock, antiReplaySeed: seed,
                expectedEchoes: echoes(of: returned, in: rawBlocks)))
    }

    /// SK, HU, R1 and the integrity bytes: random but for a HU that is asked for.
    private func makeSessionBlock(_ options: DeviceOptions) throws(CryptoError) -> SecretBytes {
        let random = try SecretBytes.random(count: 96)
        guard let deviceID = options.deviceID else { return random }
        guard deviceID.count == 20 else { throw .wrongSize(expected: 20, actual: deviceID.count) }
        var bytes = random.revealed()
        bytes.replaceSubrange(16..<36, with: deviceID)
        return SecretBytes(copying: bytes)
    }

    private func optionalBlocks(_ options: DeviceOptions) throws(CryptoError) -> [DeviceBlock] {
        var blocks = options.otherBlocks
        if let indicator = options.streamingIndicator {
            blocks.append(DeviceBlock(TLLVTag.streamingIndicator, bigEndian(indicator)))
        }
        if let state = options.playbackState {
            let value = bigEndian(state.createdAt) + bigEndian(state.state.rawValue) + bigEndian(state.sessionID)
            blocks.append(DeviceBlock(TLLVTag.mediaPlaybackState, value))
        }
        if let capabilities = options.capabilities {
            blocks.append(
                DeviceBlock(TLLVTag.capabilities, bigEndian(UInt64(0)) + bigEndian(capabilities.rawValue)))
        }
        blocks += options.knownBlocks
        for _ in 0..<options.unknownBlockCount {
            let tag = try crypto.randomBytes16().high
            let size = try crypto.randomIndex(below: 64)
            blocks.append(DeviceBlock(tag, Array(try crypto.randomBytes(count: size))))
        }
        return blocks
    }

    private func defaultReturnRequest(of blocks: [DeviceBlock]) -> [UInt64] {
        [TLLVTag.assetID, TLLVTag.transactionID]
            + blocks.map(\.tag).filter { TLLVTag.name(of: $0) == nil }
    }

    private func echoes(of tags: [UInt64], in blocks: [RawBlock]) -> [[UInt8]] {
        var seen: Set<UInt64> = []
        return tags.compactMap { tag in
            guard seen.insert(tag).inserted else { return nil }
            return blocks.first { $0.tag == tag }?.bytes
        }
    }

    private func shuffle(_ blocks: inout [DeviceBlock]) throws(CryptoError) {
        for index in blocks.indices.dropFirst() {
            blocks.swapAt(index, try crypto.randomIndex(below: 256) % (index + 1))
        }
    }

    /// Encrypts the payload, wraps its key and puts the container around them (protocol, section 1.1).
    private func seal(_ draft: SPCDraft) throws(CryptoError) -> [UInt8] {
        let payload = draft.blocks.flatMap(\.bytes)
        let padded = payload + [UInt8](repeating: 0, count: (16 - payload.count % 16) % 16)
        let encrypted = try crypto.encryptCBC(padded, key: draft.secrets.payloadKey, iv: draft.iv)
        let wrapped =
            switch draft.wrappedMessage {
            case .none:
                try certificate.publicKey.encrypt(draft.secrets.payloadKey, padding: draft.version.padding)
            case .some(let message):
                try certificate.publicKey.encrypt(SecretBytes(copying: message), padding: draft.version.padding)
            }
        var message = ByteWriter(capacity: 304 + encrypted.count)
        message.write(draft.version.rawValue)
        message.write(UInt32(0))
        message.write(draft.iv)
        message.write(wrapped)
        message.write(draft.certificateHash)
        message.write(UInt32(encrypted.count))
        message.write(encrypted)
        return message.bytes
    }
}

extension DeviceOptions {
    /// The known blocks whose values are given as bytes.
    fileprivate var knownBlocks: [DeviceBlock] {
        let formats = supportedKeyFormats.map { formats in
            bigEndian(UInt32(1)) + bigEndian(UInt32(0)) + bigEndian(UInt32(formats.count))
                + formats.flatMap { bigEndian($0) }
        }
        let values: [(UInt64, [UInt8]?)] = [
            (TLLVTag.deviceIdentity, deviceIdentity), (TLLVTag.deviceInfo, deviceInfo),
            (TLLVTag.kextDenyListVersion, kextDenyListVersion.map { bigEndian($0) }),
            (TLLVTag.securityLevelReport, securityLevelReport), (TLLVTag.supportedKeyFormats, formats),
            (TLLVTag.virtualMachineInfo, virtualMachineInfo), (TLLVTag.sync, sync),
            (TLLVTag.sessionKeyBlockVideo, sessionKeyBlockVideo), (TLLVTag.r2Video, r2Video),
        ]
        return values.compactMap { tag, value in value.map { DeviceBlock(tag, $0) } }
    }
}

/// An SPC that was made here, and what opens its answer.
package struct DeviceRequest: Sendable {
    package let message: [UInt8]
    package let secrets: RequestSecrets
}

/// An SPC before it is encrypted.
struct SPCDraft {
    let version: SPCVersion
    let iv: Bytes16
    var certificateHash: [UInt8]
    var blocks: [RawBlock]
    let secrets: RequestSecrets
    /// What is wrapped in place of the payload key, by the fault that wants another size.
    var wrappedMessage: [UInt8]?
}

/// A block as bytes, so that a fault can be in its framing.
struct RawBlock {
    let tag: UInt64
    var bytes: [UInt8]

    init(_ block: DeviceBlock, using crypto: CryptoContext) throws(CryptoError) {
        tag = block.tag
        var writer = TLLVWriter(using: crypto)
        try writer.write(block.tag, block.value, extraBlocks: block.extraBlocks)
        bytes = writer.payload.bytes
    }
}

func bigEndian(_ value: UInt32) -> [UInt8] {
    var writer = ByteWriter(capacity: 4)
    writer.write(value)
    return writer.bytes
}

func bigEndian(_ value: UInt64) -> [UInt8] {
    var writer = ByteWriter(capacity: 8)
    writer.write(value)
    return writer.bytes
}
