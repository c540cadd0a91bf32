extension IPAddress {
    /// Whether the address belongs to the public internet, as far as the registries of special-purpose addresses say
    /// (RFC 6890): no loopback, private, link-local, shared, multicast, documentation or reserved one, in every form in
    /// which an IPv4 address is written into IPv6.
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

    /// Only 2000::/3 is the public internet. Of what carries an IPv4 address, that address decides.
    private static func isPublic(_ upper: UInt64, _ lower: UInt64) -> Bool {
        // ::ffff:0:0/96 is an IPv4 address, and 64:ff9b::/96 leads to one.
        if upper == 0, lower >> 32 == 0xffff { return isPublic(UInt32(truncatingIfNeeded: lower)) }
        if upper == 0x0064_ff9b_0000_0000, lower >> 32 == 0 { return isPublic(UInt32(truncatingIfNeeded: lower)) }
        guard upper >> 61 == 1 else { return false }
        // 6to4, Teredo and the rest of 2001::/23, and documentation.
        if upper >> 48 == 0x2002 { return isPublic(UInt32(truncatingIfNeeded: upper >> 16)) }
        if upper >> 41 == 0x2001_0000 >> 9 || upper >> 32 == 0x2001_0db8 { return false }
        return upper >> 44 != 0x3fff0
    }
}

extension IPAddress {
    /// What a limit per client counts by: an IPv4 address in any form, and of IPv6 the network of 64
    /// bits, because one subscriber has all the addresses in it (RFC 6177).
    package var subscriber: IPAddress {
        switch self {
        case .v4: self
        case .v6(0, let lower) where lower >> 32 == 0xffff: .v4(UInt32(truncatingIfNeeded: lower))
        case .v6(let upper, _): .v6(upper, 0)
        }
    }
}
