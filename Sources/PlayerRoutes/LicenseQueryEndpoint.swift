import ByteCoding
import Entitlements
package import EventLoops
import HTTPMessages
package import HTTPServing
import KeyCrypto
package import Licensing
package import Records
package import RouteKit
package import Telemetry

/// `POST /fps/licenses/query`: answers when licenses end and when to renew them.
///
/// The sender needs a token of the subject that got the licenses. A license of another subject is `unknown`, and so is
/// a license that was never issued.
package struct LicenseQueryEndpoint: Sendable {
    /// The most licenses that the answer lists for one asset.
    private static let licensesPerAsset = 10

    private let pipelines: LicensePipelines
    private let lookup: LicenseLookup
    private let pseudonyms: Pseudonymizer
    private let metrics: PlayerMetrics
    private let refusals: Refusals
    private let clock: any WallClock

    package init(
        pipelines: LicensePipelines, lookup: LicenseLookup, pseudonyms: Pseudonymizer, metrics: PlayerMetrics,
        refusals: Refusals, clock: any WallClock
    ) {
        self.pipelines = pipelines
        self.lookup = lookup
        self.pseudonyms = pseudonyms
        self.metrics = metrics
        self.refusals = refusals
        self.clock = clock
    }

    package func answer(
        _ request: HTTPRequest, under rules: LicenseRules, id: RequestID, on loop: LoopContext
    ) -> HTTPAnswer {
        let origin = request.origin(countryField: rules.entitlement.countryField)
        do throws(LicenseError) {
            let sender = try pipelines.pipeline(on: loop).admissionControl.admitSender(
                presenting: request.tokenCarriers, from: origin, under: rules, now: clock.wallTime.seconds, id: id.text)
            guard !request.body.isEmpty else {
                return .now(refuse(Problem(.bodyEmpty), because: RefusalCause("a query without a body"), id))
            }
            guard let query = LicenseQuery(request.body, pipelines.assetForms) else {
                return .now(
                    refuse(
                        Problem(.bodyUnrecognised), because: RefusalCause("not a query for licenses or assets"), id))
            }
            return .later { loop in
                do throws(LicenseError) {
                    let pipeline = try pipelines.pipeline(on: loop)
                    try await pipeline.admissionControl.waitForTurn(of: sender)
                    guard let asker = try await asker(sender, of: query, by: pipeline, id, on: loop) else {
                        return busy(id)
                    }
                    return await answer(query, of: asker, id, on: loop)
                } catch {
                    return refuse(error, id)
                }
            }
        } catch {
            let (problem, facts) = pipelines.refusal(
                of: error, in: request, from: origin, under: rules, now: clock.wallTime.seconds, on: loop)
            return .now(refuse(problem, because: Self.cause(of: error), id, facts))
        }
    }

    /// The sender as the ledger knows it, which decides what licenses the sender may see. Nil if the ledger cannot be
    /// read.
    ///
    /// If only the operator's service can read the token, that service is asked about the first content of the query.
    /// If it refuses, the sender sees only licenses that were issued for this token itself.
    private func asker(
        _ sender: TokenSender, of query: LicenseQuery, by pipeline: LicensePipeline, _ id: RequestID,
        on loop: LoopContext
    ) async throws(LicenseError) -> Asker? {
        if let holder = sender.holder { return try Asker(holder, pseudonyms) }
        let alone = try Asker(opaque: sender, nil, pseudonyms)
        let content: CallbackQuestion.Content?
        switch query {
        case .assets(let assets):
            content = try await self.content(of: assets.first, pipeline)
        case .licenses:
            guard let entries = try? await lookup.entries(alone.queries(for: query), on: loop) else { return nil }
            content = entries.lazy.compactMap(CallbackQuestion.Content.init).first
        }
        guard let content else { return alone }
        do throws(LicenseError) {
            let holder = try await pipeline.holder(
                sender, asking: content, trace: id.trace, now: clock.wallTime.seconds)
            return try Asker(opaque: sender, holder, pseudonyms)
        } catch {
            guard case .entitlementDenied = error else { throw error }
            return alone
        }
    }

    private func content(
        of asset: LicenseQuery.Asset?, _ pipeline: LicensePipeline
    ) async throws(LicenseError) -> CallbackQuestion.Content? {
        guard let asset else { return nil }
        return try await pipeline.content(of: asset.assetID)
    }

    private func busy(_ id: RequestID) -> HTTPResponse {
        refuse(Problem(.overloaded, retryAfterSeconds: 2), because: RefusalCause("too many queries about licenses"), id)
    }

    private func answer(
        _ query: LicenseQuery, of asker: Asker, _ id: RequestID, on loop: LoopContext
    ) async -> HTTPResponse {
        do throws(LicenseLookup.Failure) {
            let found = try await lookup.entries(asker.queries(for: query), on: loop).filter(asker.owns)
            return response(to: query, of: asker, found, id)
        } catch {
            switch error {
            case .busy: return busy(id)
            case .store:
                return refuse(
                    Problem(.storageUnavailable, retryAfterSeconds: 2),
                    because: RefusalCause("the ledger cannot be read"),
                    id)
            }
        }
    }

    /// The answer from the entries of the ledger that were found, the newest first.
    private func response(
        to query: LicenseQuery, of asker: Asker, _ found: [LedgerEntry], _ id: RequestID
    ) -> HTTPResponse {
        let now = clock.wallTime
        let replaced = Set(found.compactMap(\.previous))
        let body = JSONWriter.object { writer in
            writer.member("server_time", Problem.format(now))
            switch query {
            case .licenses(let licenses, let texts):
                writer.array("licenses") { writer in
                    for (license, text) in zip(licenses, texts) {
                        let entry = license.flatMap { license in found.first { $0.license == license } }
                        write(entry, named: text, for: asker, now.seconds, replaced, to: &writer)
                    }
                }
            case .assets(let assets):
                writer.array("assets") { writer in
                    for asset in assets {
                        writer.object { writer in
                            writer.member("asset", asset.text)
                            writer.array("licenses") { writer in
                                for entry in Self.current(found.filter(asset.isMeant), replaced) {
                                    write(
                                        entry, named: entry.license.description, for: asker, now.seconds, replaced,
                                        to: &writer)
                                }
                            }
                        }
                    }
                }
            }
        }
        let fields = HTTPFields.answer("application/json", id)
        return HTTPResponse(status: .ok, fields: fields, body: body)
    }

    /// The newest licenses that no later license has replaced, each once. A repeated answer has several entries.
    private static func current(_ entries: [LedgerEntry], _ replaced: Set<LicenseID>) -> [LedgerEntry] {
        var told: Set<LicenseID> = []
        let current = entries.filter { !replaced.contains($0.license) && told.insert($0.license).inserted }
        return Array(current.prefix(licensesPerAsset))
    }

    private func write(
        _ entry: LedgerEntry?, named text: String, for asker: Asker, _ now: Int64, _ replaced: Set<LicenseID>,
        to writer: inout JSONWriter
    ) {
        writer.object { writer in
            guard let entry, let facts = LicenseFacts(entry) else {
                writer.member("id", text)
                writer.member("state", "unknown")
                return
            }
            facts.write(to: &writer)
            let hasEnded = facts.expiresAt.map { $0 <= now } ?? false
            writer.member("state", replaced.contains(entry.license) ? "renewed" : hasEnded ? "ended" : "valid")
            writer.member("kid", entry.keyID?.description)
            writer.member("content", entry.content)
            writer.member(
                "renewable", asker.holder.map { pipelines.queries.isRenewable(entry, by: $0, now: now) } ?? false)
        }
    }

    private func refuse(_ error: LicenseError, _ id: RequestID) -> HTTPResponse {
        refuse(Problem(for: error), because: Self.cause(of: error), id)
    }

    /// The cause for the log, which does not say whose rate limit was exceeded.
    private static func cause(of error: LicenseError) -> RefusalCause {
        if case .rateLimited = error { RefusalCause("too many requests") } else { error.cause }
    }

    private func refuse(
        _ problem: Problem, because cause: RefusalCause, _ id: RequestID, _ facts: RefusalFacts = RefusalFacts()
    ) -> HTTPResponse {
        metrics.refused(problem.code)
        return refusals.response(to: "query_refused", problem, because: cause, id: id, facts: facts)
    }
}

