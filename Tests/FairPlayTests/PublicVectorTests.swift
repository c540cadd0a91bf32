import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Apple's public vectors: every SPC opens with the published values, Apple's answers read as published, and the
/// server's own answers open again.
@Suite(.enabled(if: PublicVectors.isPresent, "the folder of public vectors is not there"))
struct PublicVectorTests {
    private let crypto: CryptoContext
    private let opener: SPCOpener
    private let credentials: CredentialSet

    init() throws {
        crypto = try CryptoContext()
        opener = try SPCOpener(using: crypto)
        let pair = try Credential.KeyPair(
            certificate: Certificate(parsing: PublicVectors.read("dev_certificate.der")),
            privateKey: RSAPrivateKey(parsing: PublicVectors.read("dev_private_key.der")))
        let ladder = try ApplicationSecretKeyLadder(
            .fixedDASk, SecretBytes(copying: PublicVectors.fixedDASk()))
        credentials = try CredentialSet([
            Credential(name: "public vectors", pair1024: pair, pair2048: nil, ladder: .applicationSecret(ladder))
        ])
    }

    private func open(_ vector: PublicVector) throws -> (spc: SPC, payloadKey: [UInt8]) {
        let envelope = try SPCEnvelope(parsing: PublicVectors.read(vector.name))
        let key = try credentials.key(for: envelope)
        let job = try opener.unwrapJob(for: envelope, with: key)
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        return (
            try opener.open(envelope, with: key, unwrapped: job, servedVersions: [1]), job.sessionKey.revealed()
        )
    }

    @Test func theCertificateHashesAsPublished() throws {
        let hash = try #require(credentials.credentials.first?.keys.first?.hash)
        #expect(hex(hash.bytes) == "5561980aa51f03aa04bca24556c841a71736c771")
        #expect(credentials.credentials.first?.isDevelopmentMaterial == true)
    }

    @Test(arguments: PublicVector.all)
    func opensWithThePublishedValues(vector: PublicVector) throws {
        let (spc, payloadKey) = try open(vector)
        let keys = try #require(spc.sessionKeys)
        let device = spc.device
        #expect(hex(payloadKey) == vector.payloadKey)
        #expect(hex(keys.revealedSessionKey().bytes) == vector.sessionKey)
        #expect(keys.deviceID.description == vector.deviceID.uppercased())
        #expect(hex(keys.r1) == vector.r1)
        #expect(hex(spc.antiReplaySeed.bytes) == vector.antiReplaySeed)
        #expect(spc.transactionID == vector.transactionID)
        let indicator = spc.blocks.first { $0.tag == TLLVTag.streamingIndicator }
        #expect(
            indicator.map { hex(spc.bytes(in: $0.value)) } == vector.streamingIndicator.map { hex(bigEndianBytes($0)) })
        #expect(device.output == .local)
        #expect(hex(spc.assetID) == vector.assetID)
        #expect(device.protocolVersionUsed == 1)
        #expect(device.protocolVersionsSupported == vector.supportedVersions)
        #expect(spc.returnedBlocks.count == vector.echoCount)
        #expect(device.playbackState?.createdAt == vector.playbackDate)
        #expect(device.playbackState?.sessionID == vector.sessionID)
        #expect(device.playbackState.map { $0.state == .readyToStart } ?? true)
        #expect(device.capabilities.isEmpty)
        if let blockCount = vector.blockCount { #expect(spc.blocks.count == blockCount) }
        let integrity = try #require(spc.blocks.first { $0.tag == TLLVTag.sessionKeyIntegrity })
        #expect(hex(spc.bytes(in: integrity.value)) == vector.integrity)
        let key = try keys.payloadKey(seed: spc.antiReplaySeed, using: crypto)
        #expect(hex(key.revealed()) == vector.licenseKey)
    }

