import ByteCoding
import KeyCrypto

/// The steps of an hour as they are written to a file.
///
/// The bytes are lines of text (the version, the names of the series, the end of the last step in seconds since 1970),
/// then each step with one little-endian float for each series, and then the SHA-256 of all that.
struct SavedHistory: Equatable {
    private static let version = "latchkey-history-1"
    private static let digestSize = 32
    /// More than an hour of many more series.
    static let sizeMaximum = 512 * 1024

    let names: [String]
    /// In seconds since 1970.
    let endsAt: Int64
    /// The oldest first, each with one value for each name.
    let steps: [[Float]]

    var encoded: [UInt8] {
        var bytes = Array("\(Self.version)\n\(names.joined(separator: ","))\n\(endsAt)\n".utf8)
        for value in steps.joined() {
            let bits = value.bitPattern
            bytes += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bits >> $0) }
        }
        // Without a digest the file is not read.
        return bytes + ((try? SHA256Digest.of(bytes)) ?? [])
    }

    init(names: [String], endsAt: Int64, steps: [[Float]]) {
        self.names = names
        self.endsAt = endsAt
        self.steps = steps
    }

    /// Returns nil if the bytes are damaged or of another version.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.digestSize, bytes.count <= Self.sizeMaximum else { return nil }
        let body = Array(bytes.dropLast(Self.digestSize))
        guard let digest = try? SHA256Digest.of(body), digest.elementsEqual(bytes.suffix(Self.digestSize)) else {
            return nil
        }
        let lines = body.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(Self.version.utf8),
            let names = String(validating: lines[1], as: UTF8.self)?.split(separator: ",").map(String.init),
            let endsAt = String(validating: lines[2], as: UTF8.self).flatMap({ Int64($0) }), !names.isEmpty
        else { return nil }
        let values = lines[3]
        let stepSize = 4 * names.count
        guard values.count % stepSize == 0, values.count / stepSize <= HistoryRing.capacity else { return nil }
        func value(at start: Int) -> Float {
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(values[start + $1]) << (8 * UInt32($1)) })
        }
        self.names = names
        self.endsAt = endsAt
        steps = stride(from: values.startIndex, to: values.endIndex, by: stepSize).map { step in
            names.indices.map { value(at: step + 4 * $0) }
        }
    }
}
