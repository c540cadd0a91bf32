private import CCurl
import Glibc

/// The running calls to one service, and their connections (libcurl's multi interface).
///
/// Only one thread may use it. Any thread may call `wake`.
@safe
final class CurlMulti: @unchecked Sendable {
    // Safe to send: libcurl allows `curl_multi_wakeup` on any thread while the handle exists, and `deinit` runs when no
    // owner is left.
    private let multi: UnsafeMutableRawPointer

    /// Makes a multi handle with at most `connectionMaximum` open connections. Connections are kept for later calls.
    ///
    /// `streamMaximum` is the number of calls that may share a connection of HTTP/2. It is 1 if a slow call must not
    /// delay others.
    init(connectionMaximum: Int, streamMaximum: Int = 1) throws(HTTPCallError) {
        guard CurlEasy.isLibraryReady, let multi = unsafe curl_multi_init() else {
            throw .failed(code: CURLE_FAILED_INIT.rawValue)
        }
        unsafe self.multi = multi
        for option in [CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAXCONNECTS] {
            try Self.check(unsafe latchkey_curl_multi_set_long(multi, option, connectionMaximum))
        }
        let sharing = streamMaximum > 1 ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING
        try Self.check(unsafe latchkey_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(sharing)))
        try Self.check(unsafe latchkey_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streamMaximum))
    }

    deinit {
        unsafe curl_multi_cleanup(multi)
    }

    func add(_ easy: CurlEasy) throws(HTTPCallError) {
        try Self.check(unsafe curl_multi_add_handle(multi, easy.handle))
    }

    func remove(_ easy: CurlEasy) {
        unsafe curl_multi_remove_handle(multi, easy.handle)
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

    /// Waits until a connection is ready, a call's timeout is reached, or the duration has passed, which is exact to
    /// microseconds.
    func wait(atMost duration: Duration, with timer: borrowing CurlTimer) throws(HTTPCallError) {
        let nanoseconds = max(1, Int64(duration / .nanoseconds(1)))
        try Self.check(unsafe latchkey_curl_multi_poll(multi, timer.number, nanoseconds))
    }

    func wake() {
        unsafe curl_multi_wakeup(multi)
    }

    private static func check(_ code: CURLMcode) throws(HTTPCallError) {
        guard code == CURLM_OK else { throw .failed(code: UInt32(bitPattern: code.rawValue)) }
    }
}

/// A timer of the kernel, by which a wait for connections can end at an exact time.
struct CurlTimer: ~Copyable {
    let number: Int32

    init() throws(HTTPCallError) {
        number = latchkey_curl_timer()
        guard number >= 0 else { throw .failed(code: CURLE_OUT_OF_MEMORY.rawValue) }
    }

    deinit {
        close(number)
    }
}

/// Identifies a handle by its address, which is never used as a pointer.
struct CurlHandleID: Hashable {
    private let address: UInt

    init(_ handle: UnsafeMutableRawPointer) {
        address = UInt(bitPattern: handle)
    }
}
