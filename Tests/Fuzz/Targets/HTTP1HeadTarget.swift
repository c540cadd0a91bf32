import HTTPMessages
import TestSupport

/// HTTP/1.1 requests on one connection, heads and bodies. The input is one byte of plan, then the client's bytes.
///
///     offset  size  field
///          0     1  the size of the pieces in which the bytes arrive, less 1; there are at most about a hundred
///
/// The requests, and the refusal that ends them, do not depend on the pieces. There is one exception: if input is both
/// malformed and too large, the pieces decide which fault is found first. No request exceeds the limits.
struct HTTP1HeadTarget: FuzzTarget {
    private let limits: HTTPLimits

    init() {
        var limits = HTTPLimits()
        // The limits are small, so that inputs of a useful size reach them.
        (limits.headSizeMaximum, limits.fieldCountMaximum, limits.targetSizeMaximum) = (1024, 20, 256)
        (limits.bodySizeMaximum, limits.trailerSizeMaximum, limits.chunkExtensionsSizeMaximum) = (1024, 128, 64)
        self.limits = limits
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        guard let plan = input.first else { return .refused }
        let bytes = Array(input.dropFirst())
        let whole = read(bytes, pieceSize: max(1, bytes.count))
        let inPieces = read(bytes, pieceSize: max(Int(plan) + 1, bytes.count / 100))
        try require(whole.requests == inPieces.requests, "requests do not depend on the pieces")
        let isRefusedAlike = whole.problem == inPieces.problem || whole.isTooLarge || inPieces.isTooLarge
        try require(isRefusedAlike, "the cause of a refusal does not depend on the pieces")
        try require(
            (whole.problem == nil) == (inPieces.problem == nil), "a refusal does not depend on the pieces")
        for request in whole.requests { try check(request) }
        return whole.problem == nil && !whole.requests.isEmpty ? .accepted : .refused
    }

    private func check(_ request: HTTPRequestMessage) throws {
        try require(request.body.count <= limits.bodySizeMaximum, "a body is within its limit")
        try require(request.head.fields.count <= limits.fieldCountMaximum, "the number of fields is within its limit")
        let path = request.head.target.path
        try require(path.hasPrefix("/") || path == "*" && request.head.method == .options, "a path begins with a slash")
        let hosts = request.head.fields.count(of: "host")
        try require(hosts == 1 || request.head.version == .http10 && hosts == 0, "a request has one host")
    }

    private func read(_ bytes: [UInt8], pieceSize: Int) -> Outcome {
        var connection = HTTP1Connection(limits: limits)
        var outcome = Outcome()
        for start in stride(from: 0, to: bytes.count, by: pieceSize) {
            var action = connection.received(Array(bytes[start..<min(start + pieceSize, bytes.count)]).span)
            // Early input is read after each answer, as the connection's owner does.
            while outcome.take(action, &connection) { action = connection.resume() }
            if connection.phase == .closed { break }
        }
        return outcome
    }

    private struct Outcome: Equatable {
        var requests: [HTTPRequestMessage] = []
        var problem: HTTPProblem?

        var isTooLarge: Bool {
            switch problem {
            case .headTooLarge, .targetTooLong, .bodyTooLarge: true
            case .malformed, .tooManyParameters, .contentCodingNotSupported, .headTimeout, .bodyTimeout,
                .expectationFailed, .methodNotImplemented, .transferCodingNotImplemented, .versionNotSupported,
                .overloaded, nil:
                false
            }
        }

        /// Carries out an action of the connection. Returns whether the connection may have another action.
        mutating func take(_ action: HTTP1Connection.Action, _ connection: inout HTTP1Connection) -> Bool {
            switch action {
            case .dispatch(let request): requests.append(request)
            case .refuse(let refusal): problem = refusal
            case .read, .sendContinue, .close, .linger: return false
            }
            _ = connection.respond(closing: false)
            return connection.responseSent() == .read && connection.hasEarlyInput
        }
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        let heads = [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\nHEAD http://a:80/b?c HTTP/1.1\r\nHost: a\r\nConnection: x, keep-alive\r\n\r\n",
            "OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            "POST /a HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
            "POST /b HTTP/1.1\r\nHost: a%41\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b;c=\"d\\\"e\"\r\nhello\r\n0\r\nX: y\r\n\r\n",
        ]
        return (heads + [heads.joined(), heads[3] + "\r\n" + heads[4]]).flatMap { text in
            [[0xFF] + Array(text.utf8), [2] + Array(text.utf8)]
        }
    }

    /// Valid lines of a request, and some invalid ones.
    private static let lines = [
        "X: y", "Connection: close", "Content-Length: 5", "Transfer-Encoding: chunked", "Expect: 100-continue",
        "Host: b",
        "Host:", "5;a", "0", "hello", "", "GET /c HTTP/1.1", "Cookie: a=b; c",
    ]

    /// Half of the changes keep the form of lines and characters, so that the code after the strictest check is
    /// reached.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = input
        guard Bool.random(using: &generator), let index = bytes.indices.dropFirst().randomElement(using: &generator)
        else {
            return ByteMutation.mutate(input, using: &generator)
        }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[0] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: bytes[index] = Self.similar(bytes[index], using: &generator)
        case 2: bytes += bytes.dropFirst()
        default:
            let line = Self.lines.randomElement(using: &generator) ?? ""
            let start = bytes[..<index].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 1
            bytes.insert(contentsOf: Array("\(line)\r\n".utf8), at: start)
        }
        return Array(bytes.prefix(8192))
    }

    /// Replaces a letter by a letter and a digit by a digit, and keeps every other byte.
    private static func similar(_ byte: UInt8, using generator: inout SeededGenerator) -> UInt8 {
        switch byte {
        case 0x30...0x39: UInt8.random(in: 0x30...0x39, using: &generator)
        case 0x41...0x5A: UInt8.random(in: 0x41...0x5A, using: &generator)
        case 0x61...0x7A: UInt8.random(in: 0x61...0x7A, using: &generator)
        default: byte  // The bytes that separate the parts of a message.
        }
    }
}
