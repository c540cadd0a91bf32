/// The decoded parameters of a query.
///
/// A plus sign is not decoded to a space, because it can be part of a token. Names are compared byte for byte. All
/// names and values are in one array, so that a query with many parameters costs few allocations.
package struct QueryPairs: Hashable, Sendable {
    /// The most parameters that a request may have. Empty ones, as between two `&`, count too.
    package static let countMaximum = 64

    private struct Pair: Hashable {
        let name: Range<Int>
        /// Nil for a parameter without "=".
        let value: Range<Int>?
    }

    /// The decoded names and values, one after the other.
    private var bytes: [UInt8] = []
    private var pairs: [Pair] = []

    package init(_ query: String? = nil) {
        guard let query, !query.isEmpty else { return }
        let text = Array(query.utf8)
        bytes.reserveCapacity(text.count)
        for item in text.split(separator: UInt8(ascii: "&")) {
            let mark = item.firstIndex(of: UInt8(ascii: "="))
            let name = append(item[..<(mark ?? item.endIndex)])
            pairs.append(Pair(name: name, value: mark.map { append(item[($0 + 1)...]) }))
        }
    }

    private mutating func append(_ encoded: ArraySlice<UInt8>) -> Range<Int> {
        let start = bytes.count
        PercentEncoding.decodeLeniently(encoded, into: &bytes)
        return start..<bytes.count
    }

    /// The number of parameters with a value, which may be empty.
    package var count: Int { pairs.count { $0.value != nil } }

    /// The memory that the parameters occupy, in bytes.
    package var memorySize: Int { bytes.capacity + pairs.capacity * MemoryLayout<Pair>.stride }

    /// The values of all parameters with a name. A parameter without "=" has none.
    package func values(_ name: String) -> [[UInt8]] {
        pairs.lazy.filter { isNamed($0, name) }.compactMap { $0.value.map { Array(bytes[$0]) } }
    }

    /// The values of all parameters with a name. A parameter without "=" has an empty one.
    package func valuesOrEmpty(_ name: String) -> [[UInt8]] {
        pairs.lazy.filter { isNamed($0, name) }.map { $0.value.map { Array(bytes[$0]) } ?? [] }
    }

    /// The names and values of all parameters, in their order. A parameter without "=" has an empty value.
    package var all: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        pairs.map { (bytes[$0.name], $0.value.map { bytes[$0] } ?? []) }
    }

    private func isNamed(_ pair: Pair, _ name: String) -> Bool {
        pair.name.count == name.utf8.count && bytes[pair.name].elementsEqual(name.utf8)
    }
}
