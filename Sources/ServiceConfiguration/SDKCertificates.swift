import ByteCoding
import KeyCrypto

/// The file certificates.json of Apple's SDK (SDK 26, section 2), as far as this server reads it.
///
/// It is JSON, and trailing commas are accepted. Members with other names are ignored. The files that it names are not
/// read here.
struct SDKCertificates {
    /// An entry, which becomes one credential. The names of files are as they are in the text.
    struct Entry {
        let certificate: String
        let privateKey1024: String
        let kind: Kind

        enum Kind {
            /// An entry of SDK 26. `certificate` names the bundle.
            case provisioned(privateKey2048: String, data: String)
            /// An entry of SDK 4. `certificate` names one certificate of 1024 bits. The secret has 16 bytes.
            case applicationSecret(SharedSecret)
        }
    }

    /// A fault, and its place in the text, such as `certificates[1].ask`; an empty place for the text as a whole.
    struct Fault {
        let place: String
        let fault: ConfigurationFault
    }

    /// The most entries in a file. The library gets four files for each entry.
    static let countMaximum = 64

    /// In the order of the text. An entry with a fault is nil.
    private(set) var entries: [Entry?] = []
    private(set) var faults: [Fault] = []
    /// Whether an application secret is in the text itself.
    private(set) var holdsSecrets = false

    /// Reads the text. `faults` has all faults of a text that is JSON.
    init(parsing contents: borrowing SecretBytes) throws(JSONError) {
        self = try contents.withWipedArray { (bytes: [UInt8]) throws(JSONError) -> SDKCertificates in
            var text = bytes
            defer { text.wipe() }
            // The reader makes strings, which cannot be wiped. So zeros replace the secrets, and no position changes.
            for member in JSONMemberScanner.members(in: bytes, named: [Member.secret.rawValue]) {
                for place in member.value { text[place] = UInt8(ascii: "0") }
            }
            let root = try JSONReader.parse(
                text, dialect: .json5, limits: JSONLimits(sizeMaximum: SecretFile.sizeMaximum))
            return SDKCertificates(root, bytes)
        }
    }

    /// The place of an entry.
    static func place(of index: Int) -> String { "\(listName)[\(index)]" }

    private static let listName = "certificates"

    /// The members of entries that this server reads.
    enum Member: String {
        case certificate
        case privateKey1024 = "1024-private-key"
        case privateKey2048 = "2048-private-key"
        case provisioningData = "provisioning-data"
        case secret = "ask"
    }

    private init(_ root: JSONNode, _ bytes: [UInt8]) {
        let example = "{ \"certificates\": [{ \"certificate\": \"bundle.bin\", … }] }"
        guard let object = root.object else {
            report("", .wrongType(found: root.typeName, expected: "an object", example: example))
            return
        }
        let expected = "a list of 1 to \(Self.countMaximum) entries"
        guard let list = object[Self.listName] else {
            report(Self.listName, .missing(expected: expected, example: example))
            return
        }
        guard let nodes = list.array else {
            report(Self.listName, .wrongType(found: list.typeName, expected: expected, example: example))
            return
        }
        guard (1...Self.countMaximum).contains(nodes.count) else {
            report(Self.listName, .invalidValue(expected: expected, example: example))
            return
        }
        for (index, node) in nodes.enumerated() {
            var reader = SDKEntryReader(place: Self.place(of: index), text: bytes)
            entries.append(reader.read(node))
            faults += reader.faults
            if reader.holdsSecret { holdsSecrets = true }
        }
    }

    private mutating func report(_ place: String, _ fault: ConfigurationFault) {
        faults.append(Fault(place: place, fault: fault))
    }
}

/// Reads one entry, and collects its faults.
private struct SDKEntryReader {
    private typealias Member = SDKCertificates.Member

    /// The place of the entry.
    let place: String
    /// The whole text with its secrets.
    let text: [UInt8]
    private(set) var faults: [SDKCertificates.Fault] = []
    private(set) var holdsSecret = false

    /// Returns nil if a fault was found.
    mutating func read(_ node: JSONNode) -> SDKCertificates.Entry? {
        guard let object = node.object else {
            report(nil, .wrongType(found: node.typeName, expected: "an object", example: "{ \"certificate\": \"…\" }"))
            return nil
        }
        let certificate = fileName(.certificate, in: object)
        let privateKey1024 = fileName(.privateKey1024, in: object)
        let kind = kind(of: object)
        guard let certificate, let privateKey1024, let kind else { return nil }
        return SDKCertificates.Entry(certificate: certificate, privateKey1024: privateKey1024, kind: kind)
    }

    /// The entry has provisioning data or an application secret. Only the former has a second private key.
    private mutating func kind(of object: JSONObject) -> SDKCertificates.Entry.Kind? {
        let secret = Self.member(.secret, of: object)
        holdsSecret = secret != nil
        if Self.member(.provisioningData, of: object) != nil {
            if secret != nil { report(.secret, .conflict(with: Member.provisioningData.rawValue)) }
            let privateKey2048 = fileName(.privateKey2048, in: object)
            let data = fileName(.provisioningData, in: object)
            guard let privateKey2048, let data, secret == nil else { return nil }
            return .provisioned(privateKey2048: privateKey2048, data: data)
        }
        guard let secret else {
            report(nil, .noneOf([Member.provisioningData.rawValue, Member.secret.rawValue]))
            return nil
        }
        let hasSecondKey = Self.member(.privateKey2048, of: object) != nil
        if hasSecondKey { report(.privateKey2048, .conflict(with: Member.secret.rawValue)) }
        let value = applicationSecret(secret)
        return hasSecondKey ? nil : value.map { .applicationSecret($0) }
    }

    /// Returns the member; nil if it is absent or null.
    private static func member(_ member: Member, of object: JSONObject) -> JSONNode? {
        object[member.rawValue].flatMap { $0.isNull ? nil : $0 }
    }

    private mutating func fileName(_ member: Member, in object: JSONObject) -> String? {
        let (expected, example) = ("a file's path", "\"fairplay.bin\"")
        guard let node = Self.member(member, of: object) else {
            report(member, .missing(expected: expected, example: example))
            return nil
        }
        guard let name = node.string else {
            report(member, .wrongType(found: node.typeName, expected: expected, example: example))
            return nil
        }
        return name
    }

    /// Decodes a secret of 16 bytes in hexadecimal digits or Base64.
    private mutating func applicationSecret(_ node: JSONNode) -> SharedSecret? {
        let (expected, example) = ("32 hexadecimal digits, or Base64 of 16 bytes", "\"00112233…\"")
        guard let string = node.string else {
            report(.secret, .wrongType(found: node.typeName, expected: expected, example: example))
            return nil
        }
        // The string consists of zeros. The secret itself follows the opening quote in the text.
        let start = node.position.byteOffset + 1
        let size = string.utf8.count
        // Hexadecimal digits and Base64 only, as `EncodedSecret` also accepts 16 raw bytes.
        if size == 32 || size == 24 {
            var digits = Array(text[start..<start + size])
            defer { digits.wipe() }
            if let secret = EncodedSecret.decode(SecretBytes(copying: digits), size: 16) { return SharedSecret(secret) }
        }
        report(.secret, .invalidValue(expected: expected, example: example))
        return nil
    }

    private mutating func report(_ member: Member?, _ fault: ConfigurationFault) {
        let place = member.map { "\(self.place).\($0.rawValue)" } ?? self.place
        faults.append(SDKCertificates.Fault(place: place, fault: fault))
    }
}
