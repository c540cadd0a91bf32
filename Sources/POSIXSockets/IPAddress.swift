/// An IPv4 or IPv6 address as a number.
package enum IPAddress: Hashable, Sendable {
    /// 32 bits in reading order: 127.0.0.1 is `0x7f000001`.
    case v4(UInt32)
    /// The upper and lower 64 bits in reading order: ::1 is `(0, 1)`.
    case v6(UInt64, UInt64)

    /// Whether packets to this address never leave the machine: 127.0.0.0/8, ::1, and 127.0.0.0/8 mapped into IPv6.
    package var isLoopback: Bool {
        switch self {
        case .v4(let bits): bits >> 24 == 127
        case .v6(0, 1): true
        case .v6(0, let lower): lower >> 24 == 0xffff_7f
        case .v6: false
        }
    }
}

// MARK: Reading

extension IPAddress {
    /// Reads a numeric address: four decimal octets without leading zeros, or RFC 4291 section 2.2 text without a zone.
    package init?(_ text: some StringProtocol) {
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let (upper, lower) = Self.parseVersion6(text) else { return nil }
            self = .v6(upper, lower)
        } else {
            guard let bits = Self.parseVersion4(text) else { return nil }
            self = .v4(bits)
        }
    }

    private static func parseVersion4(_ text: some StringProtocol) -> UInt32? {
        let octets = text.split(separator: ".", omittingEmptySubsequences: false)
        guard octets.count == 4 else { return nil }
        var bits: UInt32 = 0
        for octet in octets {
            guard let value = parseDecimal(octet, digitsMaximum: 3), value <= 255 else { return nil }
            bits = bits << 8 | UInt32(value)
        }
        return bits
    }

    private static func parseVersion6(_ text: some StringProtocol) -> (UInt64, UInt64)? {
        guard text.utf8.count <= 45 else { return nil }
        var groups: [UInt16] = []
        var gap: Int?
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)[...]

        // A leading or trailing "::" shows up as two empty parts at that end.
        if parts.first?.isEmpty == true {
            parts = parts.dropFirst()
            guard parts.first?.isEmpty == true else { return nil }
        }
        if parts.last?.isEmpty == true {
            parts = parts.dropLast()
            guard parts.last?.isEmpty == true else { return nil }
        }
        for (position, part) in parts.enumerated() {
            if part.isEmpty {
                guard gap == nil else { return nil }
                gap = groups.count
            } else if part.utf8.contains(UInt8(ascii: ".")) {
                guard position == parts.count - 1, let bits = parseVersion4(part) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(bits & 0xffff)]
            } else {
                guard let group = parseGroup(part) else { return nil }
                groups.append(group)
            }
        }
        if let gap {
            guard groups.count < 8 else { return nil }
            groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        return (join(groups[0..<4]), join(groups[4..<8]))
    }

    private static func parseGroup(_ text: some StringProtocol) -> UInt16? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(text, radix: 16)
    }

    private static func join(_ groups: ArraySlice<UInt16>) -> UInt64 {
        groups.reduce(0) { $0 << 16 | UInt64($1) }
    }
}

// MARK: Printing

extension IPAddress: CustomStringConvertible {
    /// The usual text: dotted decimal, or RFC 5952 for IPv6, without brackets.
    package var description: String {
        switch self {
        case .v4(let bits):
            return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(let upper, let lower):
            let groups =
                (0..<4).map { UInt16(truncatingIfNeeded: upper >> (48 - 16 * $0)) }
                + (0..<4).map { UInt16(truncatingIfNeeded: lower >> (48 - 16 * $0)) }
            return Self.print(groups)
        }
    }

    /// RFC 5952 section 4: lower case, the longest run of two or more zero groups (the first of equals) as "::".
    private static func print(_ groups: [UInt16]) -> String {
        let zeros = longestZeroRun(in: groups)
        let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard zeros.count >= 2 else { return text(groups[...]) }
        return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
    }

    private static func longestZeroRun(in groups: [UInt16]) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for position in 0...groups.count where position == groups.count || groups[position] != 0 {
            if position - start > longest.count { longest = start..<position }
            start = position + 1
        }
        return longest
    }
}

/// A decimal number without sign, without leading zeros and of limited length.
func parseDecimal(_ text: some StringProtocol, digitsMaximum: Int) -> Int? {
    let digits = text.utf8
    guard (1...digitsMaximum).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
    }
    if digits.count > 1 && digits.first == 0x30 { return nil }
    return Int(text)
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
    }
}
