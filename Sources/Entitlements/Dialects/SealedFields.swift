import ByteCoding
import KeyCrypto

/// The fields inside a sealed token. Each one has a tag (1 byte), a size (1 byte) and a value.
///
/// Tags ascend, and only `addition` may repeat. Numbers are big-endian without leading zero bytes, so that each value
/// has exactly one encoding.
struct SealedFields: ~Copyable {
    enum Tag: UInt8, CaseIterable {
        case tokenID = 1
        case issuedAt = 2
        case expiresAt = 3
        case contentKey = 4
        case iv = 5
        case keyID = 6
        case rental = 7
        case lease = 8
        case flags = 9
        case storage = 10
        case playback = 11
        case cookie = 12
        case device = 13
        case usesPerKey = 14
        case subject = 15
        case contentID = 16
        case hdcp = 17
        case minimumLevel = 18
        /// A name of four characters, then its value.
        case addition = 19
        case deviceMaximum = 20
    }

    private let payload: SecretBytes
    private let ranges: [(tag: Tag, value: Range<Int>)]

    /// Throws `tokenMalformed` for a truncated field, and `claimUnsupported` for a field that is unknown or out of
    /// order.
    init(_ payload: consuming SecretBytes) throws(EntitlementError) {
        var ranges: [(tag: Tag, value: Range<Int>)] = []
        var offset = 0
        while offset < payload.count {
            guard let tag = Tag(rawValue: payload.byte(at: offset)) else {
                throw .claimUnsupported("(an unknown field)")
            }
            guard offset + 1 < payload.count else { throw Self.truncated(needed: 1, available: 0) }
            let size = Int(payload.byte(at: offset + 1))
            let remaining = payload.count - offset - 2
            guard size <= remaining else { throw Self.truncated(needed: size, available: remaining) }
            if let last = ranges.last?.tag {
                let ascends = last.rawValue < tag.rawValue || (last == .addition && tag == .addition)
                guard ascends else { throw .claimUnsupported("(a field out of order)") }
            }
            ranges.append((tag, offset + 2..<offset + 2 + size))
            offset += 2 + size
        }
        self.payload = payload
        self.ranges = ranges
    }

    private static func truncated(needed: Int, available: Int) -> EntitlementError {
        .tokenMalformed(.fieldsMalformed(.truncated(field: "sealed field", needed: needed, available: available)))
    }

    /// The value as a secret of its own; nil if the field is missing or has another size.
    func secret(_ tag: Tag, size: Int) -> SecretBytes? {
        guard let range = range(tag), range.count == size else { return nil }
        return payload.copy(range)
    }

    /// The value as plain bytes.
    func bytes(_ tag: Tag) -> [UInt8]? {
        guard let range = range(tag) else { return nil }
        return revealed(range)
    }

    /// Every value of a tag that repeats.
    func all(_ tag: Tag) -> [[UInt8]] {
        var values: [[UInt8]] = []
        for field in ranges where field.tag == tag { values.append(revealed(field.value)) }
        return values
    }

    func contains(_ tag: Tag) -> Bool { range(tag) != nil }

    /// A number of 1 to 8 bytes whose first byte is not zero. Throws `claimInvalid`.
    func number(_ tag: Tag, _ name: String) throws(EntitlementError) -> UInt64? {
        guard let bytes = bytes(tag) else { return nil }
        guard (1...8).contains(bytes.count), bytes[0] != 0 else { throw .claimInvalid(name) }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func range(_ tag: Tag) -> Range<Int>? {
        ranges.first { $0.tag == tag }?.value
    }

    /// Copies a value. `SecretBytes` cannot be empty, so an empty value is a case of its own.
    private func revealed(_ range: Range<Int>) -> [UInt8] {
        range.isEmpty ? [] : payload.copy(range).revealed()
    }
}

extension SecretBytes {
    fileprivate func byte(at offset: Int) -> UInt8 {
        // The load checks that the byte is there.
        withBytes { bytes in unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    }
}

/// Writes the fields of a sealed token in the order of their tags.
struct SealedFieldWriter {
    private var plain: [UInt8] = []

    init() {
        // With enough capacity, the array never grows, and growth would leave a copy of the key in memory.
        plain.reserveCapacity(2048)
    }

    mutating func write(_ tag: SealedFields.Tag, _ value: [UInt8]) {
        precondition(value.count <= 255, "a field has at most 255 bytes")
        plain += [tag.rawValue, UInt8(value.count)]
        plain += value
    }

    /// Writes a number, and nothing if the number is nil or zero.
    mutating func write(_ tag: SealedFields.Tag, _ number: UInt64?) {
        guard let number, number > 0 else { return }
        let size = 8 - number.leadingZeroBitCount / 8
        write(tag, (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64(size - 1 - $0))) })
    }

    mutating func write(_ tag: SealedFields.Tag, secret: borrowing SecretBytes) {
        precondition(secret.count <= 255, "a field has at most 255 bytes")
        plain += [tag.rawValue, UInt8(secret.count)]
        for offset in 0..<secret.count { plain.append(secret.byte(at: offset)) }
    }

    /// Returns all fields, and overwrites the writer's own copy of them.
    mutating func finish() -> SecretBytes {
        let fields = SecretBytes(copying: plain)
        for index in plain.indices { plain[index] = 0 }
        plain.removeAll(keepingCapacity: true)
        return fields
    }
}
