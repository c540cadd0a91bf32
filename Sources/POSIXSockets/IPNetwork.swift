/// A network of IP addresses with a common prefix: `10.0.0.0/8`, `fd00::/8`, or one address.
package struct IPNetwork: Hashable, Sendable {
    private let base: IPAddress
    /// How many bits of the address count; 0 for every address.
    package let prefixLength: Int

    /// Reads an address, or an address, `/` and the length of the prefix. The bits after the prefix must be zero.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        var length = address.bitCount
        if parts.count == 2 {
            guard let given = parseDecimal(parts[1], digitsMaximum: 3), given <= length else { return nil }
            length = Int(given)
        }
        guard address.masked(to: length) == address else { return nil }
        base = address
        prefixLength = length
    }

    /// Whether the network contains an address. An IPv4 address that is mapped to IPv6 counts as IPv4.
    package func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return address.bitCount == base.bitCount && address.masked(to: prefixLength) == base
    }
}

extension IPNetwork: CustomStringConvertible {
    /// The text that the initializer reads.
    package var description: String { "\(base)/\(prefixLength)" }
}

extension IPAddress {
    fileprivate var bitCount: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// Returns the address with zeros after the first `length` bits.
    fileprivate func masked(to length: Int) -> IPAddress {
        switch self {
        // A smart shift by the whole width gives zero.
        case .v4(let bits): .v4(bits & ~(UInt32.max >> length))
        case .v6(let upper, let lower):
            .v6(upper & ~(UInt64.max >> min(length, 64)), lower & ~(UInt64.max >> max(0, length - 64)))
        }
    }

    /// The IPv4 address in `::ffff:0:0/96`, or the address itself.
    package var unmapped: IPAddress {
        if case .v6(0, let lower) = self, lower >> 32 == 0xffff { return .v4(UInt32(truncatingIfNeeded: lower)) }
        return self
    }
}
