import ByteCoding
import DeviceSimulation
import KeyCrypto
import LatchkeyService

/// What `latchkey device` keeps of an SPC that it made, as a file: JSON, readable by its owner alone.
///
/// It belongs to one SPC, which it names by its SHA-256. With it that SPC and the CKC that answers it can be looked into; it opens
/// nothing that another device sent or received.
struct RequestSecretsFile {
    static let format = "latchkey-request-secrets-1"
    private static let limits = JSONLimits(sizeMaximum: 1 << 20, depthMaximum: 4)

    /// 32 bytes.
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
            throw .failed("\(path) is a damaged secrets file; make a new SPC with it")
        }
        self.spcHash = spcHash
        self.secrets = secrets
    }

    /// Whether a text says of itself that it is such a file.
    static func isMarked(_ bytes: [UInt8]) -> Bool {
        object(in: bytes)?["format"]?.string == format
    }

    func write(to path: String) throws(CommandError) {
        let bytes = JSONWriter.object { writer in
            writer.member("format", Self.format)
            writer.member("spcSHA256", Hexadecimal.encode(spcHash))
            writer.member("payloadKey", Hexadecimal.encode(secrets.payloadKey.revealed()))
            writer.member("sessionBlock", Hexadecimal.encode(secrets.sessionBlock.revealed()))
            writer.member("antiReplaySeed", Hexadecimal.encode(secrets.antiReplaySeed.bytes))
            writer.name("expectedEchoes")
            writer.array { writer in for echo in secrets.expectedEchoes { writer.string(Hexadecimal.encode(echo)) } }
        }
        try CommandFile.write(bytes + [UInt8(ascii: "\n")], to: path, isSecret: true)
    }

    /// Refuses any SPC but the one that these secrets were made with.
    func check(belongsTo spc: [UInt8], _ path: String) throws(CommandError) {
        guard try Self.hash(spc) == spcHash else {
            throw .failed(
                "\(path) is not the SPC that these secrets were made with; each secrets file opens only its own")
        }
    }

    private static func hash(_ bytes: [UInt8]) throws(CommandError) -> [UInt8] {
        try Cryptography.attempt { () throws(CryptoError) in try CryptoContext().sha256(bytes) }
    }

    private static func object(in bytes: [UInt8]) -> JSONObject? {
        (try? JSONReader.parse(bytes, limits: limits))?.object
    }

    private static func secrets(in object: JSONObject) -> RequestSecrets? {
        guard let payloadKey = bytes(object["payloadKey"]), payloadKey.count == 16,
            let sessionBlock = bytes(object["sessionBlock"]), sessionBlock.count == 96,
            let seed = bytes(object["antiReplaySeed"]).flatMap({ Bytes16($0) }),
            let elements = object["expectedEchoes"]?.array
        else { return nil }
        // An echo is a whole block: a header of 16 bytes at least.
        let echoes = elements.compactMap(bytes).filter { $0.count >= 16 }
        guard echoes.count == elements.count else { return nil }
        return try? RequestSecrets(
            payloadKey: SecretBytes(copying: payloadKey), sessionBlock: SecretBytes(copying: sessionBlock),
            antiReplaySeed: seed, expectedEchoes: echoes)
    }

    private static func bytes(_ node: JSONNode?) -> [UInt8]? {
        node?.string.flatMap { try? Hexadecimal.decode($0) }
    }
}
