import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay

/// The options for the report of a sync SPC about the device's stored keys.
struct SyncArguments {
    static let sync = CommandOption("--sync", .value(actions), help: "make a sync SPC: \(meaning)")
    /// The same option for a command that always makes a sync SPC.
    static let syncOrReport = CommandOption("--sync", .value(actions), help: "\(meaning); report unless given")
    private static let actions = "report|invalidate|invalidate-all"
    private static let meaning =
        "what the app asked of the device: to report when its key ends, or to invalidate the keys of one title or of all"
    static let version = CommandOption(
        "--sync-version", .value("1|2"),
        help: "the version of the sync block; 2 unless given. Version 1 can only report, and has no challenge")
    static let contentID = CommandOption(
        "--content-id", .value("HEX"),
        help: "version 1: the content id of the offline key, 32 digits; zeros unless given")
    static let titleID = CommandOption(
        "--title-id", .value("HEX"), help: "version 2: the title id of the offline key, 32 digits; zeros unless given")
    static let streamID = CommandOption(
        "--stream-id", .value("HEX"),
        help: "version 2: the stream id of an invalidated key, 32 digits; at most 250",
        repeats: true)
    static let remaining = CommandOption(
        "--remaining", .value("DURATION|expired|never"),
        help: "when the key ends; unless given, never for a report, and expired for an invalidation")
    static let outcome = CommandOption(
        "--outcome", .value("success|not-found|expired"), help: "version 2: the outcome; success unless given")

    /// The further options of a sync.
    static let details = [version, contentID, titleID, streamID, remaining, outcome]

    private enum Action: String, CaseIterable {
        case report
        case invalidate
        case invalidateAll = "invalidate-all"

        var flag: SyncFlags {
            switch self {
            case .report: .report
            case .invalidate: .secureInvalidation
            case .invalidateAll: .secureInvalidationOfAll
            }
        }
    }

    private enum Outcome: String, CaseIterable {
        case success
        case notFound = "not-found"
        case expired

        var flag: SyncFlags {
            switch self {
            case .success: .success
            case .notFound: .objectNotFound
            case .expired: .objectExpired
            }
        }
    }

    /// Whether the report can have a challenge.
    let takesChallenge: Bool
    private let action: Action
    private let subject: SyncReport.Subject
    private let remaining: SyncReport.Remaining

    init(_ arguments: Arguments) throws(CommandError) {
        action = try arguments.word(Self.sync) ?? .report
        remaining = try Self.remaining(arguments, action)
        switch arguments.value(Self.version) {
        case nil, "2":
            subject = try Self.version2(arguments, action)
            takesChallenge = true
        case "1":
            subject = try Self.version1(arguments, action)
            takesChallenge = false
        case .some: throw .usage("--sync-version takes 1 or 2")
        }
    }

    /// Nil if the arguments do not ask for a sync.
    init?(ifAskedFor arguments: Arguments) throws(CommandError) {
        guard arguments.isSet(Self.sync) else {
            for option in Self.details where arguments.isSet(option) {
                throw .usage("\(option.name) is for a sync; add --sync report, invalidate or invalidate-all")
            }
            return nil
        }
        try self.init(arguments)
    }

    /// The report. `challenge` is the server's number that proves that the report is fresh; 0 for none.
    func report(challenge: UInt64) -> SyncReport {
        switch subject {
        case .version1: SyncReport(subject, remaining: remaining)
        case .version2(let details):
            SyncReport(
                .version2(
                    SyncReportVersion2(
                        challenge: challenge, flags: details.flags, titleID: details.titleID,
                        streamIDs: details.streamIDs)), remaining: remaining)
        }
    }

    private static func remaining(
        _ arguments: Arguments, _ action: Action
    ) throws(CommandError) -> SyncReport.Remaining {
        switch arguments.value(remaining) {
        case nil: return action == .report ? .unlimited : .expired
        case "never": return .unlimited
        case "expired": return .expired
        case .some(let text):
            guard let seconds = UInt32(text) ?? DurationText.seconds(text).flatMap({ UInt32(exactly: $0) }),
                (1..<UInt32.max).contains(seconds)
            else {
                throw .usage(
                    "--remaining takes a duration such as 5m, 1 to \(UInt32.max - 1) seconds, expired, or never")
            }
            return .seconds(seconds)
        }
    }

    private static func version1(_ arguments: Arguments, _ action: Action) throws(CommandError) -> SyncReport.Subject {
        guard action == .report else { throw .usage("--sync-version 1 can only report") }
        for option in [titleID, streamID, outcome] where arguments.isSet(option) {
            throw .usage("\(option.name) needs --sync-version 2")
        }
        return .version1(contentID: try arguments.identifier16(contentID) ?? .zero)
    }

    private static func version2(_ arguments: Arguments, _ action: Action) throws(CommandError) -> SyncReport.Subject {
        guard !arguments.isSet(contentID) else { throw .usage("--content-id needs --sync-version 1") }
        let title = try arguments.identifier16(titleID)
        let streams = try arguments.identifiers16(streamID)
        guard streams.count <= SyncReportVersion2.streamIDCountMaximum else {
            throw .usage("--stream-id is given more than \(SyncReportVersion2.streamIDCountMaximum) times")
        }
        let outcome: Outcome = try arguments.word(Self.outcome) ?? .success
        var flags: SyncFlags = [action.flag, outcome.flag]
        if title != nil { flags.insert(.titleIDIsValid) }
        return .version2(
            SyncReportVersion2(challenge: 0, flags: flags, titleID: title ?? .zero, streamIDs: streams))
    }
}
