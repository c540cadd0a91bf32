/// A frame of HTTP/2 (RFC 9113 section 4.1), built and parsed without a library. It can also be one that no library
/// would send.
package struct HTTP2Frame: Equatable, Sendable, CustomStringConvertible {
    package var type: UInt8
    package var flags: UInt8
    package var streamID: UInt32
    package var payload: [UInt8]

    package init(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) {
        self.type = type
        self.flags = flags
        streamID = stream
        self.payload = payload
    }

    /// Returns the bytes of the frame. If `length` is given, the frame declares this size instead of the payload's.
    package func bytes(length: Int? = nil) -> [UInt8] {
        let length = length ?? payload.count
        return [UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type, flags]
            + Self.bytes(streamID) + payload
    }

    /// Returns all frames of a stream of bytes. An incomplete frame at the end is dropped.
    package static func parse(_ bytes: [UInt8]) -> [HTTP2Frame] {
        var frames: [HTTP2Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard rest.count >= 9 + length else { break }
            frames.append(
                HTTP2Frame(
                    type: head[3], flags: head[4], stream: number(head[5...]) & 0x7fff_ffff,
                    payload: Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    package var description: String {
        let names = [
            "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
            "CONTINUATION",
        ]
        let name = Int(type) < names.count ? names[Int(type)] : "type \(type)"
        let code = errorCode.map { " code \($0)" } ?? ""
        return "\(name) on \(streamID), flags \(flags), \(payload.count) bytes\(code)"
    }

    /// The error code of an RST_STREAM or GOAWAY frame; nil for other frames.
    package var errorCode: UInt32? {
        switch type {
        case 3 where payload.count == 4: Self.number(payload[...])
        case 7 where payload.count >= 8: Self.number(payload[4..<8])
        default: nil
        }
    }

    package static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    package static func bytes(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 0xff), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
    }
}

extension HTTP2Frame {
    /// The bytes that a client sends before its SETTINGS (RFC 9113 section 3.4).
    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package static let endStream: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    package static let padded: UInt8 = 0x8

    package static func data(_ stream: UInt32, _ payload: [UInt8], flags: UInt8 = endStream) -> HTTP2Frame {
        HTTP2Frame(type: 0, flags: flags, stream: stream, payload: payload)
    }
    package static func headers(
        _ stream: UInt32, _ block: [UInt8], flags: UInt8 = endStream | endHeaders
    ) -> HTTP2Frame {
        HTTP2Frame(type: 1, flags: flags, stream: stream, payload: block)
    }
    package static func priority(_ stream: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: 2, stream: stream, payload: [0, 0, 0, 0, 16])
    }
    package static func reset(_ stream: UInt32, code: UInt32 = 8) -> HTTP2Frame {
        HTTP2Frame(type: 3, stream: stream, payload: bytes(code))
    }
    package static func settings(_ values: [(UInt16, UInt32)] = []) -> HTTP2Frame {
        HTTP2Frame(type: 4, payload: values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] + bytes($1) })
    }
    package static let settingsAcknowledgement = HTTP2Frame(type: 4, flags: 1)
    package static func ping(_ payload: [UInt8] = [UInt8](repeating: 0, count: 8), flags: UInt8 = 0) -> HTTP2Frame {
        HTTP2Frame(type: 6, flags: flags, payload: payload)
    }
    package static func goAway(code: UInt32 = 0) -> HTTP2Frame {
        HTTP2Frame(type: 7, payload: bytes(0) + bytes(code))
    }
    package static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: 8, stream: stream, payload: bytes(increment))
    }
    package static func continuation(_ stream: UInt32, _ block: [UInt8], flags: UInt8 = endHeaders) -> HTTP2Frame {
        HTTP2Frame(type: 9, flags: flags, stream: stream, payload: block)
    }
}

/// Field lines as HPACK literals without indexing (RFC 7541 section 6.2.2) and without Huffman coding.
package enum HPACKLiterals {
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + text($0) + text($1) }
    }

    private static func text(_ text: String) -> [UInt8] {
        var rest = text.utf8.count
        guard rest >= 127 else { return [UInt8(rest)] + Array(text.utf8) }
        var length: [UInt8] = [127]
        rest -= 127
        while rest >= 128 {
            length.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return length + [UInt8(rest)] + Array(text.utf8)
    }
}
