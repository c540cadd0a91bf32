package import ByteCoding
package import KeyCrypto

/// A statement, signed with the ledger key, of how far a node's ledger had come.
///
/// A checkpoint is kept elsewhere, for example in the log stream, and shows if the last rows of a ledger are missing. A
/// *beginning* is kept in the ledger in the place of purged rows, so that the remaining rows still verify. A checkpoint
/// is never accepted as a beginning.
///
/// The input of the MAC is
///
///     size  field
///        8  "LKCHECK1"
///        1  1 for a checkpoint, 2 for a beginning
///        1  size of the node's name, N
///        N  the node's name
///        8  sequence of the last row
///        8  time, seconds since 1970
///       32  MAC of the batch that ends with that row; zeros if the sequence is 0
///
/// with big-endian integers. The text form is one line of six words that are separated by spaces:
///
///     latchkey-checkpoint-1 NODE SEQUENCE TIME BATCH MAC
///
/// or with `latchkey-beginning-1` as the first word. The sequence is decimal, the time is RFC 3339 in UTC with whole
/// seconds, and both MACs are 64 lower-case hexadecimal digits.
package struct LedgerCheckpoint: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        case checkpoint = 1
        case beginning = 2

        var word: String {
            switch self {
            case .checkpoint: "latchkey-checkpoint-1"
            case .beginning: "latchkey-beginning-1"
            }
        }
    }

    /// The first word of a checkpoint's text.
    package static let firstWord = Kind.checkpoint.word

    package let kind: Kind
    package let node: NodeID
    package let link: LedgerLink
    package let at: UnixTime
    package let mac: [UInt8]

    /// The last row's sequence; 0 if there was none yet.
    package var sequence: Int64 { link.sequence }

    fileprivate init(kind: Kind, node: NodeID, link: LedgerLink, at: UnixTime, mac: [UInt8]) {
        self.kind = kind
        self.node = node
        self.link = link
        self.at = at
        self.mac = mac
    }

    /// Reads the text form; nil for any other text. The MAC is verified separately, by `LedgerChain.accepts`.
    package init?(parsing line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 6, let kind = Kind.allCases.first(where: { $0.word == words[0] }),
            let node = try? NodeID(words[1]), let sequence = Int64(words[2]), sequence >= 0,
            let at = try? RFC3339.parse(words[3]), let batch = Self.mac(words[4]), let mac = Self.mac(words[5])
        else { return nil }
        self.init(kind: kind, node: node, link: LedgerLink(sequence: sequence, mac: batch), at: at, mac: mac)
        guard description.utf8.elementsEqual(line.utf8) else { return nil }
    }

    private static func mac(_ digits: String) -> [UInt8]? {
        guard let bytes = try? Hexadecimal.decode(digits), bytes.count == LedgerBatch.macSize else { return nil }
        return bytes
    }

    var signedBytes: [UInt8] {
        var message = ByteWriter(capacity: 128)
        message.write(Array("LKCHECK1".utf8))
        message.write(kind.rawValue)
        message.write(node)
        message.write(UInt64(bitPattern: link.sequence))
        message.write(UInt64(bitPattern: at.seconds))
        message.write(link.mac)
        return message.bytes
    }
}

extension LedgerCheckpoint: CustomStringConvertible {
    /// The text form.
    package var description: String {
        "\(kind.word) \(node) \(sequence) \(at) \(Hexadecimal.encode(link.mac)) \(Hexadecimal.encode(mac))"
    }
}

extension LedgerChain {
    /// Signs that the ledger has come to `link`, or that it begins after `link`. The time's fraction is dropped.
    package func checkpoint(
        _ link: LedgerLink, _ kind: LedgerCheckpoint.Kind = .checkpoint, at: UnixTime
    ) throws(CryptoError) -> LedgerCheckpoint {
        let at = UnixTime(seconds: at.seconds) ?? at
        let unsigned = LedgerCheckpoint(kind: kind, node: node, link: link, at: at, mac: [])
        return LedgerCheckpoint(kind: kind, node: node, link: link, at: at, mac: try code(for: unsigned.signedBytes))
    }

    /// Whether one of this chain's keys made the checkpoint for this node.
    package func accepts(_ checkpoint: LedgerCheckpoint) throws(CryptoError) -> Bool {
        guard checkpoint.node == node else { return false }
        return try accepts(checkpoint.mac, for: checkpoint.signedBytes)
    }
}

extension LedgerCheckpoint {
    /// A beginning in the form that a ledger's database stores; nil if this is not a beginning.
    ///
    /// It is a batch whose first sequence is 0. Its seal is the MAC of the last purged batch, followed by the
    /// beginning's own MAC.
    package var batch: LedgerBatch? {
        guard kind == .beginning else { return nil }
        return LedgerBatch(first: 0, last: sequence, at: at.seconds, seal: link.mac + mac)
    }

    /// Reads the value of `batch`; nil for any other batch. The MAC is verified separately, by `LedgerChain.accepts`.
    package init?(beginning batch: LedgerBatch, node: NodeID) {
        guard batch.first == 0, batch.last >= 0, batch.seal.count == 2 * LedgerBatch.macSize,
            let at = UnixTime(seconds: batch.at)
        else { return nil }
        self.init(
            kind: .beginning, node: node, link: batch.link, at: at,
            mac: Array(batch.seal.dropFirst(LedgerBatch.macSize)))
    }
}
