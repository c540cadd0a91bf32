import ByteCoding

/// The pairs of a query, decoded. "+" is no space: it may be a letter of a token. Names are compared byte for byte.
package struct QueryPairs {
    private let pairs: [(name: [UInt8], value: [UInt8])]

    package init(_ query: String?) {
        pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return (PercentEncoding.decodeLeniently(Array(parts[0])), PercentEncoding.decodeLeniently(Array(parts[1])))
        }
    }

    /// How many pairs there are.
    package var count: Int { pairs.count }

    /// The values of all pairs of a name.
    package func values(_ name: String) -> [[UInt8]] {
        pairs.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }
}