extension CallbackQuestion.Content {
    /// The content of a license in the ledger; nil for an entry that is not a license.
    fileprivate init?(_ entry: LedgerEntry) {
        guard LicenseFacts(entry) != nil, let keyID = entry.keyID, let content = entry.content else { return nil }
        self.init(contentID: content, keyID: keyID)
    }
}

/// The sender, as the ledger knows it.
private struct Asker: Sendable {
    /// Nil if the server does not know what the token allows.
    let holder: TokenHolder?
    /// Nil if the token has no subject. It may then only ask about licenses that were issued for the token itself.
    private let subject: Pseudonym?
    /// The token's id, by which the ledger knows licenses without a subject. Only its issuer gives it to no other
    /// token.
    private let tokenID: String?
    /// The name that the ledger makes of a token without an id. No token of any issuer has the same name.
    private let tokenDigest: String?

    init(_ holder: TokenHolder, _ pseudonyms: Pseudonymizer) throws(LicenseError) {
        self.holder = holder
        subject = try Self.subject(of: holder.claims, pseudonyms)
        tokenID = subject == nil ? Self.kept(holder.claims.tokenID) : nil
        tokenDigest = nil
    }

    /// The sender of a token that only the operator's service can read, and the holder as that service describes it.
    init(opaque sender: TokenSender, _ holder: TokenHolder?, _ pseudonyms: Pseudonymizer) throws(LicenseError) {
        self.holder = holder
        subject = try holder.flatMap { holder throws(LicenseError) in try Self.subject(of: holder.claims, pseudonyms) }
        tokenID = Self.kept(holder?.claims.tokenID)
        tokenDigest = try wrap(LicenseError.internalFailure, try sender.party.ledgerName(by: pseudonyms))
    }

