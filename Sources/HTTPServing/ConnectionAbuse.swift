/// Why a connection ends before its time: what its client sends breaks no rule by itself, but together it only costs.
package enum ConnectionAbuse: String, Equatable, Sendable, CaseIterable {
    /// HTTP/2 streams are opened and broken off, over and over (CVE-2023-44487), or driven into errors for the server
    /// to break off.
    case resets
    /// HTTP/2 frames that bring no request: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, DATA of hardly any bytes,
    /// unknown ones.
    case controlFrames = "control_frames"
    /// An HTTP/2 header block in too many pieces (CVE-2024-28182).
    case continuations
    /// An HTTP/2 header block of far more bytes than any head that would be accepted.
    case headerBlock = "header_block"
    /// HTTP/2 header blocks that are small on the wire and decode to far more bytes or fields than any head that
    /// would be accepted.
    case expandedHeaders = "expanded_headers"
    /// More HTTP/2 frames wait for the client than `HTTP2Limits.outboundFramesMaximum`.
    case outboundFrames = "outbound_frames"
    /// TLS records that carry hardly any data, or none: key updates, empty records, records of a few bytes.
    case smallRecords = "small_records"
    /// A head, or what HTTP/2 sends before the first one, did not arrive within its deadline.
    case slowHead = "slow_head"
    /// A body did not arrive within its deadline or at its least rate. Over HTTP/2 it is the second request that does
    /// not end in time, be it before or after its answer.
    case slowBody = "slow_body"
    /// The client did not take the output within `HTTPLimits.writeDeadline`.
    case slowReading = "slow_reading"
}
