/// The pairs of a query, decoded. Names are compared byte for byte.
package struct QueryPairs {
    private let pairs: [(name: [UInt8], value: [UInt8])]

    package init(_ query: String?) {
        pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return (PercentEncoding.decode(parts[0]), PercentEncoding.decode(parts[1]))
        }
    }

    /// The values of all pairs of a name.
    package func values(_ name: String) -> [[UInt8]] {
        pairs.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }
}

/// Percent-encoded text (RFC 3986, section 2.1).
enum PercentEncoding {
    /// What is no escape stays as it is, and so does "+", which is no letter of base64url.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "%"), offset + 2 < bytes.count, let high = digit(bytes[offset + 1]),
                let low = digit(bytes[offset + 2])
            {
                decoded.append(high << 4 | low)
                offset += 3
            } else {
                decoded.append(bytes[offset])
                offset += 1
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
