/// The header of a frame: nine bytes (RFC 9113 section 4.1), without the reserved bit.
struct HTTP2FrameHeader: Equatable, Sendable {
    /// The size of the payload after the header, in bytes.
    let length: Int
    let type: Kind
    let flags: UInt8
    let streamID: Int32

    /// The type of a frame (RFC 9113 section 6).
    enum Kind: Equatable, Sendable {
        case data
        case headers
        case priority
        case reset
        case settings
        case pushPromise
        case ping
        case goAway
        case windowUpdate
        case continuation
        case unknown
    }

    var endsStream: Bool { flags & 0x1 != 0 }
    var endsHeaders: Bool { flags & 0x4 != 0 }
}

extension HTTP2FrameHeader.Kind {
    init(_ number: UInt8) {
        let known: [Self] = [
            .data, .headers, .priority, .reset, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .continuation,
        ]
        self = Int(number) < known.count ? known[Int(number)] : .unknown
    }
}

/// Finds the frames in the client's input, without reading their payloads.
///
/// nghttp2 does not report the frames that it ignores. To detect floods, all frames must be counted, and before nghttp2
/// spends time on them.
struct HTTP2FrameScanner: Equatable, Sendable {
    /// The size of a frame's header, in bytes.
    static let headerSize = 9

    private var prefaceLeft = HTTP2PrefaceMatcher.preface.count
    private var header: [UInt8] = []
    private var payloadLeft = 0
    private var current: HTTP2FrameHeader.Kind?
    private var isInHeaderBlock = false
    /// The number of frames that have begun. A whole header block counts as one.
    private(set) var beginningCount = 0

    /// Whether the preface, a header block, or a frame other than DATA is incomplete. A deadline runs for the rest of
    /// it.
    var isWithinHead: Bool {
        prefaceLeft > 0 || !header.isEmpty || isInHeaderBlock || (payloadLeft > 0 && current != .data)
    }

    /// Whether the last frame is complete and has ended a header block.
    var isBehindHeaderBlock: Bool {
        guard payloadLeft == 0, header.isEmpty, !isInHeaderBlock else { return false }
        return current == .headers || current == .continuation
    }

    /// Moves `position` to the end of the present frame's payload, or to the end of `bytes` if the payload is longer.
    mutating func skipPayload(_ bytes: Span<UInt8>, from position: inout Int) {
        skip(&prefaceLeft, bytes.count, &position)
        skip(&payloadLeft, bytes.count, &position)
    }

    /// Returns the next complete frame header; `nil` at the end of `bytes`. `position` moves to the end of the bytes
    /// that were read.
    mutating func next(_ bytes: Span<UInt8>, from position: inout Int) -> HTTP2FrameHeader? {
        skipPayload(bytes, from: &position)
        while position < bytes.count {
            if header.isEmpty && !isInHeaderBlock { beginningCount &+= 1 }
            header.append(bytes[position])
            position += 1
            if header.count == Self.headerSize { return takeHeader() }
        }
        return nil
    }

    private func skip(_ left: inout Int, _ end: Int, _ position: inout Int) {
        let count = min(left, end - position)
        left -= count
        position += count
    }

    private mutating func takeHeader() -> HTTP2FrameHeader {
        let frame = HTTP2FrameHeader(
            length: Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2]), type: .init(header[3]),
            flags: header[4],
            streamID: header[5...8].reduce(0) { $0 << 8 | Int32($1) } & .max)
        header.removeAll(keepingCapacity: true)
        payloadLeft = frame.length
        current = frame.type
        switch frame.type {
        case .headers, .continuation: isInHeaderBlock = !frame.endsHeaders
        case .data, .priority, .reset, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .unknown: break
        }
        return frame
    }
}
