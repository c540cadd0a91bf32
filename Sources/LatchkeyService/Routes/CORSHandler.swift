import EventLoops
import HTTPMessages
import HTTPServing

/// Answers OPTIONS, and opens every other answer of another handler to the web pages that may read it: errors too, which a page
/// would otherwise not tell from a network that is down.
struct CORSHandler: HTTPHandler {
    let policy: CORSPolicy
    let inner: any HTTPHandler

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        let origin = request.fields["Origin"]
        if request.method == .options { return .now(policy.preflightResponse(for: origin)) }
        switch inner.answer(request, on: loop) {
        case .now(let response): return .now(policy.decorate(response, for: origin))
        case .later(let work):
            let policy = policy
            return .later { loop in policy.decorate(await work(loop), for: origin) }
        }
    }

    /// What never became a request has no origin that could be trusted to be read right: only a policy for all pages opens it.
    func refusal(of problem: HTTPProblem, from peer: HTTPPeer, on loop: LoopContext) -> HTTPResponse {
        policy.decorate(inner.refusal(of: problem, from: peer, on: loop), for: nil)
    }
}
