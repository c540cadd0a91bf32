import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import POSIXSockets
import Records

extension Command {
    static let rotateKeys = Command(
        "rotate",
        summary: "Make the keys of a live content's next period, or let the daemon do so on a schedule",
        details: """
            Without a schedule, the next period gets one key for each track of the newest period, with the same scheme and least
            protection. If the content has no periods yet, it gets the tracks that --track names, or those of its keys. With --every,
            the daemon makes each period before its start from then on, and the command makes those that are due. To run the same command
            again changes nothing. Another --every takes effect when the current period ends. --end ends the content: no period follows.

            Licenses are given for the current period, the period before it, the period after it, and for as many past periods as --window
            says. A content for which this command was never run has no such limit. With --no-keys the command makes no keys; use it for a
            content whose packager numbers the periods, by SPEKE or POST /v1/keys.

            The ledger records each new key, and each change of window or schedule.
            """,
        examples: [
            "latchkey keys rotate --config latchkey.json5 --content news",
            "latchkey keys rotate --config latchkey.json5 --content news --every 1h --window 12 --track SD --track AUDIO",
            "latchkey keys rotate --config latchkey.json5 --content sports --window 24 --no-keys",
            "latchkey keys rotate --config latchkey.json5 --content news --end",
        ],
        options: RotateArguments.options,
        run: { arguments, context throws(CommandError) in
            let given = try RotateArguments(arguments, now: context.now)
            let store = try OpenedKeyStore(configuration: given.configuration, context, derivesKeys: true)
            try await KeyRotation(given, store, context).run(printsJSON: arguments.isSet(.json))
        })
}

/// The options of `keys rotate`.
struct RotateArguments {
    private static let every = CommandOption(
        "--every", .value("DURATION"), help: "how long each period is, as 1h; from then on the daemon makes the periods"
    )
    private static let window = CommandOption(
        "--window", .value("COUNT"),
        help: "how many past periods are served (DVR), at least 1; as before unless given, and 1 for a new content")
    private static let ahead = CommandOption(
        "--ahead", .value("COUNT"),
        help: "with --every: for how many coming periods keys are made, 1 to 64; 1 unless given")
    private static let start = CommandOption(
        "--start", .value("TIME"),
        help: "with --every: when the first period begins, as 2026-01-31T12:00:00Z; now unless given")
    private static let track = CommandOption(
        "--track", .value("LABEL[:TYPE]"),
        help: "a track of each period: AUDIO, SD, HD, UHD, or LABEL:audio, :sd, :hd or :uhd with a label of your own",
        repeats: true)
    private static let period = CommandOption(
        "--period", .value("INDEX"), help: "make this period in place of the next one; existing keys stay")
    private static let noKeys = CommandOption("--no-keys", .flag, help: "only set the window; make no keys")
    private static let end = CommandOption("--end", .flag, help: "end the content: no period follows")

    static let options = [
        CommandOption.config, KeyArguments.content, every, window, ahead, start, track, period, noKeys, end, .json,
    ]

    let configuration: String
    let contentID: ContentID
    /// The length of a period in seconds.
    let length: Int64?
    let window: UInt32?
    let ahead: UInt32?
    let start: Int64?
    /// The tracks of each period; empty if no `--track` is given.
    let tracks: [PeriodTrack]
    let period: UInt32?
    let makesKeys: Bool
    let isEnd: Bool

    init(_ arguments: Arguments, now: Int64) throws(CommandError) {
        configuration = try arguments.required(.config)
        contentID = try KeyArguments.contentID(arguments.required(KeyArguments.content))
        length = try arguments.seconds(Self.every, in: PeriodSchedule.lengths)
        window = try arguments.number(Self.window, in: LiveContent.windows)
        ahead = try arguments.number(Self.ahead, in: PeriodSchedule.aheads)
        start = try arguments.time(Self.start)
        tracks = try Self.tracks(arguments.values(Self.track))
        period = try arguments.number(Self.period, in: 0...UInt32.max)
        makesKeys = !arguments.isSet(Self.noKeys)
        isEnd = arguments.isSet(Self.end)
        if isEnd, length != nil || ahead != nil || start != nil || !tracks.isEmpty || period != nil || !makesKeys {
            throw .usage("--end may be combined only with --window")
        }
        let isWindowAlone =
            window != nil && length == nil && ahead == nil && start == nil && tracks.isEmpty && period == nil
        if !makesKeys, !isWindowAlone { throw .usage("--no-keys needs --window, and no other option of a period") }
        if length == nil, start != nil { throw .usage("--start needs --every") }
        if length != nil, period != nil { throw .usage("--period and --every contradict one another") }
    }

