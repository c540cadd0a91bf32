import ByteCoding
import CommandLineKit
import ContentKeys
import Entitlements

/// The options of `token mint` that make up the right.
struct RightArguments {
    private static let content = CommandOption(
        "--content", .value("ID"), help: "the content that may be played; this or --kid is needed")
    private static let keyID = CommandOption(
        "--kid", .value("GUID"),
        help: "a key that may be fetched, in place of a content; Axinom's tokens name only keys",
        repeats: true)
    private static let mode = CommandOption(
        "--mode", .value("stream|offline|both"), help: "how it may be played; stream unless given")
    private static let lease = CommandOption(
        "--lease", .value("DURATION"),
        help: "how long playback may go on before it must be renewed, as 5m; no limit unless given; not for offline use"
    )
    private static let rental = CommandOption(
        "--rental", .value("DURATION"),
        help: "how long after the license playback may begin, and an offline license is valid; no limit unless given")
    private static let rentalStart = CommandOption(
        "--rental-start", .value("DURATION"),
        help:
            "how long after its first license a rental that the server stores may begin, as 30d; with --rental-play")
    private static let rentalPlay = CommandOption(
        "--rental-play", .value("DURATION"),
        help: "how long after its first play that rental may be played, as 48h; with --rental-start and --subject. "
            + "Without a shorter --lease, its first license counts as the first play")
    private static let rentalFinish = CommandOption(
        "--rental-finish", .flag, help: "let a film that is playing at the end of that time play on")
    private static let storage = CommandOption(
        "--storage", .value("DURATION"),
        help: "how long an offline license is valid before its first play; no limit unless given")
    private static let playback = CommandOption(
        "--playback", .value("DURATION"),
        help: "how long an offline license is valid after its first play; no limit unless given")
    private static let hdcp = CommandOption(
        "--hdcp", .value("none|type0|type1"), help: "the least protection of outputs; the key's unless given")
    private static let minimumLevel = CommandOption(
        "--min-level", .value("audio|baseline|main"),
        help: "the least security level of devices; the key's unless given")
    private static let track = CommandOption(
        "--track", .value("LABEL:hdcp=WORD,min-level=WORD"),
        help: "additional demands for keys with this track label; one of the two parts is enough", repeats: true)

    static let options = [
        content, keyID, mode, lease, rental, rentalStart, rentalPlay, rentalFinish, storage, playback, hdcp,
        minimumLevel, track,
    ]

    private static let seconds: ClosedRange<Int64> = 1...Int64(LimitSeconds.maximum)

    let right: Right

    /// Throws `usage` for a right that a daemon would refuse, and for options that contradict one another.
    init(_ arguments: Arguments) throws(CommandError) {
        var right = Right(try Self.selector(arguments))
        right.duration = try arguments.seconds(Self.rental, in: Self.seconds)
        right.rental = try Self.rentalTerms(arguments)
        right.lease = try arguments.seconds(Self.lease, in: Self.seconds)
        right.mode = try arguments.word(Self.mode) ?? .stream
        right.storage = try arguments.seconds(Self.storage, in: Self.seconds)
        right.playback = try arguments.seconds(Self.playback, in: Self.seconds)
        right.protection = Protection(
            hdcp: try arguments.word(Self.hdcp), securityLevel: try arguments.word(Self.minimumLevel))
        right.tracks = try Self.tracks(arguments.values(Self.track))
        self.right = right
        try Self.checkUse(of: right)
        try Self.checkTracks(of: right)
    }

    private static func rentalTerms(_ arguments: Arguments) throws(CommandError) -> RentalTerms? {
        guard arguments.value(rentalStart) != nil || arguments.value(rentalPlay) != nil || arguments.isSet(rentalFinish)
        else { return nil }
        guard arguments.value(rental) == nil else {
            throw .usage(
                "--rental is for a rental that the server does not store; use it, or --rental-start and --rental-play")
        }
        guard let start = try arguments.seconds(rentalStart, in: seconds),
            let play = try arguments.seconds(rentalPlay, in: seconds)
        else {
            throw .usage("--rental-start and --rental-play must be given together")
        }
        return RentalTerms(start: start, play: play, finish: arguments.isSet(rentalFinish))
    }

