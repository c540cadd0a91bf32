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
    /// Reads a numeric address: four decimal octets without leading zeros, or the text of RFC 4291 section 2.2 without
    /// a zone.
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

        // "::" at the beginning or the end gives two empty parts there.
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
    /// The address as dotted decimal or, for IPv6, in the form of RFC 5952 without brackets.
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

    /// Formats an IPv6 address (RFC 5952 section 4): in lower case, with the longest run of two or more zero groups as
    /// "::". Of several runs with the same length, the first one is used.
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

/// Reads a decimal number of limited length, without a sign and without leading zeros.
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

extension IPAddress {
    /// Whether the address belongs to the public internet, by the registries of special-purpose addresses (RFC 6890).
    ///
    /// Loopback, private, link-local, shared, multicast, documentation and reserved addresses do not. An IPv4 address
    /// within an IPv6 address is checked too, in every form.
    package var isPublic: Bool {
        switch self {
        case .v4(let bits): Self.isPublic(bits)
        case .v6(let upper, let lower): Self.isPublic(upper, lower)
        }
    }

    /// Networks of IPv4 that are not the public internet, with the lengths of their prefixes.
    private static let specialNetworks: [(bits: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0a00_0000, 8), (0x6440_0000, 10), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xac10_0000, 12),
        (0xc000_0000, 24), (0xc000_0200, 24), (0xc058_6300, 24), (0xc0a8_0000, 16), (0xc612_0000, 15),
        (0xc633_6400, 24), (0xcb00_7100, 24), (0xe000_0000, 3),
    ]

    private static func isPublic(_ bits: UInt32) -> Bool {
        !specialNetworks.contains { (bits ^ $0.bits) >> (32 - $0.length) == 0 }
    }

    /// Whether an IPv6 address is public. Only 2000::/3 is; if the address contains an IPv4 address, that one is
    /// checked.
    private static func isPublic(_ upper: UInt64, _ lower: UInt64) -> Bool {
        // ::ffff:0:0/96 is an IPv4 address, and 64:ff9b::/96 is translated to one.
        if upper == 0, lower >> 32 == 0xffff { return isPublic(UInt32(truncatingIfNeeded: lower)) }
        if upper == 0x0064_ff9b_0000_0000, lower >> 32 == 0 { return isPublic(UInt32(truncatingIfNeeded: lower)) }
        guard upper >> 61 == 1 else { return false }
        // 6to4 contains an IPv4 address. Teredo, the rest of 2001::/23 and documentation addresses are not public.
        if upper >> 48 == 0x2002 { return isPublic(UInt32(truncatingIfNeeded: upper >> 16)) }
        if upper >> 41 == 0x2001_0000 >> 9 || upper >> 32 == 0x2001_0db8 { return false }
        return upper >> 44 != 0x3fff0
    }
}

extension IPAddress {
    /// The address by which limits per client count: an IPv4 address in any form, or the /64 network of an IPv6
    /// address, because one subscriber has all addresses of a /64 network (RFC 6177).
    package var subscriber: IPAddress {
        switch self {
        case .v4: self
        case .v6(0, let lower) where lower >> 32 == 0xffff: .v4(UInt32(truncatingIfNeeded: lower))
        case .v6(let upper, _): .v6(upper, 0)
        }
    }
}
