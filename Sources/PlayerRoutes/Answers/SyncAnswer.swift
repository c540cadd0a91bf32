import ByteCoding
import FairPlay
import HTTPMessages
import HTTPServing
import Licensing
import RouteKit

/// The answer to a sync SPC: the device's report as JSON, and no CKC (clients, section 4c).
///
/// `offline-sync` has the members that Apple's own tools write. The three members beside it are for apps: when the key
/// expires, and whether the report is fresh.
enum SyncAnswer {
    /// `now` is in seconds since 1970.
    static func response(to accepted: AcceptedSyncReport, now: Int64, id: RequestID) -> HTTPResponse {
        .json(id) { writer in write(accepted, now: now, to: &writer) }
    }

    /// Writes the members of a report into an object that may have other members too. `now` is in seconds since 1970.
    static func write(_ accepted: AcceptedSyncReport, now: Int64, to writer: inout JSONWriter) {
        let report = accepted.report
        writer.object("offline-sync") { writer in write(report, to: &writer) }
        if let seconds = report.remaining.secondsLeft {
            writer.member("expiresInSeconds", seconds)
            writer.member("expirationDate", date(now + Int64(seconds)))
        } else {
            writer.name("expiresInSeconds")
            writer.null()
            writer.name("expirationDate")
            writer.null()
        }
        writer.member("challengeAccepted", accepted.isChallengeAccepted)
    }

    private static func write(_ report: SyncReport, to writer: inout JSONWriter) {
        switch report.subject {
        case .version1(let contentID):
            writer.member("version", 1)
            writer.member("duration-to-expiry", UInt64(report.remaining.wireValue))
            writer.member("content-id", Hexadecimal.encode(contentID.bytes))
        case .version2(let details):
            writer.member("version", 2)
            writer.member("duration-to-expiry", UInt64(report.remaining.wireValue))
            writer.member("server-challenge", sixteenDigits(details.challenge))
            writer.object("flags") { writer in write(details.flags, to: &writer) }
            writer.member("title-id", Hexadecimal.encode(details.titleID.bytes))
            writer.member("records-invalidated", details.streamIDs.count)
            writer.array("invalidated-stream-ids") { writer in
                for streamID in details.streamIDs { writer.string(Hexadecimal.encode(streamID.bytes)) }
            }
        }
    }

    private static func write(_ flags: SyncFlags, to writer: inout JSONWriter) {
        writer.member("report", flags.contains(.report))
        writer.member("secure-invalidation", flags.contains(.secureInvalidation))
        writer.member("secure-invalidation-all", flags.contains(.secureInvalidationOfAll))
        writer.member("title-id-valid", flags.contains(.titleIDIsValid))
        writer.member("success", flags.contains(.success))
        writer.member("obj-not-found", flags.contains(.objectNotFound))
        writer.member("obj-expired", flags.contains(.objectExpired))
    }

    /// Nil for a time past the year 9999.
    private static func date(_ seconds: Int64) -> String? {
        UnixTime(seconds: seconds, nanoseconds: 0).map { RFC3339.format($0, precision: .seconds) }
    }
}

extension SyncReport.Remaining {
    /// The seconds until the key expires: 0 if it has expired, nil if it does not expire.
    fileprivate var secondsLeft: UInt64? {
        switch self {
        case .expired: 0
        case .seconds(let seconds): UInt64(seconds)
        case .unlimited: nil
        }
    }
}
