import ByteCoding
import Entitlements
import EventLoops
import HTTPCalls
import ServiceConfiguration
import Synchronization

/// The way to an issuer's keys: to its URL, or to the URL that its OpenID document names.
///
/// The document is fetched each time before the keys, so that the keys may move. Both must answer: keys that the issuer
/// has left behind are not confirmed.
final class IssuerKeyWay: Sendable {
    typealias MakeFetcher = @Sendable (HTTPCallSettings) throws(EventLoopError) -> IssuerKeyFetcher

    /// The URL that the document has named last.
    private struct Named {
        let url: String
        let fetcher: IssuerKeyFetcher
    }

    private struct State {
        var named: Named?
        var isStopped = false
    }

    private let source: KeySource
    private let first: IssuerKeyFetcher
    private let make: MakeFetcher
    private let state = Mutex(State())

    init(_ source: KeySource, _ make: @escaping MakeFetcher) throws(EventLoopError) {
        self.source = source
        self.make = make
        first = try make(source.calls)
    }

    /// The URL of the keys, as far as it is known, without its query.
    var url: String {
        state.withLock { $0.named.map { String($0.url.prefix { $0 != "?" }) } } ?? source.url
    }

    /// Fetches the keys, unless they still have the entity tag of an earlier answer of this function.
    func fetch(ifNot tag: String?) async throws(IssuerKeyFault) -> HTTPCallAnswer {
        guard source.discoveryHosts != nil else {
            return try await wrapAsync(IssuerKeyFault.call, try await first.fetch(tag))
        }
        let document = try await wrapAsync(IssuerKeyFault.documentCall, try await first.fetch(nil))
        let keys = try wrap(IssuerKeyFault.document, try source.keys(namedBy: document.body))
        // A tag belongs to one URL. Another one may have the same tag by chance.
        let mark = "\(keys.url) "
        let known = tag.flatMap { $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : nil }
        let fetcher = try fetcher(keys)
        let answer = try await wrapAsync(IssuerKeyFault.call, try await fetcher.fetch(known))
        return HTTPCallAnswer(status: answer.status, body: answer.body, entityTag: answer.entityTag.map { mark + $0 })
    }

    private func fetcher(_ keys: HTTPCallSettings) throws(IssuerKeyFault) -> IssuerKeyFetcher {
        let found: Result<IssuerKeyFetcher, IssuerKeyFault> = state.withLock { state in
            if state.isStopped { return .failure(.call(.stopped)) }
            if let named = state.named, named.url == keys.url { return .success(named.fetcher) }
            // No thread could be started; the number is libcurl's "out of memory".
            guard let fetcher = try? make(keys) else { return .failure(.call(.failed(code: 27))) }
            // The fetcher before this one ends by itself.
            state.named = Named(url: keys.url, fetcher: fetcher)
            return .success(fetcher)
        }
        return try found.get()
    }

    /// Waits for the running fetch.
    func stop() {
        let named = state.withLock { state in
            state.isStopped = true
            return state.named
        }
        first.stop()
        named?.fetcher.stop()
    }
}

/// Fetches the document of one URL.
struct IssuerKeyFetcher: Sendable {
    typealias Fetch = @Sendable (_ ifNot: String?) async throws(HTTPCallError) -> HTTPCallAnswer

    let fetch: Fetch
    /// Waits for the running fetch.
    let stop: @Sendable () -> Void

    init(_ fetch: @escaping Fetch, stop: @escaping @Sendable () -> Void = {}) {
        self.fetch = fetch
        self.stop = stop
    }

    init(_ caller: HTTPCaller) {
        self.init({ tag async throws(HTTPCallError) in try await caller.get(ifNot: tag) }, stop: { caller.stop() })
    }
}

/// Why fetched keys are not used.
enum IssuerKeyFault: Error, Equatable, CustomStringConvertible {
    case call(HTTPCallError)
    /// The issuer's OpenID document could not be fetched.
    case documentCall(HTTPCallError)
    case document(KeyDiscoveryError)
    case keySet(JWKSetError)
    /// The keys became too old during the fetch that has confirmed them.
    case expiredMeanwhile

    var description: String {
        switch self {
        case .call(let error): Self.words(of: error)
        case .documentCall(let error): "of the issuer's OpenID document: \(Self.words(of: error))"
        case .document(let error): "the issuer's OpenID document cannot be used: \(error)"
        case .keySet(let error): "the answer cannot be used: \(error)"
        case .expiredMeanwhile: "the keys became too old during the fetch"
        }
    }

    private static func words(of error: HTTPCallError) -> String {
        switch error {
        case .busy, .stopped: "another fetch is running"
        case .timedOut: "the server did not answer in time"
        case .addressForbidden: "the host's name leads to an address that it may not have (keysHosts)"
        case .failed(let code): "the connection failed (libcurl's error \(code))"
        case .status(let status): "the server answered with status \(status)"
        case .answerTooLarge: "the answer is too large"
        }
    }
}
