import HTTPMessages
import HTTPServing

extension CORSPolicy {
    /// Answers OPTIONS with the methods of the address, and opens every other answer to the web pages that may read it:
    /// errors too, which a page would otherwise not tell from a network that is down.
    func answer(_ request: HTTPRequest, methods: String, _ inner: () -> HTTPAnswer) -> HTTPAnswer {
        let origin = request.fields["Origin"]
        if request.method == .options { return .now(preflightResponse(for: origin, methods: methods)) }
        switch inner() {
        case .now(let response): return .now(decorate(response, for: origin))
        case .later(let work): return .later { loop in decorate(await work(loop), for: origin) }
        }
    }
}
