import ByteCoding

/// The terms of a rental whose state this server stores: `{start: "30d", play: "48h", finish: true}` in a right.
///
/// Both times are seconds from 1 to `LimitSeconds.maximum`.
package struct RentalTerms: Equatable, Sendable {
    /// How long after the rental's first licence playback may begin.
    package let start: Int64
    /// For how long after its first play the content may be played.
    package let play: Int64
    /// Whether a playback that is running when the `play` time ends may continue.
    package let finish: Bool

    package init(start: Int64, play: Int64, finish: Bool = false) {
        self.start = start
        self.play = play
        self.finish = finish
    }

    /// How long a rental can last, from its first licence on.
    package var lifeMaximum: Int64 { LimitSeconds.sum(start, play) }
}

extension RentalTerms {
    private static let vocabulary = ["start", "play", "finish"]
    private static let units: [(suffix: Character, seconds: Int64)] = [
        ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
    ]
    private static let digitsMaximum = 10

    /// Throws `claimInvalid` and `claimUnsupported`.
    init(native claims: ClaimObject) throws(EntitlementError) {
        try claims.refuseStrangers(to: Self.vocabulary)
        self.init(
            start: try Self.seconds("start", of: claims), play: try Self.seconds("play", of: claims),
            finish: try claims.bool("finish") ?? false)
    }

    private static func seconds(_ name: String, of claims: ClaimObject) throws(EntitlementError) -> Int64 {
        let seconds =
            if let text = claims[name]?.string { try claims.required(name, seconds(text)) } else {
                try claims.required(name, try claims.seconds(name))
            }
        guard seconds <= Int64(LimitSeconds.maximum) else { throw claims.invalid(name) }
        return seconds
    }

    /// Converts a whole number with a unit to seconds: `90s`, `30m`, `48h`, `30d`.
    ///
    /// Returns nil for any other text, for zero, and for a number with a leading zero.
    package static func seconds(_ text: String) -> Int64? {
        guard let unit = units.first(where: { $0.suffix == text.last }) else { return nil }
        let digits = text.utf8.dropLast()
        guard (1...digitsMaximum).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.first != UInt8(ascii: "0"), let count = Int64(Substring(digits))
        else { return nil }
        return count * unit.seconds
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("start", start)
            writer.member("play", play)
            if finish { writer.member("finish", finish) }
        }
    }
}
