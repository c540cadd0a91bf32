import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import Records

/// What a backup says of itself: `manifest.json` in its folder.
///
/// One JSON object in one line. Its last two members are about the text before them: `seal`, an HMAC under the node's
/// ledger key, and `digest`, the SHA-256 of everything before it, with the seal. So damage shows without any secret,
/// and a manifest that was altered on purpose shows with the ledger key.
struct BackupManifest: Equatable {
    static let fileName = "manifest.json"
    static let format = "latchkey-backup-1"
    /// The most bytes of a manifest.
    static let sizeMaximum = 1 << 20

    /// The parts of a backup beside the manifest.
    enum Part: String, CaseIterable {
        /// The node's database: keys, decisions and ledger, or beside PostgreSQL the ledger alone.
        case database = "latchkey.db"
        /// The configuration, which holds no secret.
        case configuration = "latchkey.json5"
        /// The files that the configuration names, sealed for the recipients; only with `--recipient`.
        case secrets = "secrets.cms"
    }

    struct File: Equatable {
        var part: Part
        var size: Int64
        /// SHA-256 as hexadecimal digits.
        var digest: String
    }

    /// The version of the program that made the backup.
    var program: String
    /// When the backup began.
    var createdAt: String
    /// What the configuration called the node.
    var label: String
    /// The address of the database of all nodes; nil if the backup holds everything.
    var shared: String?
    /// The number of the schema's last step, and the fewest steps that a program must know.
    var schema: Int64
    var oldestProgram: Int64
    var keyCount: Int64
    var entryCount: Int64
    /// How far the ledger had come, proved under the ledger key.
    var checkpoint: String
    /// The highest time that was trusted, in seconds since 1970.
    var settled: Int64?
    var files: [File]
    var fingerprints: [SecretFingerprint]
}

extension BackupManifest {
    /// The size of `,"seal":"…"` and of `,"digest":"…"}` with a line feed.
    private static let sealSize = #","seal":"""#.utf8.count + 64
    private static let digestSize = #","digest":""}"#.utf8.count + 64 + 1

    /// The text of the file.
    func text(sealedBy chain: LedgerChain) throws(CryptoError) -> [UInt8] {
        var text = Array(JSONWriter.object(expectedSize: 4096, write).dropLast())
        let seal = try chain.seal(text, as: .backup)
        text += Array(#","seal":"\#(Hexadecimal.encode(seal))""#.utf8)
        let digest = try SHA256Digest.of(text)
        text += Array(#","digest":"\#(Hexadecimal.encode(digest))"}"#.utf8) + [UInt8(ascii: "\n")]
        return text
    }

    private func write(to writer: inout JSONWriter) {
        writer.member("format", Self.format)
        writer.member("program", program)
        writer.member("createdAt", createdAt)
        writer.member("label", label)
        writer.member("shared", shared)
        writer.member("schema", schema)
        writer.member("oldestProgram", oldestProgram)
        writer.member("keys", keyCount)
        writer.member("entries", entryCount)
        writer.member("checkpoint", checkpoint)
        writer.member("settled", settled)
        writer.objects("files", files) { writer, file in
            writer.member("name", file.part.rawValue)
            writer.member("size", file.size)
            writer.member("sha256", file.digest)
        }
        writer.objects("secrets", fingerprints) { $1.write(to: &$0) }
    }

    /// Reads the text of a manifest. Returns nil for anything but what a program of this format writes: its own digest
    /// must be right.
    init?(parsing text: [UInt8]) {
        guard text.count > Self.sealSize + Self.digestSize, text.count <= Self.sizeMaximum else { return nil }
        let digested = Array(text.dropLast(Self.digestSize))
        guard let digest = try? SHA256Digest.of(digested),
            text.suffix(Self.digestSize)
                == Array(#","digest":"\#(Hexadecimal.encode(digest))"}"#.utf8)[...] + [UInt8(ascii: "\n")],
            let root = try? JSONReader.parse(text, limits: JSONLimits(sizeMaximum: Self.sizeMaximum)),
            let object = root.object, object["format"]?.string == Self.format
        else { return nil }
        self.init(reading: object)
    }

    private init?(reading object: JSONObject) {
        guard let program = object["program"]?.string, let createdAt = object["createdAt"]?.string,
            let label = object["label"]?.string, let schema = object["schema"]?.number?.signed,
            let oldestProgram = object["oldestProgram"]?.number?.signed,
            let keyCount = object["keys"]?.number?.signed, let entryCount = object["entries"]?.number?.signed,
            let checkpoint = object["checkpoint"]?.string, let files = object["files"]?.array,
            let secrets = object["secrets"]?.array
        else { return nil }
        self.init(
            program: program, createdAt: createdAt, label: label, shared: object["shared"]?.string, schema: schema,
            oldestProgram: oldestProgram, keyCount: keyCount, entryCount: entryCount, checkpoint: checkpoint,
            settled: object["settled"]?.number?.signed,
            files: files.compactMap { $0.object.flatMap(File.init(reading:)) },
            fingerprints: secrets.compactMap { $0.object.flatMap(SecretFingerprint.init(reading:)) })
        guard self.files.count == files.count, fingerprints.count == secrets.count,
            self.files.contains(where: { $0.part == .database }),
            self.files.contains(where: { $0.part == .configuration }), ledger != nil
        else { return nil }
    }

    /// How far the ledger had come; whether the proof holds is asked of the chain.
    var ledger: LedgerCheckpoint? { LedgerCheckpoint(parsing: checkpoint) }

    /// Whether one of the chain's keys sealed the text of a manifest that was read, for this node.
    static func isSealed(_ text: [UInt8], by chain: LedgerChain) throws(CryptoError) -> Bool {
        let sealed = text.dropLast(digestSize)
        guard sealed.count > sealSize,
            let digits = String(validating: sealed.suffix(sealSize), as: UTF8.self)?.split(separator: "\"").last,
            let mac = try? Hexadecimal.decode(String(digits))
        else { return false }
        return try chain.accepts(mac, of: Array(sealed.dropLast(sealSize)), as: .backup)
    }
}

extension BackupManifest.File {
    fileprivate init?(reading object: JSONObject) {
        guard let part = object["name"]?.string.flatMap(BackupManifest.Part.init(rawValue:)),
            let size = object["size"]?.number?.signed, let digest = object["sha256"]?.string
        else { return nil }
        self.init(part: part, size: size, digest: digest)
    }
}
