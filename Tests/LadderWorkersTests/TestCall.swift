import ByteCoding
import FairPlay
import KeyCrypto
import TestSupport

/// A call that a stand-in module with this application secret can answer, with the right answer to it.
struct TestCall: Sendable {
    static let applicationSecret = [UInt8](0x10...0x1F)
    static let usualKeyFormat: UInt64 = 0x58b3_8165_af0e_3d5a

    let call: LadderCall
    let deviceID: [UInt8]
    let r1: [UInt8]
    /// The IV and AES-ECB(SK, content key). `videoValue` is the same with the video session key.
    let value: [UInt8]
    let videoR1: [UInt8]
    let videoValue: [UInt8]

    /// Makes a call. A fault is put into its key formats. If `isGenuine` is false, its integrity is wrong and the
    /// module refuses it.
    init(fault: StandInFault? = nil, isGenuine: Bool = true, wanted: SessionKeyVersion = .generic) throws {
        let crypto = try CryptoContext()
        let ladder = try ApplicationSecretKeyLadder(
            .applicationSecret, SecretBytes(copying: Self.applicationSecret))
        let integrity = try crypto.randomBytes16()
        let plain = try Self.plainBlock(integrity, crypto)
        let videoPlain = try Self.plainBlock(integrity, crypto)
        let r2 = Array(try crypto.randomBytes(count: 21))
        let videoR2 = Array(try crypto.randomBytes(count: 40))
        let key = try SecretBytes.random(count: 16)
        let iv = try crypto.randomBytes16()
        value = try iv.bytes + crypto.encryptBlock(secret: key, key: SecretBytes(copying: plain)).bytes
        videoValue = try iv.bytes + crypto.encryptBlock(secret: key, key: SecretBytes(copying: videoPlain)).bytes
        deviceID = Array(plain[16..<36])
        r1 = Array(plain[36..<80])
        videoR1 = Array(videoPlain[36..<80])
        call = LadderCall(
            content: .init(key: SharedSecret(key), iv: iv, kind: .video),
            blocks: .init(
                sessionKeyBlock: try Self.encrypted(plain, r2, ladder, crypto), r2: r2,
                integrity: isGenuine ? integrity : Bytes16(high: ~integrity.high, low: integrity.low),
                video: .init(sessionKeyBlock: try Self.encrypted(videoPlain, videoR2, ladder, crypto), r2: videoR2)),
            keyFormats: [fault?.keyFormat ?? Self.usualKeyFormat, 1], protocolVersionUsed: 1,
            certificateHash: Array(try crypto.randomBytes(count: 20)),
            wanted: wanted)
    }

    /// Whether an answer is right.
    func isAnswered(by answer: LadderAnswer) -> Bool {
        answer.contentKeyTag == Self.usualKeyFormat && answer.contentKeyValue == value
            && answer.deviceID.bytes == deviceID && answer.r1.bytes.revealed() == r1
            && answer.sessionKeyVersion == .generic && answer.r1Version == .generic
    }

    private static func plainBlock(_ integrity: Bytes16, _ crypto: CryptoContext) throws -> [UInt8] {
        Array(try crypto.randomBytes(count: 80)) + integrity.bytes
    }

    private static func encrypted(
        _ plain: [UInt8], _ r2: [UInt8], _ ladder: ApplicationSecretKeyLadder, _ crypto: CryptoContext
    ) throws -> [UInt8] {
        let iv = try crypto.randomBytes16()
        let dask = try ladder.deriveDASk(r2: r2[...], using: crypto)
        return try iv.bytes + crypto.encryptCBC(plain, key: dask, iv: iv)
    }
}

/// Makes module data from text.
enum SharedData {
    static func secret(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array(text.utf8)))
    }
}