    private static func selector(_ arguments: Arguments) throws(CommandError) -> Right.Selector {
        let texts = arguments.values(keyID)
        switch (arguments.value(content), texts.isEmpty) {
        case (let text?, true):
            guard let contentID = try? ContentID(text) else {
                throw .usage("--content takes 1 to 200 printable ASCII characters without space")
            }
            return .content(contentID.text)
        case (nil, false):
            let keyIDs = texts.compactMap { try? KeyID(parsing: $0) }
            guard keyIDs.count == texts.count, texts.count <= Right.keyIDCountMaximum else {
                throw .usage("--kid takes a key id of 32 hexadecimal digits, \(Right.keyIDCountMaximum) times at most")
            }
            return .keyIDs(keyIDs)
        case (nil, true): throw .usage("name a content by --content, or keys by --kid")
        case (.some, false): throw .usage("--content and --kid contradict one another")
        }
    }

    /// A warning for operators who grant offline use without an end, because no server can revoke such a license.
    var note: String? {
        switch right.mode {
        case .stream: return nil
        case .offline, .both: break
        }
        guard right.playback == nil, right.duration == nil, right.rental == nil else { return nil }
        return "note: an offline license for this token may never end once it has been played; "
            + "--playback or --rental limits it"
    }

    private static func checkUse(of right: Right) throws(CommandError) {
        switch right.mode {
        case .stream:
            for (option, value) in [(storage, right.storage), (playback, right.playback)] where value != nil {
                throw .usage(
                    "\(option.name) limits offline licenses, which this token does not allow; add --mode both or offline"
                )
            }
        case .offline, .both:
            guard right.lease == nil else {
                throw .usage(
                    "--lease and --mode \(right.mode.rawValue) contradict one another: an offline license would outlive the lease"
                )
            }
        }
    }

    /// Refuses a track whose demand is laxer than the demand for all tracks. The stricter one would win silently.
    private static func checkTracks(of right: Right) throws(CommandError) {
        for (label, protection) in right.tracks.sorted(by: { $0.key < $1.key }) {
            if let all = right.protection.hdcp, let own = protection.hdcp, own < all {
                throw .usage(
                    "--track \(label): hdcp=\(own.rawValue) is laxer than --hdcp \(all.rawValue), which applies to all tracks"
                )
            }
            if let all = right.protection.securityLevel, let own = protection.securityLevel, own < all {
                throw .usage(
                    "--track \(label): min-level=\(own.rawValue) is laxer than --min-level \(all.rawValue), which applies to all tracks"
                )
            }
        }
    }

    private static func tracks(_ texts: [String]) throws(CommandError) -> [String: Protection] {
        guard texts.count <= Right.trackCountMaximum else {
            throw .usage("--track may be given \(Right.trackCountMaximum) times at most")
        }
        var tracks: [String: Protection] = [:]
        for text in texts {
            let (label, protection) = try TrackArgument.parse(text)
            guard tracks.updateValue(protection, forKey: label.text) == nil else {
                throw .usage("--track: the label \(label) is given twice")
            }
        }
        return tracks
    }
}

/// The value of `--track`: a label, a colon, and one or two demands. The label may have colons of its own.
private enum TrackArgument {
    private static let usage = CommandError.usage(
        "--track takes a label of 1 to 64 printable characters, a colon, and hdcp=none|type0|type1, min-level=audio|baseline|main "
            + "or both with a comma between")

    static func parse(_ text: String) throws(CommandError) -> (TrackLabel, Protection) {
        guard let colon = text.lastIndex(of: ":"), let label = try? TrackLabel(String(text[..<colon])) else {
            throw usage
        }
        var hdcp: Right.HDCP?
        var level: Right.SecurityLevel?
        for demand in text[text.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false) {
            let parts = demand.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw usage }
            switch (parts[0], Right.HDCP(rawValue: String(parts[1])), Right.SecurityLevel(rawValue: String(parts[1]))) {
            case ("hdcp", let word?, _) where hdcp == nil: hdcp = word
            case ("min-level", _, let word?) where level == nil: level = word
            default: throw usage  // An unknown name or word, or a repeated demand.
            }
        }
        return (label, Protection(hdcp: hdcp, securityLevel: level))
    }
}