    private static func tracks(_ texts: [String]) throws(CommandError) -> [PeriodTrack] {
        guard texts.count <= PeriodSchedule.trackCounts.upperBound else {
            throw .usage("--track may be given \(PeriodSchedule.trackCounts.upperBound) times at most")
        }
        var tracks: [PeriodTrack] = []
        for text in texts {
            let track = try track(text)
            guard !tracks.contains(where: { $0.track.label == track.track.label }) else {
                throw .usage("--track: the label \(text) is given twice")
            }
            tracks.append(track)
        }
        return tracks
    }

    /// Parses a standard label, or an own label, a colon and a content type. The own label may have colons too.
    private static func track(_ text: String) throws(CommandError) -> PeriodTrack {
        if let label = try? TrackLabel(text), let track = try? Track(label: label) { return PeriodTrack(track) }
        if let colon = text.lastIndex(of: ":"), let label = try? TrackLabel(String(text[..<colon])),
            let type = ContentType(rawValue: String(text[text.index(after: colon)...])),
            let track = try? Track(label: label, contentType: type)
        {
            return PeriodTrack(track)
        }
        throw .usage("--track takes AUDIO, SD, HD, UHD, or a label of your own, a colon and audio, sd, hd or uhd")
    }
}

/// One run of `keys rotate`.
private struct KeyRotation {
    /// The most attempts. An attempt fails if another node or operator changes the content meanwhile.
    private static let attemptCount = 5
    /// The number of a content's first period.
    private static let firstIndex: UInt32 = 1

    private let given: RotateArguments
    private let store: OpenedKeyStore
    private let desk: PeriodDesk
    private let context: CommandContext
    private let records: KeyRecords

    /// Opens the ledger first, so that nothing is changed if the ledger cannot be opened.
    init(_ given: RotateArguments, _ store: OpenedKeyStore, _ context: CommandContext) throws(CommandError) {
        self.given = given
        self.store = store
        self.context = context
        desk = store.periodDesk
        records = try KeyRecords(store.file, context)
    }