    @Test(arguments: PublicVector.all)
    func readsApplesAnswer(vector: PublicVector) throws {
        let (spc, _) = try open(vector)
        let keys = try #require(spc.sessionKeys)
        let answer = try CKCEnvelope(parsing: PublicVectors.read(vector.answerName))
        #expect(answer.version == 1)
        #expect(answer.reserved == 0)
        let key = try keys.payloadKey(seed: spc.antiReplaySeed, using: crypto)
        let payload = try crypto.decryptCBC(answer.message, in: answer.payload, key: key, iv: answer.iv)
        let blocks = try TLLVBlocks(parsing: payload).blocks

        let contentKey = try #require(blocks.first { $0.tag == TLLVTag.contentKey })
        let wrapped = try keys.wrap(SecretBytes(copying: hex(vector.contentKey)), using: crypto)
        #expect(hex(payload[contentKey.value]) == vector.contentIV + hex(wrapped.bytes))
        let r1 = try #require(blocks.first { $0.tag == TLLVTag.r1 })
        #expect(hex(payload[r1.value]) == vector.r1)
        // Apple's own answers echo the blocks byte for byte, padding included.
        for echo in spc.returnedBlocks {
            let tag = Bytes16(Array(echo.prefix(16)), at: 0).high
            let block = try #require(blocks.first { $0.tag == tag })
            #expect(Array(payload[block.range]) == Array(echo))
        }
        let duration = blocks.first { $0.tag == TLLVTag.contentKeyDuration }.map {
            Bytes16(payload, at: $0.value.lowerBound)
        }
        #expect(duration.map { UInt32(truncatingIfNeeded: $0.high >> 32) } == vector.lease)
        if let duration { #expect(UInt32(truncatingIfNeeded: duration.low >> 32) == 0x1a4b_de7e) }
    }

    /// The secrets of a vector's device, from the published values only.
    private func secrets(_ vector: PublicVector) throws -> RequestSecrets {
        let (spc, payloadKey) = try open(vector)
        let sessionBlock = hex(vector.sessionKey) + hex(vector.deviceID) + hex(vector.r1) + hex(vector.integrity)
        return try RequestSecrets(
            wrappedKey: SharedSecret(SecretBytes(copying: payloadKey)),
            sessionBlock: SharedSecret(SecretBytes(copying: sessionBlock)),
            antiReplaySeed: #require(Bytes16(hex(vector.antiReplaySeed))),
            expectedEchoes: spc.returnedBlocks.map { Array($0) },
            abilities: DeviceAbilities(hasPlaybackState: vector.playbackDate != nil, capabilities: nil))
    }

    /// Devices accept Apple's answers, so `latchkey ckc inspect` must accept them too.
    @Test(arguments: PublicVector.all)
    func applesAnswerOpensAsOnADevice(vector: PublicVector) throws {
        let answer = try PublicVectors.read(vector.answerName)
        let license = try CKCOpener(secrets: secrets(vector), using: crypto).open(answer)
        #expect(hex(license.contentKey.bytes.revealed()) == vector.contentKey)
        #expect(hex(license.contentIV.bytes) == vector.contentIV)
        #expect(license.terms.lease?.value == vector.lease)
        let hasSampleBlock = ["FPS/spc1.bin", "FPS/spc3.bin"].contains(vector.name)
        let expected: [CKCRemark] =
            (hasSampleBlock ? [.sampleBlock] : [])
            + (vector.lease == nil ? [] : [.durationReservedWord(0)])
        #expect(license.remarks == expected)
    }

    @Test(arguments: PublicVector.all)
    func ourAnswerOpensAgainWithTheKey(vector: PublicVector) throws {
        let (spc, _) = try open(vector)
        let lease = vector.lease.flatMap { LicenseSeconds(UInt64($0)) }
        let terms = LicenseTerms(validity: lease.map { .duration(.lease($0)) } ?? .session)
        let iv = try #require(Bytes16(hex(vector.contentIV)))
        let keys = try #require(spc.sessionKeys)
        let wrapped = try keys.wrap(SecretBytes(copying: hex(vector.contentKey)), using: crypto)
        let answer = try CKCWriter.write(
            for: spc, contentKey: .here(keys, iv: iv, wrapped: wrapped), terms: terms, using: crypto)

        let license = try CKCOpener(secrets: secrets(vector), using: crypto).open(answer)
        #expect(license.remarks.isEmpty)
        #expect(hex(license.contentKey.bytes.revealed()) == vector.contentKey)
        #expect(license.contentIV == iv)
        #expect(license.terms == terms)
    }
}