    private static func subject(
        of claims: Claims, _ pseudonyms: Pseudonymizer
    ) throws(LicenseError) -> Pseudonym? {
        try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            try claims.subject.map { subject throws(CryptoError) in
                try pseudonyms.subject(issuer: claims.issuer, subject).shortened
            }
        }
    }

    /// The token's name, or nil if it is too long: the ledger keeps only the beginning, which several tokens may share.
    private static func kept(_ tokenID: String?) -> String? {
        tokenID.flatMap { $0.utf8.count <= LedgerEntry.textSizeMaximum ? $0 : nil }
    }

    func owns(_ entry: LedgerEntry) -> Bool {
        guard LicenseFacts(entry) != nil, holder?.claims.mayOpen(contentID: entry.content) ?? true else { return false }
        guard entry.subject == nil else { return subject != nil && entry.subject == subject }
        guard let known = entry.tokenID else { return false }
        if let tokenDigest, known.hasSameUTF8(as: tokenDigest) { return true }
        // Two issuers may give the same id.
        guard let tokenID, let issuer = holder?.claims.issuer, let issued = entry.issuer else { return false }
        return known.hasSameUTF8(as: tokenID) && issued.hasSameUTF8(as: issuer)
    }

    func queries(for query: LicenseQuery) -> [LedgerQuery] {
        switch query {
        case .licenses(let licenses, _): licenses.compactMap { $0.map { LedgerQuery(license: $0) } }
        case .assets:
            (subject.map { [LedgerQuery(subject: $0)] } ?? [])
                + [tokenID, tokenDigest].compactMap { $0.map { LedgerQuery(tokenID: $0) } }
        }
    }
}
