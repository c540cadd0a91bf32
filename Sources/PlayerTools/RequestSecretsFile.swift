import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The secrets of an SPC that `latchkey device` made, as a file: JSON that only its owner can read.
///
/// It belongs to one SPC, which it names by its SHA-256. It opens that SPC and the CKC that answers it, and no message
/// of another device.
struct RequestSecretsFile {
    static let format = "latchkey-request-secrets-1"
    private static let limits = JSONLimits(sizeMaximum: 1 << 20, depthMaximum: 4)

    /// The SHA-256 of the SPC, 32 bytes.
    let spcHash: [UInt8]
    let secrets: RequestSecrets

    init(_ request: DeviceRequest) throws(CommandError) {
        spcHash = try Self.hash(request.message)
        secrets = request.secrets
    }

    /// Reads the file at `path`.
    init(path: String) throws(CommandError) {
        let bytes = try CommandFile.read(path).revealed()
        guard let object = Self.object(in: bytes), object["format"]?.string == Self.format else {
            throw .failed("\(path) is not a secrets file of latchkey device; it is \(FileKind(bytes))")
        }
        guard let spcHash = Self.bytes(object["spcSHA256"]), let secrets = Self.secrets(in: object) else {
            throw .failed("\(path) is a damaged secrets file; make a new SPC and a new file")
        }
        self.spcHash = spcHash
        self.secrets = secrets
    }

    /// Whether a text has the mark of such a file.
    static func isMarked(_ bytes: [UInt8]) -> Bool {
        object(in: bytes)?["format"]?.string == format
    }

    func write(to path: String) throws(CommandError) {
        let bytes = JSONWriter.object { writer in
            writer.member("format", Self.format)
            writer.member("spcSHA256", Hexadecimal.encode(spcHash))
            writer.member("wrappedKey", Hexadecimal.encode(secrets.wrappedKey.bytes.revealed()))
            writer.member("sessionBlock", Hexadecimal.encode(secrets.sessionBlock.bytes.revealed()))
            writer.member(
                "videoSessionBlock", secrets.videoSessionBlock.map { Hexadecimal.encode($0.bytes.revealed()) })
            writer.member("antiReplaySeed", Hexadecimal.encode(secrets.antiReplaySeed.bytes))
            writer.member("expectedEchoes", secrets.expectedEchoes.map { Hexadecimal.encode($0) })
            writer.member("hasPlaybackState", secrets.abilities.hasPlaybackState)
            writer.member("capabilities", secrets.abilities.capabilities.map { hexadecimal($0.rawValue) })
            writer.member("offersVideoSessionKey", secrets.abilities.offersVideoSessionKey)
        }
        try CommandFile.write(bytes + [UInt8(ascii: "\n")], to: path, isSecret: true)
    }

    /// Throws if the SPC is not the one that these secrets belong to.
    func check(belongsTo spc: [UInt8], _ path: String) throws(CommandError) {
        guard try Self.hash(spc) == spcHash else {
            throw .failed(
                "\(path) is not the SPC that these secrets belong to; each secrets file opens only its own SPC")
        }
    }

    private static func hash(_ bytes: [UInt8]) throws(CommandError) -> [UInt8] {
        try wrap(CommandError.cryptography, try CryptoContext().sha256(bytes))
    }

    private static func object(in bytes: [UInt8]) -> JSONObject? {
        (try? JSONReader.parse(bytes, limits: limits))?.object
    }

    private static func secrets(in object: JSONObject) -> RequestSecrets? {
        guard let wrappedKey = secret(object["wrappedKey"], size: 16),
            let sessionBlock = secret(object["sessionBlock"], size: 96),
            let seed = bytes(object["antiReplaySeed"]).flatMap({ Bytes16($0) }),
            let elements = object["expectedEchoes"]?.array, let abilities = abilities(in: object)
        else { return nil }
        // An echo is a whole block, which has a header of 16 bytes.
        let echoes = elements.compactMap(bytes).filter { $0.count >= 16 }
        guard echoes.count == elements.count else { return nil }
        return try? RequestSecrets(
            wrappedKey: wrappedKey, sessionBlock: sessionBlock,
            videoSessionBlock: secret(object["videoSessionBlock"], size: 96), antiReplaySeed: seed,
            expectedEchoes: echoes, abilities: abilities)
    }

    private static func abilities(in object: JSONObject) -> DeviceAbilities? {
        guard let hasPlaybackState = object["hasPlaybackState"]?.bool,
            let offersVideoSessionKey = object["offersVideoSessionKey"]?.bool, let capabilities = object["capabilities"]
        else { return nil }
        let bits = capabilities.string.flatMap { UInt64($0, radix: 16) }
        guard bits != nil || capabilities.isNull else { return nil }
        return DeviceAbilities(
            hasPlaybackState: hasPlaybackState, capabilities: bits.map { Capabilities(rawValue: $0) },
            offersVideoSessionKey: offersVideoSessionKey)
    }

    private static func secret(_ node: JSONNode?, size: Int) -> SharedSecret? {
        guard let bytes = bytes(node), bytes.count == size else { return nil }
        return SharedSecret(SecretBytes(copying: bytes))
    }

    private static func bytes(_ node: JSONNode?) -> [UInt8]? {
        node?.string.flatMap { try? Hexadecimal.decode($0) }
    }
}
