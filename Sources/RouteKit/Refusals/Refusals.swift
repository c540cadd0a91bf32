package import HTTPMessages
package import HTTPServing
package import Licensing
import POSIXSockets
package import Records
package import Telemetry

/// Turns problems into responses, and keeps the cause of each refusal for operators, under the request id.
///
/// Each cause is kept in memory. It is also logged, unless the log's sampling leaves it out.
package struct Refusals: Sendable {
    private let logger: Logger
    private let recent: RecentRefusals
    private let clock: any WallClock
    private let rules: (@Sendable () -> RefusalRules)?
    private let counts: RefusalCounts?

    /// `rules` say how much of a client's address is written, and name the credentials that are counted.
    package init(
        logger: Logger, recent: RecentRefusals, clock: any WallClock, rules: (@Sendable () -> RefusalRules)? = nil,
        counts: RefusalCounts? = nil
    ) {
        self.counts = counts
        self.logger = logger
        self.rules = rules
        self.recent = recent
        self.clock = clock
    }

    /// The answer to a refused request, whose cause is noted.
    ///
    /// `event` is the name of the log event, and `facts` is what was found. `shape` is the form of a request for
    /// licenses; nil if it is not known.
    package func response(
        to event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID,
        facts: RefusalFacts = RefusalFacts(), spcVersion: UInt32 = 0, shape: String? = nil
    ) -> HTTPResponse {
        let time = clock.wallTime
        note(event, problem, because: cause, id: id, facts, spcVersion: spcVersion, shape: shape, at: time)
        return problem.response(requestID: id, time: time)
    }

    /// The answer about a thing that is not there, at an address that is served. `sentence` says what is missing.
    ///
    /// The request is not refused, so no refusal is noted. Otherwise each look-up would add one to the list.
    package func absence(_ sentence: String, id: RequestID) -> HTTPResponse {
        var problem = Problem(.notFound)
        problem.detail = sentence
        problem.hint = "Compare the id or the name with what the lists show. Each node knows only its own refusals."
        return problem.response(requestID: id, time: clock.wallTime)
    }

    /// Notes the cause of a refusal without making a response, for one refused key among several.
    package func note(
        _ event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID,
        facts: RefusalFacts = RefusalFacts(), spcVersion: UInt32, shape: String?
    ) {
        note(event, problem, because: cause, id: id, facts, spcVersion: spcVersion, shape: shape, at: clock.wallTime)
    }

    private func note(
        _ event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID, _ found: RefusalFacts,
        spcVersion: UInt32, shape: String?, at time: WallTime
    ) {
        let rules = rules?()
        var facts = RefusalFacts(
            listener: id.place?.listener, client: id.place?.client, rules?.clientAddress ?? .network)
        facts.add(found)
        counts?.count(problem.code, facts, under: rules)
        let tag = sixteenDigits(cause.tag)
        // All rejections of an SPC write the same fields, so that the time to write them does not show the cause.
        recent.note(
            .init(
                id.text, trace: id.trace?.traceID, at: time, event: event, code: problem.code.rawValue,
                cause: cause.text,
                facts: [("tag", tag), ("number", String(cause.number)), ("spc_version", String(spcVersion))]
                    + facts.all.map { ($0.name.word, $0.text) }),
            of: .init(isProven: problem.code.isOfProvenSender(facts), network: id.place?.client?.refusalNetwork))
        logger.log(
            problem.code.isOurFault ? .error : .info, event, from: .stranger,
            id.logFields + [
                .string("code", problem.code.rawValue), .string("cause", cause.text),
                .string("tag", tag), .unsigned("number", cause.number),
                .unsigned("spc_version", UInt64(spcVersion)),
            ] + facts.all.map { .string($0.name.word, $0.text) } + (shape.map { [.string("shape", $0)] } ?? []))
    }
}

extension ProblemCode {
    /// Whether the fault is on the server's side, so that an operator must act.
    ///
    /// A method or version that is not served has a status of 5xx too, but is not a fault.
    package var isOurFault: Bool {
        switch self {
        case .notImplemented, .versionNotSupported: false
        default: status.code >= 500  // For every other code the status decides.
        }
    }
}

extension IPAddress {
    /// The network whose refusals share places in memory, however much of the address is logged.
    fileprivate var refusalNetwork: IPNetwork { IPNetwork(of: self, bits4: 24, bits6: 48) }
}

extension ProblemCode {
    /// Whether a refusal with these facts is of a sender who has shown a good signature, or a packager's secret.
    ///
    /// Anyone can send a token that names a known key, so the issuer alone proves nothing.
    fileprivate func isOfProvenSender(_ facts: RefusalFacts) -> Bool {
        switch self {
        case .tokenMissing, .tokenAmbiguous, .tokenMalformed, .tokenAlgorithm, .keyIDUnknown, .keyIDRevoked,
            .tokenSignature, .packagerInvalid:
            false
        default: facts[.issuer] != nil || facts[.credential]?.hasPrefix("packager:") == true
        }
    }
}
