import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Apple's public vectors: every SPC opens with the published values, Apple's answers read as published, and ours open again.
@Suite(.enabled(if: PublicVectors.isPresent, "the folder of public vectors is not there"))
struct PublicVectorTests {
    private let crypto: CryptoContext
    private let opener: SPCOpener
    private let credentials: CredentialSet

    init() throws {
        crypto = try CryptoContext()
        opener = try SPCOpener(using: crypto, servedVersions: [1])
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
        return (try opener.open(envelope, with: key, unwrapped: job), job.sessionKey.revealed())
    }

    @Test func theCertificateHashesAsPublished() throws {
        let hash = try #require(credentials.credentials.first?.keys.first?.hash)
        #expect(hex(hash.bytes) == "5561980aa51f03aa04bca24556c841a71736c771")
        #expect(credentials.credentials.first?.isDevelopmentMaterial == true)
    }

    @Test(arguments: PublicVector.all)
    func opensWithThePublishedValues(vector: PublicVector) throws {
        let (spc, payloadKey) = try open(vector)
        #expect(hex(payloadKey) == vector.payloadKey)
        #expect(hex(spc.sessionKeys.revealedSessionKey().bytes) == vector.sessionKey)
        #expect(spc.deviceID.description == vector.deviceID.uppercased())
        #expect(hex(spc.sessionKeys.r1) == vector.r1)
        #expect(hex(spc.antiReplaySeed.bytes) == vector.antiReplaySeed)
        #expect(spc.transactionID == vector.transactionID)
        #expect(spc.streamingIndicator == vector.streamingIndicator)
        #expect(hex(spc.assetID) == vector.assetID)
        #expect(spc.protocolVersionUsed == 1)
        #expect(spc.protocolVersionsSupported == vector.supportedVersions)
        #expect(spc.returnedBlocks.count == vector.echoCount)
        #expect(spc.playbackState?.createdAt == vector.playbackDate)
        #expect(spc.playbackState?.sessionID == vector.sessionID)
        #expect(spc.playbackState.map { $0.state == .readyToStart } ?? true)
        #expect(spc.capabilities.isEmpty)
        if let blockCount = vector.blockCount { #expect(spc.blocks.count == blockCount) }
        let integrity = try #require(spc.blocks.first { $0.tag == TLLVTag.sessionKeyIntegrity })
        #expect(hex(spc.bytes(in: integrity.value)) == vector.integrity)
        let key = try spc.sessionKeys.payloadKey(seed: spc.antiReplaySeed, using: crypto)
        #expect(hex(key.revealed()) == vector.licenseKey)
    }

    @Test(arguments: PublicVector.all)
    func readsApplesAnswer(vector: PublicVector) throws {
        let (spc, _) = try open(vector)
        let answer = try CKCEnvelope(parsing: PublicVectors.read(vector.answerName))
        #expect(answer.version == 1)
        #expect(answer.reserved == 0)
        let key = try spc.sessionKeys.payloadKey(seed: spc.antiReplaySeed, using: crypto)
        let payload = try crypto.decryptCBC(answer.message, in: answer.payload, key: key, iv: answer.iv)
        let blocks = try TLLVBlocks(parsing: payload).blocks

        let contentKey = try #require(blocks.first { $0.tag == TLLVTag.contentKey })
        let wrapped = try spc.sessionKeys.wrap(SecretBytes(copying: hex(vector.contentKey)), using: crypto)
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

    @Test(arguments: PublicVector.all)
    func ourAnswerOpensAgainWithTheKey(vector: PublicVector) throws {
        let (spc, payloadKey) = try open(vector)
        let lease = vector.lease.flatMap { LicenseSeconds(UInt64($0)) }
        let terms = LicenseTerms(duration: lease.map { .lease($0) })
        let iv = try #require(Bytes16(hex(vector.contentIV)))
        let answer = try CKCWriter.write(
            for: spc, contentKey: SecretBytes(copying: hex(vector.contentKey)), iv: iv, terms: terms, using: crypto)

        // What the device of this vector knows, from the published values alone.
        let sessionBlock = hex(vector.sessionKey) + hex(vector.deviceID) + hex(vector.r1) + hex(vector.integrity)
        let secrets = try RequestSecrets(
            payloadKey: SecretBytes(copying: payloadKey), sessionBlock: SecretBytes(copying: sessionBlock),
            antiReplaySeed: #require(Bytes16(hex(vector.antiReplaySeed))),
            expectedEchoes: spc.returnedBlocks.map { Array($0) })
        let license = try CKCOpener(secrets: secrets, using: crypto).open(answer)
        #expect(hex(license.contentKey.bytes.revealed()) == vector.contentKey)
        #expect(license.contentIV == iv)
        #expect(license.terms == terms)
    }
}
