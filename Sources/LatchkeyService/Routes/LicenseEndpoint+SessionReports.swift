import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import Telemetry

/// Reports of playback sessions that have ended ("secure stop"; clients, section 4d).
///
/// A device repeats a report until it is answered with the word `acknowledged`, and nothing that this server finds
/// wrong would be mended by repetition. So every report is acknowledged, and only those of verified tokens are read
/// and recorded.
extension LicenseEndpoint {
    func answer(
        _ report: [UInt8], of sender: LicenseSender, in context: Context, on loop: LoopContext
    ) -> HTTPAnswer {
        guard sender.isVerified else { return .now(acknowledge(.unverified, context.id)) }
        do throws(LicenseError) {
            try pipelines.pipeline(on: loop).admissionControl.count(reportOf: sender)
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

    func acknowledge(_ outcome: ReportOutcome, _ id: RequestID) -> HTTPResponse {
        metrics.noted(outcome)
        return Self.acknowledgement(id)
    }

    /// Twelve bytes and no line end: the answer goes into the browser's module as it is.
    private static func acknowledgement(_ id: RequestID) -> HTTPResponse {
        HTTPResponse(
            status: .ok, fields: .answer("text/plain; charset=utf-8", id), body: Array("acknowledged".utf8))
    }
}

/// What became of a reported session, or of a whole report.
enum ReportOutcome: String, MetricLabels {
    case recorded
    /// The session was reported before.
    case repeated
    /// The store did not take it.
    case failed
    /// The bytes are no property list that names a session.
    case unreadable
    /// There was no token that this server has verified.
    case unverified
    /// The subject asks too often.
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
