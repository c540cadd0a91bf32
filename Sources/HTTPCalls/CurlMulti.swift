private import CCurl

/// The running calls to one service, and their connections (libcurl's multi interface).
///
/// Only one thread may use it. Any thread may call `wake`.
@safe
final class CurlMulti: @unchecked Sendable {
    // Safe to send: libcurl allows `curl_multi_wakeup` on any thread while the handle exists, and `deinit` runs when no
    // owner is left.
    private let multi: UnsafeMutableRawPointer

    /// Makes a multi handle with at most `connectionMaximum` open connections. Connections are kept for later calls.
    init(connectionMaximum: Int) throws(HTTPCallError) {
        guard CurlEasy.isLibraryReady, let multi = unsafe curl_multi_init() else {
            throw .failed(code: CURLE_FAILED_INIT.rawValue)
        }
        unsafe self.multi = multi
        for option in [CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAXCONNECTS] {
            try Self.check(unsafe latchkey_curl_multi_set_long(multi, option, connectionMaximum))
        }
        // Each call has its own connection, so that a slow call does not delay others.
        try Self.check(unsafe latchkey_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING)))
    }

    deinit {
        unsafe curl_multi_cleanup(multi)
    }

    func add(_ handle: CurlHandle) throws(HTTPCallError) {
        try Self.check(unsafe curl_multi_add_handle(multi, handle.handle))
    }

    func remove(_ handle: CurlHandle) {
        unsafe curl_multi_remove_handle(multi, handle.handle)
    }

    /// Moves every call as far as possible without waiting.
    func perform() throws(HTTPCallError) {
        var count: Int32 = 0
        try Self.check(unsafe curl_multi_perform(multi, &count))
    }

    /// Calls `end` for each call that has ended, with the ID of its handle.
    func forEachEnded(_ end: (CurlHandleID, _ code: UInt32) -> Void) {
        var code = CURLE_OK
        while let handle = unsafe latchkey_curl_multi_ended(multi, &code) {
            end(unsafe CurlHandleID(handle), code.rawValue)
        }
    }

    /// Waits until a connection is ready, a call's timeout is reached, `wake` is called, or the limit has passed.
    func wait(atMost milliseconds: Int32) {
        unsafe curl_multi_poll(multi, nil, 0, milliseconds, nil)
    }

    func wake() {
        unsafe curl_multi_wakeup(multi)
    }

    private static func check(_ code: CURLMcode) throws(HTTPCallError) {
        guard code == CURLM_OK else { throw .failed(code: UInt32(bitPattern: code.rawValue)) }
    }
}

/// Identifies a handle by its address, which is never used as a pointer.
struct CurlHandleID: Hashable {
    private let address: UInt

    init(_ handle: UnsafeMutableRawPointer) {
        address = UInt(bitPattern: handle)
    }
}
