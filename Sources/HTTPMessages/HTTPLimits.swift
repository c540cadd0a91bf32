/// The limits and deadlines of an HTTP connection.
///
/// In HTTP/2, the size of a head is the size of its fields plus 32 bytes for each (RFC 9113 section 6.5.2). A refusal
/// ends only its stream, and a GOAWAY follows the last request of a connection.
///
/// The number of pipelined HTTP/1.1 requests has no limit. One request is in flight, and at most one read of further
/// input is kept; the rest stays in the kernel. In each turn, a loop processes early input of at most eight
/// connections.
package struct HTTPLimits: Equatable, Sendable {
    /// The most bytes of the request line and all fields with their line ends. Exceeded: 431.
    package var headSizeMaximum = 16 * 1024
    /// The most header fields. Exceeded: 431.
    package var fieldCountMaximum = 100
    /// The most bytes of the request target. Exceeded: 414.
    package var targetSizeMaximum = 8 * 1024
    /// The most bytes of a body. A declared length is checked before a byte is kept. Exceeded: 413.
    package var bodySizeMaximum = 64 * 1024
    /// The most bytes of a body for single paths, if it is larger than `bodySizeMaximum`. Paths are compared without
    /// decoding.
    ///
    /// The handler must refuse unauthenticated requests for these paths by their heads, so that not every client can
    /// send large bodies.
    package var bodySizesByPath: [String: Int] = [:]
    /// The most bytes of all chunk extensions of a body, which are ignored. Exceeded: 400.
    package var chunkExtensionsSizeMaximum = 1024
    /// The most bytes of the trailer section of a chunked body, which is checked and ignored. Exceeded: 431.
    package var trailerSizeMaximum = 4 * 1024

    /// The time from the beginning of a connection to the end of its TLS handshake, including a PROXY header. Exceeded:
    /// the connection is reset.
    package var handshakeDeadline: Duration = .seconds(10)
    /// The burst of small TLS records. Exceeded: the connection is reset.
    ///
    /// Small records are empty records, records of at most 64 bytes, and key updates, each of which counts as eight
    /// more. Each response allows 16 small records more, and each 4 KiB of output allows one more.
    package var smallRecordBurstMaximum = 1000
    /// The steady rate of small TLS records per second.
    package var smallRecordRateMaximum = 100

    /// The time from the first byte of a head to its last. Exceeded: 408.
    package var headDeadline: Duration = .seconds(5)
    /// The time from the end of the head to the end of the body. Exceeded: 408.
    package var bodyDeadline: Duration = .seconds(30)
    /// The time that a body gets in addition to the time at its minimum rate.
    package var bodyGrace: Duration = .seconds(5)
    /// The minimum average rate of a body after the grace, in bytes per second; 0 for no minimum. Slower: 408.
    package var bodyRateMinimum = 1024
    /// The time from the beginning of a response until the kernel has taken its last byte. Exceeded: the connection is
    /// reset.
    package var writeDeadline: Duration = .seconds(30)
    /// The time from the last response, or from the beginning of the connection, to the first byte of a request.
    /// Exceeded: the connection closes.
    package var idleDeadline: Duration = .seconds(60)
    /// The time until the next request of a connection while the server is shutting down. Exceeded: the connection
    /// closes.
    package var drainPatience: Duration = .seconds(1)
    /// The time for which further input of a refused peer is read and dropped, so that the peer can read the refusal
    /// before the connection closes.
    package var lingerDeadline: Duration = .seconds(2)
    /// The most bytes that are dropped in that time.
    package var lingerSizeMaximum = 256 * 1024

    /// The most requests on one connection. The last one is answered with `Connection: close`.
    package var requestsPerConnectionMaximum = 100_000
    /// The most connections of one listener, over all loops. A further one takes the place of the longest idle one. If
    /// none is idle, it is closed, or served health checks alone.
    package var connectionsMaximum = 16 * 1024
    /// The most connections of one listener from one client network: an IPv4 address or an IPv6 /64. A further one
    /// takes the place of the network's longest idle one. If none is idle, it is treated as above.
    package var connectionsPerAddressMaximum = 1024

    /// The limits that only HTTP/2 has.
    package var http2 = HTTP2Limits()

    /// Makes the default limits.
    package init() {}

    /// Returns the largest body in bytes that a request for this path may have.
    package func bodySizeMaximum(at path: String) -> Int {
        bodySizesByPath.isEmpty ? bodySizeMaximum : max(bodySizeMaximum, bodySizesByPath[path] ?? 0)
    }

    /// The largest body in bytes that any request may have.
    package var largestBodySize: Int { bodySizesByPath.values.reduce(bodySizeMaximum, max) }

    /// Returns the time after its head that a body may take, given how many bytes have arrived: `bodyDeadline`, or the
    /// time by the minimum rate if that is shorter.
    package func bodyAllowance(received: Int) -> Duration {
        guard bodyRateMinimum > 0 else { return bodyDeadline }
        return min(bodyDeadline, bodyGrace + .seconds(received) / bodyRateMinimum)
    }
}

/// The limits and deadlines that only HTTP/2 has. The limits of heads, bodies and connections in `HTTPLimits` apply to
/// HTTP/2 too.
package struct HTTP2Limits: Equatable, Sendable {
    /// The most concurrent streams of one connection, which the client is told. Exceeded: the stream is refused, and
    /// the client may try again.
    ///
    /// It is also the most requests of one connection that are being answered concurrently, including those that the
    /// client has reset meanwhile.
    package var streamsMaximum = 100
    /// The most bytes of all bodies that one connection sends concurrently. Exceeded: the stream is refused, and the
    /// client may try again.
    ///
    /// A body counts with its declared length, or with its largest size if no length is declared.
    package var bodiesSizeMaximum = 1 << 20
    /// The most CONTINUATION frames of one header block. Exceeded: the connection ends.
    package var continuationsMaximum = 8

    /// The burst of streams that the client resets, or that the server refuses or resets because of the client's input.
    /// Exceeded: the connection ends, unless it belongs to a trusted proxy.
    ///
    /// Each response allows one reset more.
    package var resetBurstMaximum = 100
    /// The steady rate of such streams per second.
    package var resetRateMaximum = 20
    /// The burst of frames that are not requests: SETTINGS, PING, PRIORITY, WINDOW_UPDATE, very small DATA and unknown
    /// frames. Exceeded: the connection ends.
    ///
    /// Each response allows some frames more.
    package var controlFrameBurstMaximum = 1000
    /// The steady rate of such frames per second.
    package var controlFrameRateMaximum = 100

    /// The most frames that wait for the client to read them, without DATA frames. Exceeded: the connection is reset.
    package var outboundFramesMaximum = 1000

    /// The time from the server's SETTINGS to the client's acknowledgement. Exceeded: the connection ends.
    package var settingsDeadline: Duration = .seconds(10)
    /// The time from the first GOAWAY of a drain, which is only a notice, to the second one, after which no new stream
    /// is served. If the client answers the PING sooner, the second GOAWAY is sent then.
    package var drainNoticeDeadline: Duration = .seconds(1)

    /// Makes the default limits.
    package init() {}
}
