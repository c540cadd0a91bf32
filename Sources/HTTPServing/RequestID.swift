package import EventLoops
package import HTTPMessages
import KeyCrypto
package import POSIXSockets
package import Telemetry

/// Connects an answer with its log line: 16 hexadecimal digits, where the request came from, and its trace.
package struct RequestID: Sendable, Equatable {
    package let text: String
    /// Nil for a request that no listener has accepted, as tests make them.
    package let place: RequestPlace?
    /// The trace that the sender has named in `traceparent`; nil if it has named none, or an invalid one. This server's
    /// span in the trace has the request id as its id, which has the form of one.
    package let trace: TraceContext?

    package init(_ number: UInt64, of peer: HTTPPeer? = nil, tracedBy fields: HTTPFields? = nil) {
        text = sixteenDigits(number)
        place = peer.map { RequestPlace(listener: $0.listener, client: $0.address.ip) }
        trace = fields.flatMap { [text] in TraceContext($0, spanID: text) }
    }

    /// What every log line about the request begins with.
    package var logFields: [LogField] {
        let own = [LogField.string("request_id", text)]
        return trace.map { own + $0.logFields } ?? own
    }
}

extension TraceContext {
    /// A field `traceparent` that occurs twice is invalid. Without the field, nothing is allocated.
    fileprivate convenience init?(_ fields: HTTPFields, spanID: String) {
        guard let parent = fields.bytes(of: "traceparent"), fields.count(of: "traceparent") == 1 else { return nil }
        self.init(traceparent: parent, tracestate: fields.allBytes(of: "tracestate"), spanID: spanID)
    }
}

/// Where a request came from.
package struct RequestPlace: Sendable, Equatable {
    /// The name of the listener.
    package let listener: String
    /// The client's address, as far as it can be known; nil for a client of a unix socket.
    package let client: IPAddress?
}

/// Formats a number as 16 lower-case hexadecimal digits.
package func sixteenDigits(_ number: UInt64) -> String {
    unsafe String(unsafeUninitializedCapacity: 16) { digits in
        for position in 0..<16 {
            let value = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * position) & 0xf)
            // Safe: the buffer has 16 bytes.
            unsafe digits[position] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
        }
        return 16
    }
}

/// Makes request IDs on each loop: the first one is random, and each later one is the next number.
///
/// So one loop never repeats an ID, and two loops practically never have the same one.
package struct RequestIDs: Sendable {
    private final class Source {
        var next: UInt64

        init() {
            // Without random bytes, the numbers begin at 1. The IDs need not be secret.
            next = max(1, (try? RandomBytes.generateUInt64()) ?? 1)
        }

        /// Leaves out zero, which no span has as its id.
        func take() -> UInt64 {
            defer { next = next == .max ? 1 : next + 1 }
            return next
        }
    }

    private let sources = LoopLocal { _ in Source() }

    package init() {}

    /// The id of a request on this loop.
    package func next(for request: HTTPRequest, on loop: LoopContext) -> RequestID {
        RequestID(loop.value(of: sources).take(), of: request.peer, tracedBy: request.fields)
    }

    /// The id of input on this loop that did not become a request. It came from `peer`, with these header fields.
    package func next(
        for peer: HTTPPeer? = nil, tracedBy fields: HTTPFields? = nil, on loop: LoopContext
    ) -> RequestID {
        RequestID(loop.value(of: sources).take(), of: peer, tracedBy: fields)
    }
}

extension HTTPFields {
    /// Returns the fields of an answer for one client. No cache may store the answer, no browser may guess its type,
    /// and its ID is in the log.
    package static func answer(_ contentType: String, _ id: RequestID) -> HTTPFields {
        // Room for the fields of a license with a session token, and for those that CORS adds.
        var fields = HTTPFields(roomForFields: 16, bytes: 1472)
        fields.append("Content-Type", contentType)
        fields.append(contentsOf: uncachedAndUnguessed)
        fields.append("X-Request-Id", id.text)
        return fields
    }

    private static let uncachedAndUnguessed: HTTPFields = [
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    ]
}
