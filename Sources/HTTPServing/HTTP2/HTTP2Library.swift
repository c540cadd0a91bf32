import CNghttp2
import HTTPMessages

/// Wraps the calls of nghttp2 that need more than one line.
enum HTTP2Library {
    /// Makes a server session with `HTTP2Callbacks`. The caller must still set its user data.
    ///
    /// Windows are updated by `HTTP2Session`, when bodies are taken. `HTTP2FloodGuard` limits continuations;
    /// nghttp2's own limit of them is an additional protection. nghttp2's limit of resets is switched off, because it
    /// does not consider responses and trusted proxies. `HTTP2FloodGuard` counts resets instead.
    @unsafe
    static func makeServerSession(limits: HTTP2Limits) -> OpaquePointer {
        var option: OpaquePointer?
        var session: OpaquePointer?
        // These calls fail only if there is no memory. A failed allocation in Swift would end the process too.
        guard unsafe nghttp2_option_new(&option) == 0 else { preconditionFailure("no memory for options") }
        defer { unsafe nghttp2_option_del(option) }
        unsafe nghttp2_option_set_no_auto_window_update(option, 1)
        unsafe nghttp2_option_set_max_continuations(option, limits.continuationsMaximum)
        unsafe nghttp2_option_set_stream_reset_rate_limit(option, .max, .max)
        guard unsafe nghttp2_session_server_new2(&session, HTTP2Callbacks.shared.pointer, nil, option) == 0,
            let session = unsafe session
        else { preconditionFailure("no memory for a session") }
        return unsafe session
    }

    /// Returns the number of frames that wait to be sent, without DATA frames.
    @unsafe
    static func outboundFrameCount(of session: OpaquePointer) -> Int {
        unsafe nghttp2_session_get_outbound_queue_size(session)
    }

    /// Submits the server's SETTINGS and the window of the connection.
    @unsafe
    static func submitSettings(
        _ values: [(nghttp2_settings_id, Int)], connectionWindow: Int, to session: OpaquePointer
    ) -> Bool {
        let entries = values.map {
            nghttp2_settings_entry(settings_id: Int32($0.rawValue), value: UInt32(clamping: $1))
        }
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        guard unsafe nghttp2_submit_settings(session, none, entries, entries.count) == 0 else { return false }
        return unsafe nghttp2_session_set_local_window_size(session, none, 0, Int32(clamping: connectionWindow)) == 0
    }

    /// Submits the head of a response. If it has a body, nghttp2 will fetch the body with `readResponseBody`.
    @unsafe
    static func submit(
        _ block: HTTP2FieldBlock, on id: Int32, hasBody: Bool, to session: OpaquePointer
    ) -> Bool {
        unsafe withFields(block) { fields in
            guard hasBody else {
                return unsafe nghttp2_submit_response(session, id, fields.baseAddress, fields.count, nil) == 0
            }
            var provider = unsafe nghttp2_data_provider()
            unsafe provider.read_callback = unsafe readResponseBody
            return unsafe nghttp2_submit_response(session, id, fields.baseAddress, fields.count, &provider) == 0
        }
    }

    /// Submits the interim response 100, which tells the client to send its body.
    @unsafe
    static func submitContinue(on id: Int32, to session: OpaquePointer) {
        unsafe withFields(.interimContinue) { fields in
            // A failure is ignored: the client then sends its body without the interim response, possibly later.
            _ = unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, nil, fields.baseAddress, fields.count, nil)
        }
    }

    /// Calls `body` with the fields in nghttp2's format. nghttp2 copies them before the call returns.
    @unsafe
    private static func withFields<Result>(
        _ block: HTTP2FieldBlock, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        // Safe: nghttp2 only reads the fields, although its types allow writing, and the ranges lie within the storage.
        unsafe block.storage.withUnsafeBufferPointer { storage in
            let start = unsafe UnsafeMutablePointer(mutating: storage.baseAddress)
            let fields = unsafe block.fields.map { field in
                unsafe nghttp2_nv(
                    name: start.map { unsafe $0 + field.name.lowerBound },
                    value: start.map { unsafe $0 + field.value.lowerBound }, namelen: field.name.count,
                    valuelen: field.value.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            return unsafe fields.withUnsafeBufferPointer { unsafe body($0) }
        }
    }
}
