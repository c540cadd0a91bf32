/// Every limit and deadline of an HTTP connection.
///
/// Over HTTP/2 a head is its fields with 32 bytes for each (RFC 9113 section 6.5.2), a refusal ends the stream alone,
/// and the last request of a connection is followed by GOAWAY. Pipelined requests of HTTP/1.1 are not refused for
/// their number: one is in flight, at most one read of what follows it is kept, and the rest stays with the kernel and
/// so with the client. Of all connections of a loop that have sent their next request before the last was answered,
/// eight get it looked at in one turn.
package struct HTTPLimits: Equatable, Sendable {
    /// The request line and all fields with their line ends, in bytes. More: 431.
    package var headSizeMaximum = 16 * 1024
    /// The number of header fields. More: 431.
    package var fieldCountMaximum = 100
    /// The request target, in bytes. More: 414.
    package var targetSizeMaximum = 8 * 1024
    /// The body, in bytes, checked against the declared length before a byte is kept. More: 413.
    package var bodySizeMaximum = 64 * 1024
    /// The same for single paths, as they come, whose bodies may be larger. A stranger gains nothing by them if the
    /// handler refuses such bodies by their heads.
    package var bodySizesByPath: [String: Int] = [:]
    /// All chunk extensions of one body, in bytes; they are ignored. More: 400.
    package var chunkExtensionsSizeMaximum = 1024
    /// The trailer section of a chunked body, in bytes; it is checked and ignored. More: 431.
    package var trailerSizeMaximum = 4 * 1024

    /// From the beginning of a connection to the end of its TLS handshake (and of the PROXY header before it). Longer:
    /// a reset.
    package var handshakeDeadline: Duration = .seconds(10)
    /// TLS records that carry hardly any data: empty records, records of at most 64 bytes, and key updates, each of
    /// which counts as eight more. So many at once, and so many more per second, beside 16 for each response and one
    /// for each 4 KiB of output. More: the connection is reset.
    package var smallRecordBurstMaximum = 1000
    package var smallRecordRateMaximum = 100

    /// From the first byte of a head to its last. Longer: 408.
    package var headDeadline: Duration = .seconds(5)
    /// From the end of the head to the end of the body. Longer: 408.
    package var bodyDeadline: Duration = .seconds(30)
    /// How long a body may stay below the least rate at first, and be stopped later.
    package var bodyGrace: Duration = .seconds(5)
    /// The least rate of a body after the grace, on average, in bytes per second; 0 for none. Slower: 408.
    package var bodyRateMinimum = 1024
    /// From the beginning of a response until the kernel has taken its last byte. Longer: the connection is reset.
    package var writeDeadline: Duration = .seconds(30)
    /// From the last response (or from the connection's beginning) to the first byte of a request. Longer: close.
    package var idleDeadline: Duration = .seconds(60)
    /// How long a connection may still take to its first request once the server is going down. Longer: close.
    package var drainPatience: Duration = .seconds(1)
    /// How long to read and drop what a refused peer still sends, so that it can read the refusal before the connection
    /// goes.
    package var lingerDeadline: Duration = .seconds(2)
    /// How many bytes to drop in that time.
    package var lingerSizeMaximum = 256 * 1024

    /// Requests on one connection; the last is answered with `Connection: close`.
    package var requestsPerConnectionMaximum = 100_000
    /// Connections of one listener, over all loops. More are closed as soon as they are accepted.
    package var connectionsMaximum = 16 * 1024
    /// Connections of one listener from one IP address. More are closed as soon as they are accepted.
    package var connectionsPerAddressMaximum = 1024

    /// What only HTTP/2 needs.
    package var http2 = HTTP2Limits()

    /// The defaults.
    package init() {}

    /// The largest body that a request for this path may have, in bytes.
    package func bodySizeMaximum(at path: String) -> Int {
        bodySizesByPath.isEmpty ? bodySizeMaximum : max(bodySizeMaximum, bodySizesByPath[path] ?? 0)
    }

    /// The largest body that any request may have, in bytes.
    package var largestBodySize: Int { bodySizesByPath.values.reduce(bodySizeMaximum, max) }

    /// How long after its head a body may take, given what of it has arrived: the earlier of `bodyDeadline` and the
    /// least rate.
    package func bodyAllowance(received: Int) -> Duration {
        guard bodyRateMinimum > 0 else { return bodyDeadline }
        return min(bodyDeadline, bodyGrace + .seconds(received) / bodyRateMinimum)
    }
}

/// The limits and deadlines that only HTTP/2 needs; those of heads, bodies and connections in `HTTPLimits` hold there
/// too.
package struct HTTP2Limits: Equatable, Sendable {
    /// Streams of one connection at once, which the client is told; also the requests of one connection that are being
    /// answered at once, those that it has reset meanwhile included. More: the stream is refused, and may be tried
    /// again.
    package var streamsMaximum = 100
    /// The bodies that one connection may be sending at once, in bytes: a declared length counts from its head on, a
    /// body without one as `HTTPLimits.bodySizeMaximum`. More: the stream is refused, and may be tried again.
    package var bodiesSizeMaximum = 1 << 20
    /// CONTINUATION frames of one header block. More: the connection ends.
    package var continuationsMaximum = 8

    /// Streams that were broken off: reset by the client, refused, or reset by the server because of what the client
    /// sent. So many at once, and so many more per second, beside one for each response. More: the connection ends,
    /// unless it is a trusted proxy's.
    package var resetBurstMaximum = 100
    package var resetRateMaximum = 20
    /// Frames that bring no request: SETTINGS, PING, PRIORITY, WINDOW_UPDATE, DATA of hardly any bytes, unknown ones.
    /// So many at once, and so many more per second, beside what each response allows for. More: the connection ends.
    package var controlFrameBurstMaximum = 1000
    package var controlFrameRateMaximum = 100

    /// Frames that wait for the client to take them, DATA not included. More: the connection is reset.
    package var outboundFramesMaximum = 1000

    /// From the server's SETTINGS to the client's acknowledgement. Longer: the connection ends.
    package var settingsDeadline: Duration = .seconds(10)
    /// From the first GOAWAY of a drain, which only warns, to the second, after which no new stream is served. A client
    /// that answers the PING sooner gets the second one sooner.
    package var drainNoticeDeadline: Duration = .seconds(1)

    /// The defaults.
    package init() {}
}
