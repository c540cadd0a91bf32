package import ByteCoding

/// The head of a request that has passed all checks of RFC 9112 or RFC 9113.
package struct HTTPRequestHead: Equatable, Sendable {
    package let method: HTTPMethod
    package let target: HTTPTarget
    package let version: HTTPVersion
    package let fields: HTTPFields
    /// The facts about the body and the connection.
    package let transfer: HTTPTransfer
    /// Why the request is refused, although its head is well formed; nil if it is served.
    package let problem: HTTPProblem?

    /// Makes a head from its parts. The parsers use it, and tests of handlers.
    package init(
        method: HTTPMethod, target: HTTPTarget, version: HTTPVersion = .http11, fields: HTTPFields = HTTPFields(),
        transfer: HTTPTransfer = HTTPTransfer(), problem: HTTPProblem? = nil
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.transfer = transfer
        self.problem = target.hasTooManyParameters ? .tooManyParameters : problem
    }

    /// The memory that the head occupies, in bytes.
    package var memorySize: Int {
        MemoryLayout<Self>.size + fields.memorySize + target.path.utf8.count + (target.query?.utf8.count ?? 0)
            + target.parameters.memorySize
    }
}

/// The facts in a request's head about its body and its connection.
package struct HTTPTransfer: Equatable, Sendable {
    /// How the end of the body is found.
    package let framing: HTTPBodyFraming
    /// Whether the client wants to reuse the connection (RFC 9112 section 9.3); always true in HTTP/2.
    package let keepsAlive: Bool
    /// Whether the client may wait for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    package let expectsContinue: Bool

    package init(framing: HTTPBodyFraming = .none, keepsAlive: Bool = true, expectsContinue: Bool = false) {
        self.framing = framing
        self.keepsAlive = keepsAlive
        self.expectsContinue = expectsContinue
    }
}

/// The target of a request as it was received, without percent-decoding and normalisation.
package struct HTTPTarget: Hashable, Sendable {
    /// The part before the first `?`. It begins with `/`, or is `*` for OPTIONS.
    package let path: String
    /// The part after the first `?`, which may be empty; nil if there is no `?`.
    package let query: String?
    /// The decoded parameters of the query, or none if it has too many. They are read once, here.
    package let parameters: QueryPairs
    /// Whether the query has more parameters than `QueryPairs.countMaximum`.
    let hasTooManyParameters: Bool

    /// Makes a target from its parts.
    package init(path: String, query: String? = nil) {
        self.path = path
        self.query = query
        // The parameters are counted before they are read.
        let count = 1 + (query?.utf8.count { $0 == UInt8(ascii: "&") } ?? 0)
        hasTooManyParameters = count > QueryPairs.countMaximum
        parameters = QueryPairs(hasTooManyParameters ? nil : query)
    }

    /// The path and the query as they were received. The scheme and the authority of an absolute target are left out.
    package var raw: String {
        if let query { "\(path)?\(query)" } else { path }
    }
}

/// How the end of a body is found (RFC 9112 section 6.3).
package enum HTTPBodyFraming: Equatable, Sendable {
    /// There is no body.
    case none
    /// The body has this declared length in bytes, at least one.
    case length(Int)
    /// The body has the chunked transfer coding.
    case chunked
    /// The body ends with its HTTP/2 stream, and no length is declared.
    case stream
}

/// A complete request.
package struct HTTPRequestMessage: Equatable, Sendable {
    package let head: HTTPRequestHead
    package let body: [UInt8]

    package init(head: HTTPRequestHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }
}
