import ByteCoding
import ContentKeys
import Entitlements
package import EventLoops
import FairPlay
import HTTPMessages
package import HTTPServing
package import Licensing
import POSIXSockets
import PlayerMessages
import Records
package import RouteKit
package import Telemetry

/// `POST /fps/license` and its aliases: takes SPCs in every shape that players send, and answers in the shape that the
/// player reads (clients, section 2).
///
/// A request of any shape passes these steps:
///
///     query -> head: address, token, revocations, clock -> shape of the body -> containers -> rates -> licenses
///
/// The body is read only after the token is accepted, so that clients without a good token cost little. The answer to a
/// sync SPC is its report. An ended playback gets a short JSON object, and a report of ended sessions gets one word.
package struct LicenseEndpoint: Sendable {
    package let pipelines: LicensePipelines
    package let metrics: PlayerMetrics
    private let logger: Logger
    package let refusals: Refusals
    package let clock: any WallClock

    package init(
        pipelines: LicensePipelines, metrics: PlayerMetrics, refusals: Refusals, logger: Logger, clock: any WallClock
    ) {
        self.pipelines = pipelines
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
        self.refusals = refusals
    }

    /// What the server knows of a request without its body.
    package struct Context: Sendable {
        /// The pipeline of the request's loop.
        let pipeline: LicensePipeline
        let rules: LicenseRules
        let wish: LicenseWish
        let address: LicenseAddress
        let origin: RequestOrigin
        let id: RequestID
        let start: MonotonicTime

        var control: AdmissionControl { pipeline.admissionControl }
    }

    /// Refuses the request now if that needs no RSA operation. Otherwise returns the remaining work.
    ///
    /// If an accelerator can check the signature of its token together with others, that is the first work.
    package func answer(
        _ request: HTTPRequest, at address: LicenseAddress = LicenseAddress(), under rules: LicenseRules,
        id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let context: Context
        do throws(LicenseRefusal) {
            context = try self.context(of: request, at: address, under: rules, id: id, on: loop)
        } catch {
            return .now(refuse(error.problem, because: error.cause, id: id, form: .unread, facts: error.facts))
        }
        var carriers = request.tokenCarriers
        let pending = pendingSignatures(of: request, &carriers, in: context)
        guard !pending.isEmpty else { return answer(checked: request, carriers, in: context, on: loop) }
        return .later { loop in
            await context.control.check(pending, under: rules)
            switch answer(checked: request, request.tokenCarriers, in: context, on: loop) {
            case .now(let response), .stream(let response, _): return response
            case .later(let work): return await work(loop)
            }
        }
    }

    /// Why a request is refused before anything of it but the query is read.
    private struct LicenseRefusal: Error {
        let problem: Problem
        let cause: RefusalCause
        var facts = RefusalFacts()
    }

    private func context(
        of request: HTTPRequest, at address: LicenseAddress, under rules: LicenseRules, id: RequestID,
        on loop: LoopContext
    ) throws(LicenseRefusal) -> Context {
        let pipeline = try wrap(
            { (error: LicenseError) in LicenseRefusal(problem: Problem(for: error), cause: error.cause) },
            try pipelines.pipeline(on: loop))
        let origin = request.origin(countryField: rules.entitlement.countryField)
        let wish = try wrap(
            { (fault: LicenseWish.Fault) in
                LicenseRefusal(
                    problem: Problem(for: fault),
                    cause: RefusalCause("the query's \(fault.parameter.rawValue) is not readable"),
                    facts: pipeline.admissionControl.facts(from: origin, under: rules))
            },
            try LicenseWish(
                query: request.parameters, fields: request.fields, standard: address.answer,
                followsAccept: address.followsAccept))
        return Context(
            pipeline: pipeline, rules: rules, wish: wish, address: address, origin: origin, id: id, start: loop.now)
    }

    /// The signatures to check ahead. A request without a body is refused anyway, and its refusal must not wait.
    private func pendingSignatures(
        of request: HTTPRequest, _ carriers: inout TokenCarriers, in context: Context
    ) -> [PendingSignature] {
        guard !request.body.isEmpty, context.control.checksSignaturesAhead else { return [] }
        return context.control.pendingSignatures(
            presenting: &carriers, from: request.peer.address.ip, under: context.rules,
            now: clock.wallTime.seconds)
    }

    private func answer(
        checked request: HTTPRequest, _ carriers: TokenCarriers, in context: Context, on loop: LoopContext
    ) -> HTTPAnswer {
        PlayerMessageReader.looksLikeSPC(request.body[...])
            ? answer(raw: request, carriers, in: context, on: loop) : answer(request, carriers, in: context, on: loop)
    }

    /// Whether the head of the request is enough to refuse it. `answer` then gives the refusal.
    ///
    /// `mayBringToken` says that at this address a token in the body counts, if the configuration allows it.
    package func refusesHead(
        of request: HTTPRequest, under rules: LicenseRules, mayBringToken: Bool = false, on loop: LoopContext
    ) -> Bool {
        do throws(LicenseError) {
            return try pipelines.pipeline(on: loop).admissionControl.refusesHead(
                presenting: request.tokenCarriers, from: request.peer.address.ip, under: rules,
                mayBringToken: mayBringToken && rules.entitlement.finder.readsBody, now: clock.wallTime.seconds)
        } catch {
            // The loop has no pipeline, so every request is refused.
            return true
        }
    }

    // MARK: One SPC

    /// Answers a request whose body is the bytes of an SPC, as most players send it. The body is not decoded or copied.
    private func answer(
        raw request: HTTPRequest, _ carriers: TokenCarriers, in context: Context, on loop: LoopContext
    ) -> HTTPAnswer {
        do throws(LicenseError) {
            let sender = try context.control.admitSender(
                presenting: carriers, from: context.origin, renewal: context.wish.renewal, under: context.rules,
                now: clock.wallTime.seconds, id: context.id.text)
            let admission = try context.control.admit(
                LicenseRequest(
                    message: request.body, use: context.wish.use, origin: sender.origin, renewal: sender.renewal,
                    assetHints: request.assetHints(at: context.address), id: context.id.text, trace: context.id.trace),
                of: sender)
            let shape = context.wish.answer.shape(for: .raw)
            return .later { loop in await respond(to: admission, .raw, as: shape, in: context, on: loop) }
        } catch {
            return .now(refuse(error, of: request, form: .raw, in: context, on: loop))
        }
    }

    private func respond(
        to admission: Admission, _ form: MessageForm, as shape: AnswerShape, in context: Context, on loop: LoopContext
    ) async -> HTTPResponse {
        do throws(LicenseError) {
            let outcome = try await context.pipeline.answer(admission, now: clock.wallTime.seconds)
            let result = KeyResult(note(outcome, of: admission, form: form, in: context, on: loop))
            return LicenseAnswer.response(to: [result], as: shape, at: clock.wallTime, context.id)
        } catch {
            return refuse(
                Problem(for: error), because: error.cause, id: context.id, form: form,
                facts: admission.refusalFacts, version: admission.envelope.version, of: admission.refusedDevice)
        }
    }

    // MARK: Every other shape

    private func answer(
        _ request: HTTPRequest, _ carriers: TokenCarriers, in context: Context, on loop: LoopContext
    ) -> HTTPAnswer {
        let rules = context.rules
        // Only if the body may have the token is it read before the token is known.
        let early = rules.entitlement.finder.readsBody ? Self.read(request) : nil
        var carriers = carriers
        if case .success(.request(let body)) = early, let token = body.token {
            carriers = carriers.with(bodyToken: Array(token.utf8))
        }
        let sender: LicenseSender
        do throws(LicenseError) {
            sender = try context.control.admitSender(
                presenting: carriers, from: context.origin, renewal: context.wish.renewal, under: rules,
                now: clock.wallTime.seconds, id: context.id.text)
        } catch {
            // A device keeps a report until it is acknowledged. Its token may expire before that.
            if error.code != .rateLimited, PlayerMessageReader.isSessionReport(request.body) {
                return .now(acknowledge(.unverified, context.id))
            }
            return .now(refuse(error, of: request, with: carriers, form: .unread, in: context, on: loop))
        }
        switch early ?? Self.read(request) {
        case .success(.request(let body)): return answer(body, to: request, of: sender, in: context, on: loop)
        case .success(.sessionReport(let report)): return answer(report, of: sender, in: context)
        case .failure(let error):
            return .now(
                refuse(
                    Problem(for: error), because: RefusalCause("the body is \(error.received)"), id: context.id,
                    form: .unread, facts: context.control.facts(from: sender)))
        }
    }

    /// Reads the body. A body that is not text is treated as an SPC, so that the refusal says what is wrong with the
    /// SPC.
    private static func read(_ request: HTTPRequest) -> Result<PlayerMessage, PlayerMessageError> {
        do throws(PlayerMessageError) {
            return .success(try PlayerMessageReader.read(request.body, contentType: request.fields["Content-Type"]))
        } catch {
            guard error == .unrecognised, !PlayerMessageReader.isText(request.body) else { return .failure(error) }
            return .success(.request(PlayerRequest(shape: .raw, keys: [RequestedKey(spc: request.body)])))
        }
    }

    private func answer(
        _ body: PlayerRequest, to request: HTTPRequest, of sender: LicenseSender, in context: Context,
        on loop: LoopContext
    ) -> HTTPAnswer {
        let shape = context.wish.answer.shape(for: body)
        let form = MessageForm(body.shape)
        // A hint outside the body names one key, so it is ignored if the body asks for several.
        let hints = body.keys.count == 1 ? request.assetHints(at: context.address) : []
        let requests = body.keys.map { key in
            LicenseRequest(
                message: key.spc, use: context.wish.use ?? (key.isOffline ? .offline : nil), origin: sender.origin,
                renewal: sender.renewal,
                assetHints: hints + (key.assetHint.flatMap { AssetHint($0.utf8, in: .body) }.map { [$0] } ?? []),
                id: context.id.text, trace: context.id.trace)
        }
        do throws(LicenseError) {
            guard shape.hasResultForEachKey else {
                let admission = try context.control.admit(requests[0], of: sender)
                return .later { loop in await respond(to: admission, form, as: shape, in: context, on: loop) }
            }
            let company = Company(
                admissions: try context.control.admit(requests, of: sender), sender: sender,
                labels: body.keys.map(\.label))
            return .later { loop in await respond(to: company, form, as: shape, in: context, on: loop) }
        } catch {
            return .now(refuse(error, of: request, form: form, in: context, on: loop))
        }
    }

    /// The keys of one request.
    private struct Company: Sendable {
        let admissions: [Result<Admission, LicenseError>]
        let sender: LicenseSender
        /// How the request names each key, in the same order.
        let labels: [JSONNode?]
    }

    /// The answer with a result for each key. A refused key does not affect the others.
    private func respond(
        to company: Company, _ form: MessageForm, as shape: AnswerShape, in context: Context, on loop: LoopContext
    ) async -> HTTPResponse {
        let good = company.admissions.compactMap { try? $0.get() }
        let outcomes: [Result<LicenseOutcome, LicenseError>]
        do throws(LicenseError) {
            outcomes = try await pipelines.answer(good, now: clock.wallTime.seconds, on: loop)
        } catch {
            return refuse(Problem(for: error), because: error.cause, id: context.id, form: form)
        }
        var rest = zip(good, outcomes).makeIterator()
        let results = zip(company.admissions, company.labels).map { admission, label in
            var error: LicenseError?
            var version: SPCVersion?
            var facts: RefusalFacts?
            var device: DeviceSummary?
            switch admission {
            case .failure(let refusal): error = refusal
            case .success:
                guard let (admission, outcome) = rest.next() else { break }
                version = admission.envelope.version
                switch outcome {
                case .success(let outcome):
                    return KeyResult(label: label, note(outcome, of: admission, form: form, in: context, on: loop))
                case .failure(let refusal):
                    (error, facts, device) = (refusal, admission.refusalFacts, admission.refusedDevice)
                }
            }
            let refusal = error ?? .overloaded
            let problem = note(
                refusal, form: form, version: version,
                facts: facts ?? context.control.facts(of: refusal, from: company.sender), of: device, in: context)
            return KeyResult(label: label, .refused(problem))
        }
        return LicenseAnswer.response(to: results, as: shape, at: clock.wallTime, context.id)
    }

    // MARK: Counting and logging

    /// Counts and logs the outcome for an SPC, and returns it.
    private func note(
        _ outcome: LicenseOutcome, of admission: Admission, form: MessageForm, in context: Context,
        on loop: LoopContext
    ) -> KeyOutcome {
        switch outcome {
        case .license(let license):
            metrics.issued(
                admission.envelope.version, form, to: license.stated, isRepeated: license.isRepeated,
                after: loop.now - context.start)
            log(license, form, context.id)
            return .license(license)
        case .syncReport(let accepted):
            metrics.acceptedSyncReport(form)
            log(accepted, form, context.id)
            return .syncReport(accepted)
        case .playbackEnded(let ended):
            metrics.accepted(form)
            log(ended, form, context.id)
            return .playbackEnded(ended)
        }
    }

    /// Notes the refusal of one key among several.
    private func note(
        _ error: LicenseError, form: MessageForm, version: SPCVersion?, facts: RefusalFacts,
        of device: DeviceSummary?, in context: Context
    ) -> Problem {
        var problem = Problem(for: error)
        problem.tellDiagnosis(of: error, under: context.rules)
        metrics.refused(problem.code, form, of: device)
        refusals.note(
            "license_refused", problem, because: error.cause, id: context.id, facts: facts,
            spcVersion: version?.rawValue ?? 0, shape: form.rawValue)
        return problem
    }

    /// Refuses a whole request, with the details that its head shows.
    private func refuse(
        _ error: LicenseError, of request: HTTPRequest, with carriers: TokenCarriers? = nil, form: MessageForm,
        in context: Context, on loop: LoopContext
    ) -> HTTPResponse {
        let (problem, facts) = pipelines.refusal(
            of: error, in: request, from: context.origin, carriers, under: context.rules, now: clock.wallTime.seconds,
            on: loop)
        return refuse(problem, because: error.cause, id: context.id, form: form, facts: facts)
    }

    private func refuse(
        _ problem: Problem, because cause: RefusalCause, id: RequestID, form: MessageForm,
        facts: RefusalFacts = RefusalFacts(), version: SPCVersion? = nil, of device: DeviceSummary? = nil
    ) -> HTTPResponse {
        metrics.refused(problem.code, form, of: device)
        return refusals.response(
            to: "license_refused", problem, because: cause, id: id, facts: facts,
            spcVersion: version?.rawValue ?? 0, shape: form.rawValue)
    }

    private func log(_ license: IssuedLicense, _ form: MessageForm, _ id: RequestID) {
        logger.log(
            .debug, "license_issued", from: .client,
            id.logFields + [
                .string("license", license.id.description),
                .string("credential", license.credentialName), .string("kid", license.key.keyID.description),
                .string("content", license.key.contentID.text),
                .string("validity", license.terms.validity.name),
                .unsigned("lease", UInt64(license.terms.lease?.value ?? 0)),
                .unsigned("rental", UInt64(license.terms.rental?.value ?? 0)),
                .string("device", license.stated.text), .string("shape", form.rawValue),
                .bool("repeated", license.isRepeated),
            ])
    }

    private func log(_ ended: EndedPlayback, _ form: MessageForm, _ id: RequestID) {
        logger.log(
            .debug, "playback_ended", from: .client,
            id.logFields + [
                .string("credential", ended.credentialName),
                .string("kid", ended.keyID.description), .string("shape", form.rawValue),
            ])
    }

    private func log(_ accepted: AcceptedSyncReport, _ form: MessageForm, _ id: RequestID) {
        logger.log(
            .debug, "sync_report_accepted", from: .client,
            id.logFields + [
                .string("credential", accepted.credentialName),
                .bool("challenge_accepted", accepted.isChallengeAccepted),
                .unsigned("duration_to_expiry", UInt64(accepted.report.remaining.wireValue)),
                .string("shape", form.rawValue),
            ])
    }
}
