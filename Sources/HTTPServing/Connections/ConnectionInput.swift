import POSIXSockets

/// What a connection knows about the bytes that its peer sends.
struct ConnectionInput {
    /// Whether the client has sent anything.
    private(set) var hasBegun = false
    /// Whether the kernel may have more input, which no further edge announces.
    private(set) var mayHaveMore = false
    private var end = End.unknown

    private enum End {
        case unknown
        /// The peer has closed its side. Bytes that it sent before may still be unread.
        case announced
        /// All input was read, up to the end.
        case reached
    }

    /// Whether the peer has closed its side.
    var peerHasEnded: Bool {
        switch end {
        case .unknown: false
        case .announced, .reached: true
        }
    }

    /// Whether all input was read, up to the end of the peer's stream.
    var hasEnded: Bool { end == .reached }

    /// Notes an event of the loop. With `readWaitsForRoom`, room for output makes more input readable.
    mutating func note(_ readiness: EpollReadiness, readWaitsForRoom: Bool) {
        if readiness.contains(.peerClosed) && end == .unknown { end = .announced }
        if readiness.bringsInput || readWaitsForRoom && readiness.contains(.writable) { mayHaveMore = true }
    }

    /// Notes that input may have arrived without an event.
    mutating func mayHaveArrived() {
        mayHaveMore = true
    }

    /// Notes that the client has sent something, which OpenSSL has read.
    mutating func began() {
        hasBegun = true
    }

    mutating func tookBytes(mayHaveMore: Bool) {
        hasBegun = true
        // If the peer has ended, no further edge announces the end of the stream, so it must still be read.
        if !mayHaveMore && !peerHasEnded { self.mayHaveMore = false }
    }

    /// Notes that the kernel has no more input.
    mutating func tookAll() {
        mayHaveMore = false
    }

    mutating func tookEnd() {
        mayHaveMore = false
        end = .reached
    }
}

/// The turns that a connection has requested from its loop, and has not had yet. It requests each of them once.
struct AwaitedTurns: OptionSet {
    let rawValue: UInt8

    /// The turn to write, in which the loop calls `resume`.
    static let output = AwaitedTurns(rawValue: 1)
    /// The turn among the connections with more input (`InputTurns`).
    static let input = AwaitedTurns(rawValue: 2)
    /// The turn to close, because the client is gone (`LostConnections`). It comes once.
    static let end = AwaitedTurns(rawValue: 4)
}
