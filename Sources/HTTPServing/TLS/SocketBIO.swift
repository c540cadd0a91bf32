private import COpenSSL
import Glibc

/// How OpenSSL reaches a connection's socket.
///
/// OpenSSL's own socket BIO writes with `write`, which raises SIGPIPE on a connection that is gone, and does not tell whether a read
/// has emptied the socket; with edge-triggered events, each request would then cost a second read that finds nothing.
enum SocketBIO {
    /// Makes a BIO over a non-blocking socket, which it does not own; OpenSSL frees it with the session.
    static func make(descriptor: Int32) -> OpaquePointer? {
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return nil }
        // The descriptor's number takes the place of a pointer to state of our own; nobody follows it.
        unsafe BIO_set_data(bio, UnsafeMutableRawPointer(bitPattern: Int(descriptor) + 1))
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Whether the last read took everything that the socket had.
    static func hasEmptiedSocket(_ bio: OpaquePointer?) -> Bool {
        unsafe BIO_test_flags(bio, emptiedFlag) != 0
    }

    /// A flag above those of OpenSSL.
    fileprivate static let emptiedFlag: Int32 = 0x1_0000

    // Made once and never freed; constant afterwards.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = unsafe BIO_meth_new(type, "socket") else { return nil }
        unsafe BIO_meth_set_read(method, readSocket)
        unsafe BIO_meth_set_write(method, writeSocket)
        unsafe BIO_meth_set_ctrl(method, control)
        return unsafe method
    }()

    fileprivate static func descriptor(of bio: OpaquePointer?) -> Int32 {
        Int32(truncatingIfNeeded: Int(bitPattern: unsafe BIO_get_data(bio)) - 1)
    }
}

private func readSocket(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int32) -> Int32 {
    unsafe latchkey_bio_clear_retry(bio)
    unsafe BIO_clear_flags(bio, SocketBIO.emptiedFlag)
    let descriptor = unsafe SocketBIO.descriptor(of: bio)
    while true {
        // OpenSSL gives room for `size` bytes.
        let count = unsafe recv(descriptor, bytes, Int(size), 0)
        if count < 0 && errno == EINTR { continue }
        if count < size { unsafe BIO_set_flags(bio, SocketBIO.emptiedFlag) }
        if count == 0 { unsafe BIO_set_flags(bio, BIO_FLAGS_IN_EOF) }
        if count < 0 && errno == EAGAIN { unsafe latchkey_bio_retry_read(bio) }
        return Int32(count)
    }
}

private func writeSocket(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ size: Int32) -> Int32 {
    unsafe latchkey_bio_clear_retry(bio)
    let descriptor = unsafe SocketBIO.descriptor(of: bio)
    while true {
        // OpenSSL lends `size` bytes.
        let count = unsafe send(descriptor, bytes, Int(size), Int32(MSG_NOSIGNAL))
        if count < 0 && errno == EINTR { continue }
        if count < 0 && errno == EAGAIN { unsafe latchkey_bio_retry_write(bio) }
        return Int32(count)
    }
}

private func control(
    _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_EOF: unsafe BIO_test_flags(bio, BIO_FLAGS_IN_EOF) == 0 ? 0 : 1
    default: 0  // Commands of OpenSSL that mean nothing to a socket.
    }
}
