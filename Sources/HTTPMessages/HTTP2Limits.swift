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
