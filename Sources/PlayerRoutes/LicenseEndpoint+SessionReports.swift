import ByteCoding
import EventLoops
import Foundation
package import HTTPMessages
package import HTTPServing
import Licensing
import PlayerMessages
import Telemetry

/// Reports of playback sessions that have ended ("secure stop"; clients, section 4d).
///
/// A device repeats a report until the answer is the word `acknowledged`, and a fault in a report would not go away by
/// repetition. So every report is acknowledged, but only reports with verified tokens are read and recorded.
extension LicenseEndpoint {
    func answer(_ report: [UInt8], of sender: LicenseSender, in context: Context) -> HTTPAnswer {
        guard sender.isVerified else { return .now(acknowledge(.unverified, context.id)) }
        do throws(LicenseError) {
            try context.control.count(reportOf: sender)
        } catch {
            return .now(acknowledge(.limited, context.id))
        }
        return .later { _ in await acknowledge(report, of: sender, context.id) }
    }

    private func acknowledge(_ report: [UInt8], of sender: LicenseSender, _ id: RequestID) async -> HTTPResponse {
        guard let sessions = SessionReport.sessions(in: report), !sessions.isEmpty else {
            return acknowledge(.unreadable, id)
        }
        for outcome in await pipelines.record(sessions, reportedBy: sender, now: clock.wallTime.seconds) {
            metrics.noted(ReportOutcome(outcome))
        }
        return Self.acknowledgement(id)
    }

    package func acknowledge(_ outcome: ReportOutcome, _ id: RequestID) -> HTTPResponse {
        metrics.noted(outcome)
        return Self.acknowledgement(id)
    }

    /// The answer to a report: twelve bytes without a line end, because apps pass it unchanged to the browser's CDM.
    private static func acknowledgement(_ id: RequestID) -> HTTPResponse {
        HTTPResponse(
            status: .ok, fields: .answer("text/plain; charset=utf-8", id), body: Array("acknowledged".utf8))
    }
}

/// The outcome for a reported session, or for a whole report.
package enum ReportOutcome: String, MetricLabels {
    case recorded
    /// The session was reported before.
    case repeated
    /// The store did not record the session.
    case failed
    /// The bytes are not a property list that names a session.
    case unreadable
    /// The request has no token that this server can verify.
    case unverified
    /// The subject sends too many requests.
    case limited

    static let labelNames = ["outcome"]

    init(_ outcome: SessionReportOutcome) {
        self =
            switch outcome {
            case .recorded: .recorded
            case .repeated: .repeated
            case .failed: .failed
            }
    }
}

/// A property list, binary or XML, of playback sessions that have ended.
///
/// Apple documents only one of its members, the id of the session (clients, section 4d).
enum SessionReport {
    /// The most sessions that are read from one report. Further ones are ignored.
    static let sessionCountMaximum = 64
    /// The size of the longest id in bytes. A row of the ledger has room for twice as many hexadecimal digits.
    static let idSizeMaximum = 32

    /// The ids of the sessions, each once: text as it is, and bytes as hexadecimal digits.
    ///
    /// Nil if the bytes are not a property list within the bounds.
    static func sessions(in bytes: [UInt8]) -> [String]? {
        // Safe: no pointer is passed, since the format of the list is not needed.
        guard PropertyListBounds.accepts(bytes),
            let list = try? unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        else { return nil }
        var found: [String] = []
        collect(list, into: &found)
        return found
    }

    /// Collects ids at every depth. `PropertyListBounds` limits the depth of the recursion.
    private static func collect(_ value: Any, into found: inout [String]) {
        guard found.count < sessionCountMaximum else { return }
        if let members = value as? [String: Any] {
            if let id = members["PlaybackSessionID"].flatMap(text), !found.contains(id) { found.append(id) }
            for (_, member) in members.sorted(by: { $0.key < $1.key }) { collect(member, into: &found) }
        } else if let elements = value as? [Any] {
            for element in elements { collect(element, into: &found) }
        }
    }

    private static func text(_ value: Any) -> String? {
        switch value {
        case let data as Data: (1...idSizeMaximum).contains(data.count) ? Hexadecimal.encode(Array(data)) : nil
        case let text as String:
            (1...2 * idSizeMaximum).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E) ~= $0 }
                ? text : nil
        case let number as UInt64: String(number)
        default: nil  // A value of another type is not a session id.
        }
    }
}
