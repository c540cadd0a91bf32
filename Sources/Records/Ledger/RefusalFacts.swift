import ByteCoding

/// What is known of a refused request, and what was found and expected, in words for the operator.
///
/// The log line, the entry in memory and the ledger's row of one refusal have the same facts. None of them is a secret:
/// no token, no key, no part of one. The subject is a pseudonym. Each text is cut to the size of its fact, and control
/// characters become "?", so that no client steers a terminal.
package struct RefusalFacts: Equatable, Sendable {
    /// What a fact is about, in the order in which facts are shown. The raw values are stored, and never change.
    package enum Name: UInt8, Sendable, CaseIterable {
        /// The listener that accepted the connection.
        case listener = 1
        /// The client's address or network, as `logging.clientAddress` has it.
        case client = 2
        /// The issuer that the token's key belongs to. Other rows than refusals have it if their token has no subject.
        case issuer = 3
        /// The key id that the token names (`kid`).
        case tokenKey = 4
        /// The FairPlay credential that the SPC names by its certificate hash, or the packager that asks, as the ledger
        /// names it.
        case credential = 5
        case content = 6
        /// The content key's id.
        case keyID = 7
        /// The subject's pseudonym: 32 hexadecimal digits.
        case subject = 8
        /// What the check that failed has looked at.
        case found = 9
        /// What it would have accepted.
        case expected = 10
        /// The cause, which only the ledger has among the facts: a log line and an entry in memory have it anyway.
        case cause = 11
        /// The pseudonym of the player's playback session (CMCD's `sid`): 32 hexadecimal digits. Rows of licenses have
        /// it too.
        case playerSession = 12
        /// The player's own name for the content (CMCD's `cid`). Rows of licenses have it too.
        case playerContent = 13
        /// What the device has stated about itself: the text of a `DeviceSummary`.
        case device = 14

        /// The word in log lines and answers; never changes.
        package var word: String {
            switch self {
            case .listener: "listener"
            case .client: "client"
            case .issuer: "issuer"
            case .tokenKey: "token_key"
            case .credential: "credential"
            case .content: "content"
            case .keyID: "kid"
            case .subject: "subject"
            case .found: "found"
            case .expected: "expected"
            case .cause: "cause"
            case .playerSession: "cmcd_session"
            case .playerContent: "cmcd_content"
            case .device: "device"
            }
        }

        /// The most bytes of its text.
        var sizeMaximum: Int {
            switch self {
            case .listener, .client, .tokenKey, .credential, .keyID, .subject, .playerSession: 64
            case .issuer, .playerContent: 128
            case .content: LedgerEntry.contentSizeMaximum
            case .found, .expected, .cause: 192
            case .device: 250
            }
        }
    }

    /// In the order of the names, each once; no text is empty.
    private var facts: [(name: Name, text: String)] = []

    package init() {}

    package init(found: String?, expected: String?) {
        self[.found] = found
        self[.expected] = expected
    }

    package var isEmpty: Bool { facts.isEmpty }

    /// All facts, in the order of their names.
    package var all: [(name: Name, text: String)] { facts }

    /// The text of a fact. An empty one counts as nil.
    package subscript(name: Name) -> String? {
        get { facts.first { $0.name == name }?.text }
        set {
            let index = facts.firstIndex { $0.name.rawValue >= name.rawValue } ?? facts.endIndex
            let isThere = index < facts.endIndex && facts[index].name == name
            guard let newValue, !newValue.isEmpty else {
                if isThere { facts.remove(at: index) }
                return
            }
            let fact = (name, newValue.printable.cut(toSize: name.sizeMaximum))
            if isThere { facts[index] = fact } else { facts.insert(fact, at: index) }
        }
    }

    /// Adds the facts that these do not have yet.
    package mutating func add(_ others: RefusalFacts) {
        for (name, text) in others.facts where self[name] == nil { self[name] = text }
    }

    package static func == (one: RefusalFacts, other: RefusalFacts) -> Bool {
        one.facts.elementsEqual(other.facts) { $0 == $1 }
    }
}

extension RefusalFacts {
    /// Without those for which an entry has fields of its own.
    var withoutEntryFields: RefusalFacts {
        var facts = self
        for name in [Name.content, .keyID, .subject, .device] { facts[name] = nil }
        return facts
    }
}

extension LedgerFieldWriter {
    mutating func write(_ facts: RefusalFacts) {
        write(UInt8(facts.all.count))
        for (name, text) in facts.all {
            write(name.rawValue)
            write(text, sizeMaximum: name.sizeMaximum)
        }
    }
}

extension LedgerFieldReader {
    /// Each fact as it was written: in the order of the names, and none that has a field of its own.
    mutating func readFacts() throws(LedgerEntryError) -> RefusalFacts {
        var facts = RefusalFacts()
        var last: UInt8 = 0
        let count = try readUInt8()
        guard count > 0 else { throw .notCanonical }
        for _ in 0..<count {
            guard let name = RefusalFacts.Name(rawValue: try readUInt8()), name.rawValue > last else {
                throw .notCanonical
            }
            last = name.rawValue
            let text = try readText(sizeMaximum: name.sizeMaximum)
            facts[name] = text
            guard facts[name] == text else { throw .notCanonical }
        }
        guard facts == facts.withoutEntryFields else { throw .notCanonical }
        return facts
    }
}

extension String {
    /// Without what a terminal would obey.
    fileprivate var printable: String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7F...0x9F) ~= scalar.value }
        guard unicodeScalars.contains(where: isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { isControl($0) ? "?" : $0 }))
    }
}
