import CNghttp2
import HTTPMessages

@testable import HTTPServing

/// An HTTP/2 client that obeys all rules. It uses nghttp2, and exchanges its bytes in memory.
@safe
final class HTTP2Client {
    /// The parts of an answer that have arrived.
    struct Answer: Equatable {
        var status: String?
        var fields: [String: String] = [:]
        var body: [UInt8] = []
        /// The error code with which the stream was closed.
        var closeCode: UInt32?
    }

    private let handle: OpaquePointer
    private(set) var answers: [Int32: Answer] = [:]
    private var requestBodies: [Int32: ArraySlice<UInt8>] = [:]
    private(set) var goAwayCodes: [UInt32] = []

    init() {
        var callbacks: OpaquePointer?
        var made: OpaquePointer?
        unsafe nghttp2_session_callbacks_new(&callbacks)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, clientField)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, clientData)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, clientClose)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, clientFrame)
        unsafe nghttp2_session_client_new(&made, callbacks, nil)
        unsafe nghttp2_session_callbacks_del(callbacks)
        guard let made = unsafe made else { preconditionFailure("no memory for a session") }
        unsafe handle = made
        // The pointer is used only while a method of this object runs.
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        unsafe nghttp2_submit_settings(handle, 0, nil, 0)
    }

    deinit { unsafe nghttp2_session_del(handle) }

    /// Submits a request and returns its stream.
    @discardableResult
    func submit(_ method: String, _ path: String, fields: [(String, String)] = [], body: [UInt8]? = nil) -> Int32 {
        let all = [(":method", method), (":scheme", "http"), (":authority", "h"), (":path", path)] + fields
        let storage = all.flatMap { Array($0.0.utf8) + Array($0.1.utf8) }
        var provider = unsafe nghttp2_data_provider()
        unsafe provider.read_callback = unsafe clientBody
        // nghttp2 only reads the fields, and copies them before the call returns.
        let id = unsafe storage.withUnsafeBufferPointer { storage in
            var next = unsafe UnsafeMutablePointer(mutating: storage.baseAddress)
            let pairs = unsafe all.map { name, value in
                let (nameStart, nameCount) = unsafe (next, name.utf8.count)
                let valueStart = unsafe nameStart.map { unsafe $0 + nameCount }
                unsafe next = valueStart.map { unsafe $0 + value.utf8.count }
                return unsafe nghttp2_nv(
                    name: nameStart, value: valueStart, namelen: nameCount, valuelen: value.utf8.count, flags: 0)
            }
            return body == nil
                ? unsafe nghttp2_submit_request(handle, nil, pairs, pairs.count, nil, nil)
                : unsafe nghttp2_submit_request(handle, nil, pairs, pairs.count, &provider, nil)
        }
        answers[id] = Answer()
        if let body { requestBodies[id] = body[...] }
        return id
    }

    /// Takes the bytes that the client must send now.
    func output() -> [UInt8] {
        var output: [UInt8] = []
        while true {
            var pointer: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(handle, &pointer)
            guard count > 0, let start = unsafe pointer else { return output }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    /// Reads bytes of the server. Returns `false` if they break a rule.
    func receive(_ bytes: [UInt8]) -> Bool {
        unsafe nghttp2_session_mem_recv(handle, bytes, bytes.count) == bytes.count
    }

    fileprivate func received(_ name: String, _ value: String, _ id: Int32) {
        if name == ":status" { answers[id]?.status = value } else { answers[id]?.fields[name] = value }
    }
    fileprivate func received(_ data: UnsafeBufferPointer<UInt8>, _ id: Int32) {
        unsafe answers[id]?.body.append(contentsOf: data)
    }
    fileprivate func closed(_ id: Int32, _ code: UInt32) { answers[id]?.closeCode = code }
    fileprivate func receivedGoAway(_ code: UInt32) { goAwayCodes.append(code) }
    fileprivate func takeBody(_ id: Int32, _ count: Int) -> (bytes: [UInt8], isEnd: Bool) {
        let bytes = Array(requestBodies[id]?.prefix(count) ?? [])
        requestBodies[id] = requestBodies[id]?.dropFirst(bytes.count)
        return (bytes, requestBodies[id]?.isEmpty ?? true)
    }
}

private func client(_ userData: UnsafeMutableRawPointer?) -> HTTP2Client {
    guard let userData = unsafe userData else { preconditionFailure("the session has no object") }
    return unsafe Unmanaged<HTTP2Client>.fromOpaque(userData).takeUnretainedValue()
}

private func clientField(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameLength: Int,
    _ value: UnsafePointer<UInt8>?, _ valueLength: Int, _: UInt8, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    let name = unsafe String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self)
    let value = unsafe String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
    if let frame = unsafe frame { unsafe client(userData).received(name, value, frame.pointee.hd.stream_id) }
    return 0
}

private func clientData(
    _: OpaquePointer?, _: UInt8, _ id: Int32, _ data: UnsafePointer<UInt8>?, _ length: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe client(userData).received(UnsafeBufferPointer(start: data, count: length), id)
    return 0
}

private func clientClose(
    _: OpaquePointer?, _ id: Int32, _ code: UInt32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe client(userData).closed(id, code)
    return 0
}

private func clientFrame(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    if unsafe UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue {
        unsafe client(userData).receivedGoAway(frame.pointee.goaway.error_code)
    }
    return 0
}

private func clientBody(
    _: OpaquePointer?, _ id: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    let (bytes, isEnd) = unsafe client(userData).takeBody(id, length)
    _ = unsafe UnsafeMutableBufferPointer(start: buffer, count: length).update(fromContentsOf: bytes)
    if isEnd { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return bytes.count
}
