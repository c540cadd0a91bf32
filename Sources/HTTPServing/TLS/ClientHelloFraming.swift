/// Tells by its framing alone whether the input of a connection holds a whole ClientHello (RFC 8446 sections 4, 4.1.2
/// and 5.1).
///
/// It is judged before OpenSSL sees the connection: a TLS session costs 40 KiB and some ten microseconds, and half of a
/// message is worth neither. What the message says is left to OpenSSL.
enum ClientHelloFraming {
    /// What the input so far amounts to.
    enum Verdict: Equatable {
        /// The beginning of a ClientHello; nothing at all is one too.
        case incomplete
        /// A ClientHello to its end, or more of one than is waited for.
        case complete
        /// Not a ClientHello, and it cannot become one: as a rule plain HTTP.
        case notTLS
    }

    /// With so many bytes there the rest is no longer waited for: a record of the largest size with its header.
    ///
    /// Clients need a few hundred bytes, or some two thousand with keys that withstand quantum computers.
    static let sizeMaximum = recordHeaderSize + payloadSizeMaximum

    private static let recordHeaderSize = 5
    /// RFC 8446 section 5.1: 2^14 bytes.
    private static let payloadSizeMaximum = 1 << 14
    private static let handshakeRecord: UInt8 = 22
    private static let majorVersion: UInt8 = 3

    /// Judges all input since the client began.
    ///
    /// The message may be spread over records. Records without a payload, and hellos of SSL 2.0, are refused (RFC 8446
    /// section 5.1 and appendix D.5).
    static func verdict(on input: Span<UInt8>) -> Verdict {
        var message = Message()
        var position = 0
        while position < input.count {
            guard input[position] == handshakeRecord else { return .notTLS }
            guard position + 1 == input.count || input[position + 1] == majorVersion else { return .notTLS }
            let start = position + recordHeaderSize
            guard start <= input.count else { break }
            let size = Int(input[start - 2]) << 8 | Int(input[start - 1])
            guard (1...payloadSizeMaximum).contains(size) else { return .notTLS }
            let end = start + size
            guard message.append(input.extracting(start..<min(end, input.count))) else { return .notTLS }
            // OpenSSL takes records whole.
            if message.isComplete && end <= input.count { return .complete }
            position = end
        }
        return input.count < sizeMaximum ? .incomplete : .complete
    }

    /// The handshake message that the payloads make up.
    private struct Message {
        private static let headerSize = 4
        private static let clientHello: UInt8 = 1

        private var receivedSize = 0
        private var bodySize = 0

        var isComplete: Bool { receivedSize >= Self.headerSize && receivedSize - Self.headerSize >= bodySize }

        /// Takes the next part; false if this is another message.
        mutating func append(_ part: Span<UInt8>) -> Bool {
            let header = part.extracting(first: min(part.count, max(0, Self.headerSize - receivedSize)))
            for index in 0..<header.count {
                if receivedSize + index > 0 {
                    bodySize = bodySize << 8 | Int(header[index])
                } else if header[index] != Self.clientHello {
                    return false
                }
            }
            receivedSize += part.count
            return true
        }
    }
}
