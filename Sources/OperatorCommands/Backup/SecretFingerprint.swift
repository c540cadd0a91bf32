import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration

/// Tells whether a file that the configuration names holds what it held when a backup was made, and nothing else of it.
///
/// Of a key it is an HMAC under the key itself: all keys are too many to try. What a person may have chosen, such as a
/// password, could be found by trying, so of that it is an HMAC under the node's ledger key.
struct SecretFingerprint: Equatable {
    /// Who needs the file.
    enum Need: String, CaseIterable {
        /// What is stored was made with it, and the daemon does not start with another one.
        case store
        /// It was in use before, and only what is old may need it still.
        case former
        /// Devices and players know its public part.
        case devices
        /// Anything else; it may be replaced at any time.
        case other
    }

    /// What it is the fingerprint of. A key that is replaced keeps its name, and so has a name with the key before it.
    let name: String
    let need: Need
    /// Whether it is an HMAC under the key itself, and can be compared without the ledger key of the backup.
    let isOfKey: Bool
    /// Whether the file could be read.
    let isThere: Bool
    /// 16 bytes as hexadecimal digits; nil if the file could not be read, or if the ledger key is missing for it.
    let value: String?

    /// The size in bytes.
    private static let size = 16
    /// The sizes of keys that configurations know, in bytes.
    private static let keySizes = [32, 16]

    /// Throws `operationFailed` if OpenSSL fails.
    ///
    /// Without a chain there are only those of keys.
    init(
        _ file: NamedFile, in configuration: Configuration, _ chain: LedgerChain?, _ contents: SharedSecret?
    ) throws(CryptoError) {
        name = Self.name(of: file.field, in: configuration)
        need = Self.need(of: file.field)
        isOfKey = Self.isKey(file)
        isThere = contents != nil
        guard let contents else {
            value = nil
            return
        }
        let secret = Self.spelled(contents)
        let text = [0] + Array("latchkey backup 1 \(name)".utf8)
        let code: [UInt8]?
        if isOfKey {
            code = try HMACSHA256Key(secret).code(for: text[...])
        } else {
            code = try secret.withWipedArray { bytes throws(CryptoError) in
                try chain?.seal(text + [0] + bytes, as: .fingerprint)
            }
        }
        value = code.map { Hexadecimal.encode($0.prefix(Self.size)) }
    }

    /// A key that is written in another form, or with another line end, is the same key.
    private static func spelled(_ contents: SharedSecret) -> SecretBytes {
        for size in keySizes {
            if let key = EncodedSecret.decode(contents.bytes, size: size) { return key }
        }
        return contents.bytes.withoutTrailingWhiteSpace() ?? contents.bytes.copy()
    }

    private static func isKey(_ file: NamedFile) -> Bool {
        switch need(of: file.field) {
        case .store, .former: true
        case .devices: file.isSecret && !file.field.hasSuffix("Passphrase")
        case .other: false
        }
    }

    private static func need(of field: String) -> Need {
        switch field {
        case "keys.keyEncryptionKey", "keys.masterSecret", "ledger.key", "ledger.pseudonymKey",
            "entitlement.sessions.key":
            .store
        case "entitlement.sessions.retiredKeys": .former
        default:
            if field.hasPrefix("keys.olderKeyEncryptionKeys[") || field.hasPrefix("ledger.olderKeys[") {
                .former
            } else {
                field.hasPrefix("fairplay.credentials[") ? .devices : .other
            }
        }
    }

    private static func name(of field: String, in configuration: Configuration) -> String {
        if field.hasPrefix("keys.olderKeyEncryptionKeys[") { return "keys.keyEncryptionKey" }
        if field.hasPrefix("ledger.olderKeys[") { return "ledger.key" }
        if field == "entitlement.sessions.retiredKeys" { return "entitlement.sessions.key" }
        let credentials = configuration.fairplay.credentials
        for (index, credential) in credentials.enumerated() {
            let prefix = "fairplay.credentials[\(index)]."
            guard field.hasPrefix(prefix) else { continue }
            return "fairplay.credentials.\(credential.name).\(field.dropFirst(prefix.count))"
        }
        return field
    }

    private init(name: String, need: Need, isOfKey: Bool, value: String?) {
        self.name = name
        self.need = need
        self.isOfKey = isOfKey
        isThere = value != nil
        self.value = value
    }

    func write(to writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("need", need.rawValue)
        writer.member("isOfKey", isOfKey)
        writer.member("fingerprint", value)
    }

    init?(reading object: JSONObject) {
        guard let name = object["name"]?.string, let need = object["need"]?.string.flatMap(Need.init(rawValue:)),
            let isOfKey = object["isOfKey"]?.bool
        else { return nil }
        self.init(name: name, need: need, isOfKey: isOfKey, value: object["fingerprint"]?.string)
    }
}

/// How the files of a configuration differ from those of the time of a backup.
struct SecretComparison {
    enum Difference: Equatable {
        /// No file of this name can be read here.
        case missing
        /// Every file of this name holds something else.
        case differs
    }

    /// In the order of the backup.
    let differences: [(name: String, need: SecretFingerprint.Need, difference: Difference)]

    /// `isComparable` says whether the ledger key is that of the backup: without it only keys can be compared.
    init(_ then: [SecretFingerprint], _ now: [SecretFingerprint], isComparable: Bool) {
        var differences: [(name: String, need: SecretFingerprint.Need, difference: Difference)] = []
        for print in then {
            guard print.isThere else { continue }
            let candidates = now.filter { $0.name == print.name && $0.isThere }
            if candidates.isEmpty {
                differences.append((print.name, print.need, .missing))
            } else if isComparable || print.isOfKey, !candidates.contains(where: { $0.value == print.value }) {
                differences.append((print.name, print.need, .differs))
            }
        }
        self.differences = differences
    }

    /// What keeps the daemon from starting with the backup's store.
    var blocking: [(name: String, need: SecretFingerprint.Need, difference: Difference)] {
        differences.filter { $0.need == .store }
    }
}