    func run(printsJSON: Bool) async throws(CommandError) {
        for _ in 0..<Self.attemptCount {
            let live = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await desk.store.livePeriods(of: given.contentID)
            }
            let old = live?.content ?? LiveContent(given.contentID)
            let new = try await changed(old)
            // The keys of a single period come first, so that nothing has changed if they cannot be made.
            var made: [PeriodDesk.Made] = []
            if new.schedule == nil, new.endedAt == nil, given.makesKeys { made = [try await makeOne(new)] }
            guard try await set(new, insteadOf: old) else { continue }
            made += try await makeMissing(new)
            return try await report(new, made, printsJSON)
        }
        throw .failed("another command changes the content at the same time; try again")
    }

    // MARK: The new state of the content

    private func changed(_ old: LiveContent) async throws(CommandError) -> LiveContent {
        var new = old
        new.window = given.window ?? old.window
        if given.isEnd {
            guard old.revision > 0 else { throw .failed("\(given.contentID) does not rotate; there is nothing to end") }
            new.endedAt = old.endedAt ?? context.now
        } else if given.length != nil || (old.rotates && (given.ahead != nil || !given.tracks.isEmpty)) {
            new.schedule = try await schedule(old)
            new.endedAt = nil
        } else if given.ahead != nil {
            throw .usage("--ahead needs --every")
        } else if old.schedule == nil, given.window == nil {
            // A further period starts an ended content again.
            new.endedAt = nil
        } else if old.endedAt != nil, given.window == nil {
            throw .failed("\(given.contentID) has ended; --every starts it again")
        }
        if new.schedule != nil, given.period != nil {
            throw .usage("--period is for contents without a schedule")
        }
        return new
    }

    private func schedule(_ old: LiveContent) async throws(CommandError) -> PeriodSchedule {
        let (tracks, scheme) = try await tracks(of: old)
        let (first, start) = try await beginning(old)
        guard let length = given.length ?? old.schedule?.length,
            let schedule = PeriodSchedule(
                firstIndex: first, firstStart: start, length: length, ahead: given.ahead ?? old.schedule?.ahead ?? 1,
                tracks: tracks, scheme: scheme)
        else { throw .failed("the periods would have too many tracks, or two of one label") }
        return schedule
    }

    /// The number and the start of the schedule's first period.
    ///
    /// An unchanged schedule keeps both. A schedule with another length begins when the current period ends. A content
    /// without a schedule continues with its newest period.
    private func beginning(_ old: LiveContent) async throws(CommandError) -> (UInt32, Int64) {
        guard let schedule = old.schedule else {
            let newest = try await newestPeriod()
            return (newest ?? Self.firstIndex, given.start ?? context.now)
        }
        let isSame = given.length == nil || given.length == schedule.length
        if old.rotates, isSame, given.start == nil { return (schedule.firstIndex, schedule.firstStart) }
        let current = schedule.index(at: min(context.now, old.endedAt ?? .max))
        let next = UInt32(clamping: current + 1)
        return (next, given.start ?? (old.rotates ? schedule.start(of: next) : context.now))
    }

    /// The tracks of new periods: those of `--track`, otherwise those of the schedule, of the newest period, or of the
    /// keys without a period.
    private func tracks(of old: LiveContent) async throws(CommandError) -> ([PeriodTrack], EncryptionScheme) {
        let before = try await tracksBefore(old)
        let scheme = before.first?.scheme ?? .cbcs
        guard given.tracks.isEmpty else { return (given.tracks.map { floored($0, before) }, scheme) }
        guard !before.isEmpty else {
            throw .usage("\(given.contentID) has no key to take the tracks from; name them by --track")
        }
        return (before.map(\.track), scheme)
    }

    /// The track with the least protection that it had before, if it existed before.
    private func floored(
        _ track: PeriodTrack, _ before: [(track: PeriodTrack, scheme: EncryptionScheme)]
    ) -> PeriodTrack {
        before.first { $0.track.track == track.track }?.track ?? track
    }

    private func tracksBefore(
        _ old: LiveContent
    ) async throws(CommandError) -> [(track: PeriodTrack, scheme: EncryptionScheme)] {
        if let schedule = old.schedule { return schedule.tracks.map { ($0, schedule.scheme) } }
        var keys: [ContentKeyAttributes] = []
        if let newest = try await newestPeriod() {
            keys = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await desk.store.periodKeys(of: given.contentID, in: newest...newest)
            }
        } else {
            try await store.forEachPage(of: given.contentID) { page in keys += page.filter { $0.state == .live } }
        }
        // Sorts them, so that the order does not depend on key ids. Each label is taken once.
        keys.sort { ($0.trackLabel?.text ?? "", $0.createdAt) < ($1.trackLabel?.text ?? "", $1.createdAt) }
        var found: [(track: PeriodTrack, scheme: EncryptionScheme)] = []
        for key in keys where !found.contains(where: { $0.track.track.label == key.trackLabel }) {
            found.append((PeriodTrack(of: key), key.scheme))
        }
        return found
    }

    private func newestPeriod() async throws(CommandError) -> UInt32? {
        try await OpenedKeyStore.attempt { () async throws(StoreError) in
            try await desk.store.knownPeriods(of: given.contentID).first?.index
        }
    }

    // MARK: Changes

    /// Stores the new state. Returns false if the content was changed meanwhile. An unchanged state is not written.
    private func set(_ new: LiveContent, insteadOf old: LiveContent) async throws(CommandError) -> Bool {
        if new == old, old.revision > 0 { return true }
        let isSet = try await OpenedKeyStore.attempt { () async throws(StoreError) in try await desk.store.set(new) }
        if isSet {
            let detail = new.ledgerText
            try records.write([.init(kind: .rotationSet, keyID: nil, contentID: given.contentID, detail: detail)])
        }
        return isSet
    }

    private func makeOne(_ new: LiveContent) async throws(CommandError) -> PeriodDesk.Made {
        let newest = try await newestPeriod()
        guard let period = given.period ?? (newest.map { $0 < .max ? $0 + 1 : nil } ?? Self.firstIndex) else {
            throw .failed("\(given.contentID) already has the period with the highest possible number")
        }
        let (tracks, scheme) = try await tracks(of: new)
        return try await make(period, tracks, scheme)
    }

    private func makeMissing(_ content: LiveContent) async throws(CommandError) -> [PeriodDesk.Made] {
        guard content.rotates, let schedule = content.schedule, given.makesKeys else { return [] }
        let now = context.now
        let standing = try await OpenedKeyStore.attempt { () async throws(StoreError) in
            try await desk.standing(of: content, at: now...now)
        }
        var made: [PeriodDesk.Made] = []
        for period in standing.missing { made.append(try await make(period, schedule.tracks, schedule.scheme)) }
        return made
    }

    private func make(
        _ period: UInt32, _ tracks: [PeriodTrack], _ scheme: EncryptionScheme
    ) async throws(CommandError) -> PeriodDesk.Made {
        let made = try await wrapAsync(
            { (error: KeyProvisionError) in
                CommandError.failed("period \(period) of \(given.contentID): \(error.explanation)")
            },
            try await desk.make(period, of: given.contentID, for: tracks, scheme: scheme, now: context.now))
        try records.write(
            made.keys.filter(\.isNew).map { key in
                .init(
                    kind: .keyCreated, keyID: key.record.keyID, contentID: given.contentID,
                    detail: "period \(period)")
            })
        return made
    }

    // MARK: Report

    private func report(
        _ content: LiveContent, _ made: [PeriodDesk.Made], _ printsJSON: Bool
    ) async throws(CommandError) {
        let live = try await OpenedKeyStore.attempt { () async throws(StoreError) in
            try await desk.store.livePeriods(of: given.contentID)
        }
        let window = live?.window(at: context.now...context.now)
        if printsJSON {
            try context.printObject { writer in
                content.write(to: &writer, window)
                writer.objects("keys", made.flatMap(\.keys)) { writer, key in
                    key.record.attributes.write(to: &writer)
                    writer.member("url", store.assetURL(of: key.record))
                    writer.member("outcome", key.isNew ? "stored" : "alreadyPresent")
                }
            }
        } else {
            var lines = KeyText.lines(content.lines(window))
            for key in made.flatMap(\.keys) {
                let period = key.record.attributes.periodIndex.map { String($0) } ?? "-"
                let track = key.record.attributes.trackLabel?.text ?? "-"
                let url = store.assetURL(of: key.record) ?? "-"
                lines += "\nperiod \(period)  \(track)  \(key.record.keyID)  \(url)"
            }
            try context.print(lines)
        }
    }
}

