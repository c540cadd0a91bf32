import HTTPMessages
import HTTPServing
import Licensing
import Records
import Telemetry

/// Turns problems into responses, and keeps the cause of each where an operator finds it by the request id: in memory,
/// and in the log as often as its sampling allows.
struct Refusals: Sendable {
    private let logger: Logger
    private let recent: RecentRefusals
    private let clock: any WallClock
    private let rules: LiveRulesCell?
    private let counts: RefusalCounts?

    /// Without rules every status is that of the table.
    init(
        logger: Logger, recent: RecentRefusals, clock: any WallClock, rules: LiveRulesCell? = nil,
        counts: RefusalCounts? = nil
    ) {
        self.counts = counts
        self.logger = logger
        self.rules = rules
        self.recent = recent
        self.clock = clock
    }

    /// The answer to a request that is refused; `event` names the kind of request in the log. `shape` is the form of a
    /// request for licences, as far as it is known, and `facts` is what was found of it.
    func response(
        to event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID,
        facts: RefusalFacts = RefusalFacts(), spcVersion: UInt32 = 0, shape: String? = nil
    ) -> HTTPResponse {
        let time = clock.wallTime
        note(event, problem, because: cause, id: id, facts, spcVersion: spcVersion, shape: shape, at: time)
        return problem.response(
            requestID: id, time: time,
            hidesAuthentication: rules?.current.license.entitlement.hidesAuthentication ?? false)
    }

    /// Keeps the cause of a refusal that is no answer by itself: of one key among several.
    func note(
        _ event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID,
        facts: RefusalFacts = RefusalFacts(), spcVersion: UInt32, shape: String?
    ) {
        note(event, problem, because: cause, id: id, facts, spcVersion: spcVersion, shape: shape, at: clock.wallTime)
    }

    private func note(
        _ event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID, _ found: RefusalFacts,
        spcVersion: UInt32, shape: String?, at time: WallTime
    ) {
        let rules = rules?.current
        var facts = RefusalFacts(
            listener: id.place?.listener, client: id.place?.client, rules?.license.clientAddress ?? .network)
        facts.add(found)
        counts?.count(problem.code, facts, under: rules)
        let tag = sixteenDigits(cause.tag)
        // Every entry and line has the same fields for all rejections of an SPC, so that writing it takes the same
        // time.
        recent.note(
            .init(
                id.text, at: time, event: event, code: problem.code.rawValue, cause: cause.text,
                facts: [("tag", tag), ("number", String(cause.number)), ("spc_version", String(spcVersion))]
                    + facts.all.map { ($0.name.word, $0.text) }))
        logger.log(
            problem.code.isOurFault ? .error : .info, event, from: .stranger,
            [
                .string("request_id", id.text), .string("code", problem.code.rawValue), .string("cause", cause.text),
                .string("tag", tag), .unsigned("number", cause.number),
                .unsigned("spc_version", UInt64(spcVersion)),
            ] + facts.all.map { .string($0.name.word, $0.text) } + (shape.map { [.string("shape", $0)] } ?? []))
    }
}

extension ProblemCode {
    /// Whether an operator has something to mend. Methods and versions that are not served have a status of this kind,
    /// and no fault.
    var isOurFault: Bool {
        switch self {
        case .notImplemented, .versionNotSupported: false
        default: status.code >= 500  // Every other code says it by its status.
        }
    }
}
