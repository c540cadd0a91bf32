/// The head of a request that has passed every check of RFC 9112 or RFC 9113 that a server makes.
package struct HTTPRequestHead: Equatable, Sendable {
    package let method: HTTPMethod
    package let target: HTTPTarget
    package let version: HTTPVersion
    package let fields: HTTPFields
    /// What the head says about the body and the connection.
    package let transfer: HTTPTransfer

    /// A head from its parts: what another protocol version has read, or a test of a handler makes up.
    package init(
        method: HTTPMethod, target: HTTPTarget, version: HTTPVersion = .http11, fields: HTTPFields = HTTPFields(),
        transfer: HTTPTransfer = HTTPTransfer()
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.transfer = transfer
    }

    /// What the head occupies, in bytes.
    package var memorySize: Int {
        MemoryLayout<Self>.size + fields.memorySize + target.path.utf8.count + (target.query?.utf8.count ?? 0)
    }
}

/// What a request's head says about its body and its connection.
package struct HTTPTransfer: Equatable, Sendable {
    /// How the body's end is found.
    package let framing: HTTPBodyFraming
    /// Whether the client wants to use the connection again (RFC 9112 section 9.3); over HTTP/2 always.
    package let keepsAlive: Bool
    /// Whether the client may wait for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    package let expectsContinue: Bool

    package init(framing: HTTPBodyFraming = .none, keepsAlive: Bool = true, expectsContinue: Bool = false) {
        self.framing = framing
        self.keepsAlive = keepsAlive
        self.expectsContinue = expectsContinue
    }
}

/// What a request asks for, as it came: nothing is percent-decoded or normalised.
package struct HTTPTarget: Hashable, Sendable {
    /// The part before the first `?`: begins with `/`, or is `*` for OPTIONS.
    package let path: String
    /// The part after the first `?`, if there is one; may be empty.
    package let query: String?

    /// A target from its parts.
    package init(path: String, query: String? = nil) {
        self.path = path
        self.query = query
    }

    /// Path and query as they came. (A target in absolute form has lost scheme and authority, which equalled `Host`.)
    package var raw: String {
        if let query { "\(path)?\(query)" } else { path }
    }
}

/// How the end of a body is found (RFC 9112 section 6.3).
package enum HTTPBodyFraming: Equatable, Sendable {
    /// There is no body.
    case none
    /// So many bytes, at least one.
    case length(Int)
    /// The chunked transfer coding.
    case chunked
    /// The end of the stream (HTTP/2), no length being declared.
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
