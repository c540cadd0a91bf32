import ByteCoding
package import Entitlements
package import EventLoops
import HTTPCalls
import KeyCrypto
import Licensing
package import RouteKit
package import ServiceConfiguration
import Synchronization
package import Telemetry

/// Fetches the keys of issuers from their URLs, and puts them in force.
///
/// A request never waits for a fetch. It reads the keys in force together with the cache of verified tokens, which is
/// emptied when keys change. So no token outlives its key there. A set that cannot be used changes nothing.
package final class IssuerKeyKeeper: Sendable {
    /// The time between two looks at what is due. An unknown key is noticed that much later.
    private static let pause: Duration = .seconds(1)

    /// What fetching needs of the world around it.
    package struct Surroundings: Sendable {
        /// A clock that no step of the time of day changes.
        var clock: any MonotonicClock = SystemBootClock()
        var random: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// Makes the function that fetches the document of a URL.
        var fetcher: IssuerKeyWay.MakeFetcher = {
            calls throws(EventLoopError) in IssuerKeyFetcher(try HTTPCaller(calls))
        }
    }

    private struct State {
        /// The issuers with the keys of the configuration, and the cache that the requests use.
        var issuers: IssuerSet
        var tokens: VerifiedTokenCache
        var sources: [FetchedSource]
        /// Which issuer had a key first, if several publish it.
        var order = PublicationOrder()
        var sharedKeys: [SharedKey] = []
        var isStopped = false
    }

    private let state: Mutex<State>
    private let surroundings: Surroundings
    private let logger: Logger
    private let loop: LoopContext
    private let routine: Routine

    /// Returns after the first attempt to fetch each set, even if it has failed.
    ///
    /// `tokens` is the cache of the rules in force, which were made from the same configuration.
    package init(
        _ loaded: LoadedConfiguration, tokens: VerifiedTokenCache, on loop: LoopContext, logger: Logger,
        surroundings: Surroundings = Surroundings()
    ) throws(EventLoopError) {
        self.surroundings = surroundings
        self.logger = logger
        self.loop = loop
        routine = Routine(on: loop)
        state = Mutex(State(issuers: loaded.issuers, tokens: tokens, sources: []))
        adopt(try draft(loaded), tokens: tokens) {}
        routine.start(after: Self.pause, every: Self.pause) { [self] in look() }
    }

    /// Ends the fetches that are under way. Must not be called on a loop.
    package func stop() {
        let sources = state.withLock { state in
            state.isStopped = true
            return state.sources
        }
        for source in sources { source.stop() }
        routine.stop(within: .seconds(1))
    }

    // MARK: Reload

    /// The sources of a new configuration. They are not in force before `adopt`.
    package struct Draft {
        fileprivate let issuers: IssuerSet
        fileprivate let sources: [FetchedSource]
    }

    /// Prepares a configuration: a source that the running configuration has too goes on with its keys. For each new
    /// source, this waits for the first attempt to fetch its keys. Must not be called on a loop.
    package func draft(_ loaded: LoadedConfiguration) throws(EventLoopError) -> Draft {
        let running = state.withLock { $0.sources }
        let sources = try loaded.keySources.map { (source) throws(EventLoopError) in
            let known = running.first { $0.isSame(as: source) }
            if let known, known.isReached(like: source) { return known.following(source, nil) }
            let way = try IssuerKeyWay(source, surroundings.fetcher)
            // Without keys, it is worth waiting for what the new way to the URL brings.
            if let known, known.confirmed != nil { return known.following(source, way) }
            return FetchedSource(source, way, after: known, now: surroundings.clock.monotonicTime)
        }
        let new = sources.filter { source in !running.contains { $0.sharesKeys(with: source) } }
        let waiting = Monitor(new.count)
        for source in new {
            for action in source.look(now: surroundings.clock.monotonicTime, isWanted: false) {
                guard case .fetch(let tag) = action else { continue }
                loop.spawn { [self] in
                    await fetch(source, ifNot: tag)
                    waiting.update { $0 -= 1 }
                }
            }
        }
        waiting.wait { $0 <= 0 ? () : nil }
        return Draft(issuers: loaded.issuers, sources: sources)
    }

    /// Puts a draft in force. `tokens` is the cache of the new rules. It has the fetched keys before `swap` puts those
    /// rules in force.
    package func adopt(_ draft: Draft, tokens: VerifiedTokenCache, swap: () -> Void) {
        state.withLock { state in
            let now = surroundings.clock.monotonicTime
            for source in draft.sources {
                source.takeSettings(now: now)
                if let before = state.sources.first(where: { $0.sharesKeys(with: source) }) {
                    source.begin(after: before, now: now)
                }
            }
            (state.issuers, state.tokens, state.sources) = (draft.issuers, tokens, draft.sources)
            state.order.keep(Set(draft.sources.map(\.publisher)))
            for source in draft.sources { state.order.note(source, now: now) }
            publish(&state)
            swap()
        }
    }

    /// Gives the verifier the keys in force.
    private func publish(_ state: inout State) {
        let published = state.sources.map { ($0.index, $0.published) }
        let issuers = state.issuers.adding(
            Dictionary(published, uniquingKeysWith: { $1 }), order: state.order)
        state.tokens.replaceIssuers(with: issuers)
        for key in issuers.sharedKeys where !state.sharedKeys.contains(key) { log(key) }
        state.sharedKeys = issuers.sharedKeys
    }

    /// Logs a key that several issuers have. It is critical if tokens are refused because of that.
    private func log(_ key: SharedKey) {
        let fields = [LogField.string("kid", key.id), .string("issuers", key.issuers.joined(separator: ", "))]
        if key.isDecided {
            logger.warning("issuer_key_shared", fields)
        } else {
            logger.critical("issuer_key_disputed", fields)
        }
    }

    // MARK: Fetching

    /// Does what is due.
    package func look() {
        let now = surroundings.clock.monotonicTime
        let fetches = state.withLock { state in
            let wanted = state.issuers.unknownKeys.take()
            var fetches: [(FetchedSource, String?)] = []
            var hasExpired = false
            for source in state.sources {
                for action in source.look(now: now, isWanted: wanted.contains(source.dialect)) {
                    switch action {
                    case .expire:
                        hasExpired = true
                        logger.error("issuer_keys_expired", [.string("issuer", source.issuer)])
                    case .fetch(let tag): fetches.append((source, tag))
                    }
                }
            }
            if hasExpired { publish(&state) }
            return fetches
        }
        for (source, tag) in fetches { loop.spawn { [self] in await fetch(source, ifNot: tag) } }
    }

    private func fetch(_ source: FetchedSource, ifNot tag: String?) async {
        let news = await news(of: source, ifNot: tag)
        // One fetch after the other is judged, and none while a reload changes the issuers.
        state.withLock { state in
            if !state.isStopped { take(news, of: source, &state) }
        }
    }

    /// What a fetch has brought.
    private enum News {
        /// The keys in use are still the right ones.
        case unchanged(HTTPCallAnswer)
        case new(JWKSet, HTTPCallAnswer)
        case fault(IssuerKeyFault)
    }

    /// Fetches and reads a document. No lock is held, because that takes time.
    private func news(of source: FetchedSource, ifNot tag: String?) async -> News {
        do throws(IssuerKeyFault) {
            let answer = try await source.way.fetch(ifNot: tag)
            if answer.status == 304 || source.holds(answer.body) { return .unchanged(answer) }
            let document = SecretBytes(copying: answer.body)
            return .new(try wrap(IssuerKeyFault.keySet, try JWKSet(published: document)), answer)
        } catch {
            return .fault(error)
        }
    }

    private func take(_ news: News, of source: FetchedSource, _ state: inout State) {
        let now = surroundings.clock.monotonicTime
        // A draft is not in force yet.
        let isInForce = state.sources.contains { $0.sharesKeys(with: source) }
        do throws(IssuerKeyFault) {
            switch news {
            case .fault(let fault): throw fault
            case .unchanged(let answer):
                guard source.confirm(answer, now: now, surroundings.random()) else { throw .expiredMeanwhile }
                if isInForce { state.order.note(source, now: now) }
                note(nil, of: source)
            case .new(let set, let answer):
                source.receive(set, answer, now: now, surroundings.random())
                note(nil, of: source)
                log(set, of: source)
                guard isInForce else { return }
                state.order.note(source, now: now)
                publish(&state)
            }
        } catch {
            source.fail(now: now, surroundings.random())
            note(error, of: source)
        }
    }

    private func log(_ set: JWKSet, of source: FetchedSource) {
        logger.info(
            "issuer_keys_fetched",
            [
                .string("issuer", source.issuer), .string("url", source.way.url), .integer("keys", set.keys.count),
                .integer("ignored", set.ignoredCount), .integer("unusable", set.unusableCount),
            ])
        if set.keys.isEmpty { logger.warning("issuer_keys_withdrawn", [.string("issuer", source.issuer)]) }
        if source.note(set.firstFault), let fault = set.firstFault {
            logger.warning(
                "issuer_keys_unusable",
                [
                    .string("issuer", source.issuer), .integer("keys", set.unusableCount),
                    .string("cause", "\(fault)"),
                ])
        }
    }

    /// Logs a fault once, and its end.
    private func note(_ fault: IssuerKeyFault?, of source: FetchedSource) {
        let cause = fault.map { "\($0)" }
        guard source.note(cause) else { return }
        if let cause {
            logger.warning("issuer_keys_failed", [.string("issuer", source.issuer), .string("cause", cause)])
        } else {
            logger.info("issuer_keys_fetched_again", [.string("issuer", source.issuer)])
        }
    }

    // MARK: What operators see

    /// A degradation that names each issuer whose keys are missing.
    ///
    /// The node can issue no license at all if no issuer has a key. Sessions and the call-back service need no key.
    package func degradations(hasCallback: Bool) -> [Degradation] {
        state.withLock { state in
            let faults = state.sources.compactMap(\.fault)
            guard !faults.isEmpty else { return [] }
            let verifier = state.tokens.verifier
            let stops = !verifier.hasKeys && verifier.sessions == nil && !hasCallback
            return [
                Degradation(part: .issuerKeys, cause: faults.joined(separator: "; "), stopsLicenses: stops)
            ]
        }
    }

    package func register(in registry: MetricsRegistry) {
        let sources = { @Sendable [self] in state.withLock { $0.sources } }
        let labels = ["issuer", "dialect"]
        registry.series(
            "latchkey_issuer_keys", help: "Keys in use that were fetched from an issuer's URL.", isCounter: false,
            labels: labels
        ) { sources().map { ($0.labels, Double($0.keyCount)) } }
        registry.series(
            "latchkey_issuer_keys_unusable",
            help: "Keys at an issuer's URL that cannot be used, and are skipped.", isCounter: false, labels: labels
        ) { sources().map { ($0.labels, Double($0.unusableCount)) } }
        registry.series(
            "latchkey_issuer_keys_age_seconds",
            help: "How long ago an issuer's URL has confirmed its keys; absent if it never has since the start.",
            isCounter: false, labels: labels
        ) { [surroundings] in
            let now = surroundings.clock.monotonicTime
            return sources().compactMap { source in source.age(now: now).map { (source.labels, $0 / .seconds(1)) } }
        }
        registry.series(
            "latchkey_issuer_keys_fetches_total",
            help: "Fetches of an issuer's keys by their result: new, unchanged or failed.", isCounter: true,
            labels: labels + ["result"]
        ) { sources().flatMap(\.fetchCounts) }
    }
}

extension PublicationOrder {
    /// Notes the keys of a source, if they are known.
    fileprivate mutating func note(_ source: FetchedSource, now: MonotonicTime) {
        guard let (set, askedAt) = source.confirmed else { return }
        note(set, of: source.publisher, askedAt: askedAt, now: now)
    }
}
