import ByteCoding
import FairPlay
import KeyCrypto

/// Encrypts payloads into SPCs under keys that never change.
///
/// The RSA keys are new in each process, but only the wrapped key depends on them. It is opened once, so that no input
/// costs a private operation.
final class SPCSealer {
    let crypto: CryptoContext
    let session: FixedSession
    private let containers: [SPCVersion: Container]
    /// The credentials of both ladders: with an application secret the server opens the SK..R1 blocks, otherwise the
    /// module does.
    private let credentials: [Ladder: CredentialSet]

    /// The kind of key ladder.
    enum Ladder: Sendable, CaseIterable {
        case applicationSecret
        case module
    }

    /// The part of an SPC before its payload.
    private struct Container {
        let wrappedKey: [UInt8]
        let certificateHash: CertificateHash
    }

    private static let payloadKey = [UInt8](repeating: 0x4B, count: 16)
    private static let iv = Bytes16(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)

    init() throws {
        crypto = try CryptoContext()
        session = try FixedSession(using: crypto)
        let pair1024 = try Self.makePair(bits: 1024)
        let pair2048 = try Self.makePair(bits: 2048)
        let credential = try Credential(
            name: Self.credentialName, pair1024: pair1024, pair2048: pair2048,
            ladder: .applicationSecret(try FixedSession.ladder()), servesVersion3: true)
        let set = try CredentialSet([credential])
        credentials = [
            .applicationSecret: set, .module: set.connecting([Self.credentialName: .module(EchoingModule(session))]),
        ]
        containers = try Self.containers(pair1024, pair2048, using: crypto)
    }

    private static let credentialName = "fuzz"

    private static func makePair(bits: Int) throws -> Credential.KeyPair {
        let key = try RSAPrivateKey.generate(bits: bits)
        let certificate = try Certificate.makeDevelopment(for: key, commonName: "fuzz", now: 1_700_000_000)
        return try Credential.KeyPair(certificate: certificate, privateKey: key)
    }

    private static func containers(
        _ pair1024: Credential.KeyPair, _ pair2048: Credential.KeyPair, using crypto: CryptoContext
    ) throws -> [SPCVersion: Container] {
        var containers: [SPCVersion: Container] = [:]
        for version in SPCVersion.allCases {
            let certificate = (version == .v1 ? pair1024 : pair2048).certificate
            containers[version] = Container(
                wrappedKey: try certificate.publicKey.encrypt(
                    SecretBytes(copying: payloadKey), padding: version.padding),
                certificateHash: try CertificateHash(version.certificateHash, of: certificate.der, using: crypto))
        }
        return containers
    }

    /// The key that opens SPCs of this version.
    func key(for envelope: SPCEnvelope, ladder: Ladder) throws -> CredentialKey {
        try require(credentials[ladder], "every ladder has its credentials").key(for: envelope)
    }

    // MARK: - Sealing

    /// Makes an SPC with `payload`, which must be whole blocks of 16 bytes.
    func seal(_ payload: [UInt8], version: SPCVersion) throws -> [UInt8] {
        let container = try require(containers[version], "every version has its container")
        let master = SecretBytes(copying: Self.payloadKey)
        var writer = ByteWriter(capacity: 512 + payload.count)
        writer.write(version.rawValue)
        writer.write(UInt32(0))
        switch version {
        case .v1, .v2:
            let encrypted = try crypto.encryptCBC(payload, key: master, iv: Self.iv)
            writer.write(Self.iv)
            write(container, encrypted, to: &writer)
        case .v3:
            let keys = try AuthenticatedPayloadKeys(master: master, using: crypto)
            let encrypted = try crypto.encryptCBC(payload, key: keys.payload, iv: keys.iv)
            writer.write(SPCEnvelope.transportIdentifier)
            write(container, encrypted, to: &writer, lengthPadding: 12)
            writer.write(
                try keys.tag(
                    wrappedKey: container.wrappedKey[...], certificateHash: container.certificateHash.bytes,
                    payload: encrypted[...], using: crypto))
        }
        return writer.bytes
    }

    private func write(
        _ container: Container, _ encrypted: [UInt8], to writer: inout ByteWriter, lengthPadding: Int = 0
    ) {
        writer.write(container.wrappedKey)
        writer.write(container.certificateHash.bytes)
        writer.write([UInt8](repeating: 0, count: lengthPadding))
        writer.write(UInt32(encrypted.count))
        writer.write(encrypted)
    }

    /// Corrects a container's length field, if the message has one.
    func writeLength(of message: inout [UInt8]) {
        guard message.count >= 4, let version = SPCVersion(rawValue: UInt32(message[3])) else { return }
        let offset = 24 + version.wrappedKeySize + version.certificateHash.size + (version == .v3 ? 12 : 0)
        let size = message.count - offset - 4 - version.authenticationTagSize
        guard size >= 0 else { return }
        var writer = ByteWriter(capacity: 4)
        writer.write(UInt32(size & ~15))
        message.replaceSubrange(offset..<offset + 4, with: writer.bytes)
        message.removeLast(size & 15)
    }
}

/// A ladder module that knows one SK..R1 block. It checks its call, and answers immediately with the last key format
/// that the call offers.
struct EchoingModule: LadderModule {
    private let session: FixedSession

    init(_ session: FixedSession) {
        self.session = session
    }

    /// The status of a refusal.
    static let refusal: Int32 = -42

    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        guard Self.isLegal(call) else { throw .failed(status: Self.refusal) }
        guard call.blocks.sessionKeyBlock == session.sessionKeyBlock,
            call.blocks.integrity.bytes == FixedSession.integrity
        else {
            throw .refused(status: Self.refusal)
        }
        return LadderAnswer(
            contentKeyTag: call.keyFormats.last ?? DeviceFacts.keyFormatDefault,
            contentKeyValue: call.content.iv.bytes + call.content.key.bytes.revealed(),
            deviceID: FixedSession.deviceID, r1: SharedSecret(SecretBytes(copying: FixedSession.r1)),
            sessionKeyVersion: call.wanted, r1Version: call.wanted)
    }

    /// Whether the call has the sizes that are guaranteed to modules.
    private static func isLegal(_ call: LadderCall) -> Bool {
        let isVideoLegal =
            (call.blocks.video?.sessionKeyBlock.count ?? 0) <= 256 && (call.blocks.video?.r2.count ?? 0) <= 64
        return call.content.key.bytes.count == 16 && call.blocks.sessionKeyBlock.count == 112
            && call.blocks.r2.count == 21
            && (1...64).contains(call.keyFormats.count) && call.certificateHash.count == 20 && isVideoLegal
            && (call.wanted == .generic || call.blocks.video != nil)
    }
}
