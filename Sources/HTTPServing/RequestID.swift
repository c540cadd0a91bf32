package import EventLoops
package import HTTPMessages
import KeyCrypto

/// Connects an answer with its log line: 16 hexadecimal digits.
package struct RequestID: Sendable, Hashable {
    package let text: String

    package init(_ number: UInt64) {
        text = sixteenDigits(number)
    }
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
            // Without random bytes, the numbers begin at 0. The IDs need not be secret.
            next = (try? RandomBytes.generateUInt64()) ?? 0
        }
    }

    private let sources = LoopLocal { _ in Source() }

    package init() {}

    package func next(on loop: LoopContext) -> RequestID {
        let source = loop.value(of: sources)
        defer { source.next &+= 1 }
        return RequestID(source.next)
    }
}

extension HTTPFields {
    /// Returns the fields of an answer for one client. No cache may store the answer, no browser may guess its type,
    /// and its ID is in the log.
    package static func answer(_ contentType: String, _ id: RequestID) -> HTTPFields {
        [
            "Content-Type": contentType, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "X-Request-Id": id.text,
        ]
    }
}
