package import EventLoops
package import HTTPMessages
import KeyCrypto
package import POSIXSockets

/// What ties an answer to its line in the log: 16 hexadecimal digits, and where the request came from.
package struct RequestID: Sendable, Hashable {
    package let text: String
    /// Nil for a request that no listener has accepted, as tests make them.
    package let place: RequestPlace?

    package init(_ number: UInt64, of peer: HTTPPeer? = nil) {
        text = sixteenDigits(number)
        place = peer.map { RequestPlace(listener: $0.listener, client: $0.address.ip) }
    }
}

/// Where a request came from.
package struct RequestPlace: Sendable, Hashable {
    /// The name of the listener.
    package let listener: String
    /// The client's address, as far as it can be known; nil for a client of a unix socket.
    package let client: IPAddress?
}

/// A number as 16 lower-case hexadecimal digits.
package func sixteenDigits(_ number: UInt64) -> String {
    unsafe String(unsafeUninitializedCapacity: 16) { digits in
        for position in 0..<16 {
            let value = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * position) & 0xf)
            // Sixteen bytes are there.
            unsafe digits[position] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
        }
        return 16
    }
}

/// Hands out request ids on each loop: a random start, then every following number, so that one loop never repeats
/// itself and two meet by chance once in billions of years.
package struct RequestIDs: Sendable {
    private final class Source {
        var next: UInt64

        init() {
            // Without random bytes the numbers begin at 0; the ids need to be distinct, not secret.
            next = (try? RandomBytes.generateUInt64()) ?? 0
        }
    }

    private let sources = LoopLocal { _ in Source() }

    package init() {}

    /// The id of the next request on this loop, which came from `peer`.
    package func next(for peer: HTTPPeer? = nil, on loop: LoopContext) -> RequestID {
        let source = loop.value(of: sources)
        defer { source.next &+= 1 }
        return RequestID(source.next, of: peer)
    }
}

extension HTTPFields {
    /// The fields of an answer for one client: no cache keeps it, no browser guesses its type, and the log knows it by
    /// the id.
    package static func answer(_ contentType: String, _ id: RequestID) -> HTTPFields {
        [
            "Content-Type": contentType, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "X-Request-Id": id.text,
        ]
    }
}