extension LiveContent {
    /// The detail of the ledger's row about a change: at most 64 bytes.
    fileprivate var ledgerText: String {
        let end = endedAt == nil ? "" : "ended, "
        guard let schedule else { return end + "window \(window)" }
        return end + "every \(schedule.length)s from \(schedule.firstIndex), window \(window), ahead \(schedule.ahead)"
    }

    fileprivate func lines(_ served: PeriodWindow?) -> [(name: String, value: String)] {
        var lines = [("content", contentID.text), ("window", String(window))]
        if let served {
            lines.append(("current", String(max(0, served.current.lowerBound))))
            lines.append(("served", "\(max(0, served.served.lowerBound)) to \(served.served.upperBound)"))
        }
        if let schedule {
            let start = UnixTime.text(schedule.firstStart)
            lines.append(("every", "\(schedule.length) s, period \(schedule.firstIndex) from \(start)"))
            lines.append(("ahead", String(schedule.ahead)))
        }
        if let endedAt { lines.append(("ended", UnixTime.text(endedAt))) }
        return lines
    }

    fileprivate func write(to writer: inout JSONWriter, _ served: PeriodWindow?) {
        writer.member("content", contentID.text)
        writer.member("window", Int64(window))
        writer.member("current", served?.current.lowerBound)
        writer.object("schedule", schedule) { writer, schedule in
            writer.member("seconds", schedule.length)
            writer.member("firstPeriod", Int64(schedule.firstIndex))
            writer.member("start", UnixTime.text(schedule.firstStart))
            writer.member("ahead", Int64(schedule.ahead))
        }
        writer.member("ended", endedAt.map(UnixTime.text))
    }
}
