import Administration
import ByteCoding
import CommandLineKit
import ContentKeys
import Entitlements
import KeyCrypto
import POSIXSockets
import Records

extension Command {
    static let rotateKeys = Command(
        "rotate",
        summary: "Make the keys of a live content's next period, or let the daemon do so on a schedule",
        details: """
            Without a schedule, the next period gets one key for each track of the newest one, with the same scheme and floors; a content
            without periods has the tracks that --track names, or those of its keys. With --every, the daemon makes each period ahead of
            its start from then on, and the command makes those that are due. The same command again changes nothing; another --every
            begins when the current period ends. --end ends the content: no period follows.

            Licences are given for the current period, the one before and the one after it, and for as many past periods as --window
            says. A content for which this command was never run has no such limit. With --no-keys the command makes none: for a content
            whose packager numbers the periods, by SPEKE or POST /v1/keys.

            Each new key, and each change of window or schedule, is recorded in the ledger.
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
            let store = try OpenedKeyStore(configuration: given.configuration, context)
            try await KeyRotation(given, store, context).run(printsJSON: arguments.isSet(.json))
        })
}

/// What `keys rotate` is asked to do.
struct RotateArguments {
    private static let every = CommandOption(
        "--every", .value("TIME"), help: "how long each period is, as 1h; from then on the daemon makes the periods")
    private static let window = CommandOption(
        "--window", .value("COUNT"),
        help: "how many past periods are served (DVR); 1 at least, and unless it was given before")
    private static let ahead = CommandOption(
        "--ahead", .value("COUNT"),
        help: "with --every: how many periods have their keys ahead, 1 to 64; 1 unless given")
    private static let start = CommandOption(
        "--start", .value("TIME"),
        help: "with --every: when the first period begins, as 2026-01-31T12:00:00Z; now unless given")
    private static let track = CommandOption(
        "--track", .value("LABEL[:TYPE]"),
        help: "a track of each period: AUDIO, SD, HD, UHD, or LABEL:audio, :sd, :hd or :uhd with a label of your own",
        repeats: true)
    private static let period = CommandOption(
        "--period", .value("INDEX"), help: "make this period in place of the next one; those keys that are there stay")
    private static let noKeys = CommandOption("--no-keys", .flag, help: "only say the window; make no keys")
    private static let end = CommandOption("--end", .flag, help: "end the content: no period follows")

    static let options = [
        KeyArguments.config, KeyArguments.content, every, window, ahead, start, track, period, noKeys, end, .json,
    ]

    let configuration: String
    let contentID: ContentID
    /// In seconds.
    let length: Int64?
    let window: UInt32?
    let ahead: UInt32?
    let start: Int64?
    /// Empty if none is given.
    let tracks: [PeriodTrack]
    let period: UInt32?
    let makesKeys: Bool
    let isEnd: Bool

    init(_ arguments: Arguments, now: Int64) throws(CommandError) {
        configuration = try arguments.required(KeyArguments.config)
        contentID = try KeyArguments.contentID(arguments.required(KeyArguments.content))
        length = try Self.length(arguments)
        window = try Self.count(Self.window, arguments, in: LiveContent.windows)
        ahead = try Self.count(Self.ahead, arguments, in: PeriodSchedule.aheads)
        start = try Self.start(arguments)
        tracks = try Self.tracks(arguments.values(Self.track))
        period = try Self.count(Self.period, arguments, in: 0...UInt32.max)
        makesKeys = !arguments.isSet(Self.noKeys)
        isEnd = arguments.isSet(Self.end)
        if isEnd, length != nil || ahead != nil || start != nil || !tracks.isEmpty || period != nil || !makesKeys {
            throw .usage("--end goes with --window alone")
        }
        let isWindowAlone =
            window != nil && length == nil && ahead == nil && start == nil && tracks.isEmpty && period == nil
        if !makesKeys, !isWindowAlone { throw .usage("--no-keys goes with --window alone") }
        if length == nil, start != nil { throw .usage("--start goes with --every") }
        if length != nil, period != nil { throw .usage("--period and --every contradict one another") }
    }

    private static func length(_ arguments: Arguments) throws(CommandError) -> Int64? {
        guard let text = arguments.value(every) else { return nil }
        guard let length = RentalTerms.seconds(text) ?? Int64(text), PeriodSchedule.lengths.contains(length) else {
            throw .usage("--every takes a minute to 366 days: a whole number and one of the units s, m, h and d")
        }
        return length
    }

    private static func start(_ arguments: Arguments) throws(CommandError) -> Int64? {
        guard let text = arguments.value(start) else { return nil }
        guard let time = try? RFC3339.parse(text) else {
            throw .usage("--start takes a time as 2026-01-31T12:00:00Z or 2026-01-31T12:00:00+01:00")
        }
        return time.seconds
    }

    private static func count(
        _ option: CommandOption, _ arguments: Arguments, in range: ClosedRange<UInt32>
    ) throws(CommandError) -> UInt32? {
        guard let text = arguments.value(option) else { return nil }
        guard let count = UInt32(text), range.contains(count) else {
            throw .usage("\(option.name) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
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

    /// A label, or a label of one's own, a colon and a content type. The label may have colons of its own.
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
    /// How often the command begins again because others have changed the content meanwhile.
    private static let attemptCount = 5
    /// The number of a content's first period.
    private static let firstIndex: UInt32 = 1

    private let given: RotateArguments
    private let store: OpenedKeyStore
    private let desk: PeriodDesk
    private let context: CommandContext
    private let records: KeyRecords

    /// The ledger is opened first, so that nothing is changed if it cannot be.
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
            // Keys of a single period first: if they cannot be made, nothing has changed.
            var made: [PeriodDesk.Made] = []
            if new.schedule == nil, new.endedAt == nil, given.makesKeys { made = [try await makeOne(new)] }
            guard try await set(new, insteadOf: old) else { continue }
            made += try await makeMissing(new)
            return try await report(new, made, printsJSON)
        }
        throw .failed("others change the content at this moment; try again")
    }

    // MARK: What the content becomes

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
            throw .usage("--ahead goes with --every")
        } else if old.schedule == nil, given.window == nil {
            // A further period begins an ended content again.
            new.endedAt = nil
        } else if old.endedAt != nil, given.window == nil {
            throw .failed("\(given.contentID) has ended; --every begins it again")
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

    /// Number and start of the first period. A schedule that goes on as it was keeps both; one with other periods
    /// begins when the current one ends; and a content without a schedule goes on with its newest period.
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

    /// Those that are given; otherwise those of the schedule, of the newest period, or of the keys without a period.
    private func tracks(of old: LiveContent) async throws(CommandError) -> ([PeriodTrack], EncryptionScheme) {
        let before = try await tracksBefore(old)
        let scheme = before.first?.scheme ?? .cbcs
        guard given.tracks.isEmpty else { return (given.tracks.map { floored($0, before) }, scheme) }
        guard !before.isEmpty else {
            throw .usage("\(given.contentID) has no key to take the tracks from; name them by --track")
        }
        return (before.map(\.track), scheme)
    }

    /// A track that was there before keeps its floor.
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
        // In an order that does not depend on key ids, and each label once.
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

    /// False if others were first. A content that stays as it is is not written.
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
            throw .failed("\(given.contentID) has the last period that there can be")
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
                writer.name("keys")
                writer.array { writer in
                    for key in made.flatMap(\.keys) {
                        writer.object { writer in
                            key.record.attributes.write(to: &writer)
                            writer.member("url", store.assetURL(of: key.record))
                            writer.member("outcome", key.isNew ? "stored" : "alreadyPresent")
                        }
                    }
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
    /// What the ledger says of a change: at most 64 bytes.
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
            let start = Self.time(schedule.firstStart)
            lines.append(("every", "\(schedule.length) s, period \(schedule.firstIndex) from \(start)"))
            lines.append(("ahead", String(schedule.ahead)))
        }
        if let endedAt { lines.append(("ended", Self.time(endedAt))) }
        return lines
    }

    fileprivate func write(to writer: inout JSONWriter, _ served: PeriodWindow?) {
        writer.member("content", contentID.text)
        writer.member("window", Int64(window))
        writer.name("current")
        if let served { writer.integer(served.current.lowerBound) } else { writer.null() }
        writer.name("schedule")
        if let schedule {
            writer.object { writer in
                writer.member("seconds", schedule.length)
                writer.member("firstPeriod", Int64(schedule.firstIndex))
                writer.member("start", Self.time(schedule.firstStart))
                writer.member("ahead", Int64(schedule.ahead))
            }
        } else {
            writer.null()
        }
        writer.member("ended", endedAt.map(Self.time))
    }

    private static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? "\(seconds) seconds since 1970"
    }
}
