import EventLoops
import HTTPMessages
import Telemetry

// Passes requests to the handler, and its answers to the driver.

extension HTTPConnection {
    /// The present value of the `Date` field, 29 bytes.
    var date: [UInt8] { services.date() }

    /// Passes a request to the handler. `ConnectionDriver.respond` is called with the token when the handler answers.
    ///
    /// If the handler answers immediately, it is called before this method returns, otherwise from a task on this loop.
    /// Any number of requests may be in flight.
    func dispatch(_ head: HTTPRequestHead, body: [UInt8], as stream: StreamToken) {
        guard isOpen else { return }
        if let refusal = refusal(ofHead: head) { return driver.respond(refusal, to: stream, on: self) }
        let request = HTTPRequest(head: head, body: body, peer: peer(of: head))
        switch listener.settings.handler.answer(request, on: loop) {
        case .now(var response):
            if isForHealth { response.closesConnection = true }
            driver.respond(response, to: stream, on: self)
        case .later(let work):
            let (size, resources) = (request.memorySize, listener.resources)
            guard resources.requestBegan(size: size) else {
                return driver.respond(refusal(of: .overloaded, in: head), to: stream, on: self)
            }
            let loop = loop
            loop.spawn { [self] in
                let response = await work(loop)
                resources.requestEnded(size: size)
                if isServed { driver.respond(response, to: stream, on: self) }
                settle()
            }
        case .stream(let response, let begin):
            beginBody(of: response, to: head, as: stream, begin)
        }
    }

    /// Sends the head of a response, and passes its body to the handler.
    private func beginBody(
        of response: HTTPResponse, to request: HTTPRequestHead, as stream: StreamToken,
        _ begin: (HTTPBodyStream) -> Void
    ) {
        guard let body = HTTPBodyStream(stream, of: self, on: loop, charging: listener.resources.memory) else {
            return driver.respond(refusal(of: .overloaded, in: request), to: stream, on: self)
        }
        driver.respond(response, streaming: body, to: stream, on: self)
        guard body.isOpen else { return }
        begin(body)
        if isDraining || input.peerHasEnded { body.finish() }
    }

    /// A streamed body has more bytes for the client, or is finished.
    func bodyChanged(of stream: StreamToken) {
        guard isServed else { return }
        driver.bodyChanged(of: stream, on: self)
        settle()
    }

    /// Ends a streamed response whose client does not read.
    func abandonBody(of stream: StreamToken) {
        guard isServed else { return }
        driver.abandonBody(of: stream, on: self)
        settle()
    }

    /// The refusal of a request that is no health check, on a connection whose place is kept for these.
    private func refusal(ofHead head: HTTPRequestHead) -> HTTPResponse? {
        guard isForHealth, !listener.settings.healthPaths.contains(head.target.path) else { return nil }
        var response = refusal(of: .overloaded, in: head)
        response.closesConnection = true
        return response
    }

    /// Asks the handler how to treat the body that belongs to this head.
    func decideBody(of head: HTTPRequestHead) -> HTTPBodyDecision {
        if let refusal = refusal(ofHead: head) { return .refuse(refusal) }
        let request = HTTPRequest(head: head, body: [], peer: peer(of: head))
        return listener.settings.handler.decideBody(of: request, on: loop)
    }

    /// Returns the peer of a request. If a trusted proxy has sent the request, its fields name the client's address.
    private func peer(of head: HTTPRequestHead) -> HTTPPeer {
        let proxies = listener.settings.trustedProxies
        guard !proxies.isEmpty else { return peer }
        var peer = peer
        // After a PROXY header, the address is already the client's, and the client has written the fields.
        peer.isBehindTrustedProxy = proxies.contains(peer.address)
        peer.address = proxies.client(of: peer.address, head.fields)
        return peer
    }

    /// Returns the handler's response to input that did not become a request, and informs the observer. `head` is nil
    /// if the head is not complete or not well formed.
    func refusal(of problem: HTTPProblem, in head: HTTPRequestHead?) -> HTTPResponse {
        let peer = head.map(peer) ?? peer
        listener.observer.inputRefused(peer, problem)
        return listener.settings.handler.refusal(of: problem, in: head, from: peer, on: loop)
    }

    /// Informs the observer about a request whose response the kernel has taken.
    func report(_ exchange: HTTPExchange) {
        account.answered()
        guard let status = exchange.status else { return }
        if isOpen { transport.answered() }
        listener.observer.requestFinished(
            peer, method: exchange.method, status: status, after: now - exchange.startedAt)
    }

    /// Closes the connection with a reset, and counts the reason.
    func end(because abuse: ConnectionAbuse) {
        guard isOpen else { return }
        count(abuse)
        close(reset: true)
    }

    /// Counts the reason for which the caller ends the connection.
    func count(_ abuse: ConnectionAbuse) {
        listener.observer.connectionAbused(peer, abuse)
    }
}
