import ByteCoding

/// The terms of a rental whose state this server stores: `{start: "30d", play: "48h", finish: true}` in a right.
///
/// Both times are seconds from 1 to `LimitSeconds.maximum`.
package struct RentalTerms: Equatable, Sendable {
    /// How long after the rental's first license playback may begin.
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

    /// How long a rental can last, from its first license on.
    package var lifeMaximum: Int64 { LimitSeconds.sum(start, play) }
}

extension RentalTerms {
    private static let vocabulary = ["start", "play", "finish"]

    /// Throws `claimInvalid` and `claimUnsupported`.
    init(native claims: ClaimObject) throws(EntitlementError) {
        try claims.refuseStrangers(to: Self.vocabulary)
        self.init(
            start: try Self.seconds("start", of: claims), play: try Self.seconds("play", of: claims),
            finish: try claims.bool("finish") ?? false)
    }

    private static func seconds(_ name: String, of claims: ClaimObject) throws(EntitlementError) -> Int64 {
        let seconds =
            if let text = claims[name]?.string { try claims.required(name, DurationText.seconds(text)) } else {
                try claims.required(name, try claims.seconds(name))
            }
        guard seconds <= Int64(LimitSeconds.maximum) else { throw claims.invalid(name) }
        return seconds
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("start", start)
            writer.member("play", play)
            if finish { writer.member("finish", finish) }
        }
    }
}
