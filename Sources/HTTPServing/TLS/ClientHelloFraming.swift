/// Checks whether the input of a connection contains a whole ClientHello, by its framing only (RFC 8446 sections 4,
/// 4.1.2 and 5.1).
///
/// The check comes before OpenSSL gets the connection. A TLS session costs 40 KiB and some ten microseconds, which
/// would be wasted on an incomplete message. OpenSSL parses the contents of the message.
enum ClientHelloFraming {
    /// The result of checking the input so far.
    enum Verdict: Equatable {
        /// The beginning of a ClientHello. Empty input counts as one too.
        case incomplete
        /// A whole ClientHello, or `sizeMaximum` bytes of one.
        case complete
        /// Not a ClientHello, usually plain HTTP.
        case notTLS
    }

    /// The number of bytes after which the rest of a ClientHello is not awaited: the largest record with its header.
    ///
    /// Clients need a few hundred bytes, or about two thousand with post-quantum keys.
    static let sizeMaximum = recordHeaderSize + payloadSizeMaximum

    private static let recordHeaderSize = 5
    /// RFC 8446 section 5.1: 2^14 bytes.
    private static let payloadSizeMaximum = 1 << 14
    private static let handshakeRecord: UInt8 = 22
    private static let majorVersion: UInt8 = 3

    /// Checks all input since the client began.
    ///
    /// The message may be spread over several records. Records without a payload and ClientHellos of SSL 2.0 are
    /// refused (RFC 8446 section 5.1 and appendix D.5).
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
            // OpenSSL can only process whole records.
            if message.isComplete && end <= input.count { return .complete }
            position = end
        }
        return input.count < sizeMaximum ? .incomplete : .complete
    }

    /// The handshake message in the payloads of the records.
    private struct Message {
        private static let headerSize = 4
        private static let clientHello: UInt8 = 1

        private var receivedSize = 0
        private var bodySize = 0

        var isComplete: Bool { receivedSize >= Self.headerSize && receivedSize - Self.headerSize >= bodySize }

        /// Takes the next part. Returns false if the message is not a ClientHello.
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
