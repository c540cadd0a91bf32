private import COpenSSL
import Glibc

/// The socket of a TLS connection for OpenSSL, with a budget for each turn of the loop.
///
/// OpenSSL's own socket BIO has three disadvantages. It uses `write`, which raises SIGPIPE on a lost connection. It
/// does not tell whether a read has emptied the socket: with edge-triggered events, each request would then cost a
/// second read that finds nothing. And it has no limit: in one call, OpenSSL processes key updates as long as the
/// socket has some.
final class TLSWire {
    /// The most encrypted bytes that one turn reads.
    static let bytesPerTurnMaximum = 64 * 1024
    /// The number of records after which a turn ends; the last read may exceed it. A record of a few bytes costs about
    /// as much as one of 16 KiB.
    static let recordsPerTurnMaximum = 64
    /// The largest payload of a small record in bytes, with its tag.
    static let smallRecordSizeMaximum = 64
    /// The number of small records for which a key update counts. It costs 10 us, and no client needs many.
    private static let smallRecordsPerKeyUpdate = 8
    /// The most bytes of the first read of a connection. They can contain 150 key updates, which cost 1.6 ms.
    private static let readSizeAtFirst = 4 * 1024
    /// The most bytes of a read after one with many small records.
    private static let readSizeMinimum = 1024
    private static let readSizeMaximum = 32 * 1024
    /// The number of small records in one read above which the next reads are shorter.
    private static let smallRecordsPerReadMaximum = 16
    /// The most certificates of a client's chain. OpenSSL takes 0.4 ms of the loop's time to parse one.
    private static let clientCertificatesMaximum = 6

    fileprivate let descriptor: Int32
    /// Whether the last read took everything that the socket had.
    private(set) var isEmpty = false
    private var bytesLeft = 0
    private var recordsLeft = 0
    private var readSize = readSizeAtFirst
    private var smallRecordsOfRead = 0
    private var uncountedSmallRecords = 0
    /// Whether the client has sent more certificates than its chain may have.
    private(set) var hasLongChain = false

    /// Makes the wire of a non-blocking socket, which it does not own.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Begins a turn with a new budget.
    func beginTurn() {
        bytesLeft = Self.bytesPerTurnMaximum
        recordsLeft = Self.recordsPerTurnMaximum
    }

    /// Whether the budget of this turn is spent. OpenSSL then gets no more bytes, although the socket may have some.
    var turnIsSpent: Bool { bytesLeft <= 0 || recordsLeft <= 0 }

    /// Returns the number of small records since the last call.
    func takeSmallRecords() -> Int {
        defer { uncountedSmallRecords = 0 }
        return uncountedSmallRecords
    }

    /// Counts a record whose payload has this size in bytes.
    fileprivate func beganRecord(size: Int) {
        recordsLeft -= 1
        if size <= Self.smallRecordSizeMaximum { noteSmallRecords(1) }
    }

    /// Counts a decrypted key update. Its record need not be small, because it can be padded.
    fileprivate func beganKeyUpdate() {
        noteSmallRecords(Self.smallRecordsPerKeyUpdate)
    }

    /// Counts the certificates of the client's message. Returns whether they must not be parsed.
    ///
    /// After its type and size, the message has a context (TLS 1.3), a size, and the certificates, each with extensions
    /// in TLS 1.3 (RFC 5246 section 7.4.2, RFC 8446 section 4.4.2).
    fileprivate func refusesChain(_ message: [UInt8], isVersion13: Bool) -> Bool {
        var rest = message.dropFirst(4)
        func skipPart(sizedBy width: Int) {
            let size = rest.prefix(width).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(width + size)
        }
        if isVersion13 { skipPart(sizedBy: 1) }
        rest = rest.dropFirst(3)
        var count = 0
        while !rest.isEmpty && count <= Self.clientCertificatesMaximum {
            skipPart(sizedBy: 3)
            if isVersion13 { skipPart(sizedBy: 2) }
            count += 1
        }
        hasLongChain = count > Self.clientCertificatesMaximum
        return hasLongChain
    }

    private func noteSmallRecords(_ count: Int) {
        smallRecordsOfRead += count
        uncountedSmallRecords += count
    }

    /// Reads into OpenSSL's buffer, as far as the budget allows.
    fileprivate func read(into bytes: UnsafeMutablePointer<CChar>?, _ size: Int) -> WireOutcome {
        guard !turnIsSpent else { return .retry }
        adaptReadSize()
        let wanted = min(size, readSize, bytesLeft)
        while true {
            // Safe: OpenSSL's buffer has `size` bytes.
            let count = unsafe recv(descriptor, bytes, wanted, 0)
            if count < 0 && errno == EINTR { continue }
            isEmpty = count < wanted
            bytesLeft -= max(0, count)
            if count < 0 && errno == EAGAIN { return .retry }
            return count == 0 ? .end : .result(Int32(count))
        }
    }

    private func adaptReadSize() {
        let hadMany = smallRecordsOfRead > Self.smallRecordsPerReadMaximum
        readSize = hadMany ? Self.readSizeMinimum : min(2 * readSize, Self.readSizeMaximum)
        smallRecordsOfRead = 0
    }

    fileprivate func write(_ bytes: UnsafePointer<CChar>?, _ size: Int) -> WireOutcome {
        while true {
            // Safe: OpenSSL lends `size` bytes.
            let count = unsafe send(descriptor, bytes, size, Int32(MSG_NOSIGNAL))
            if count < 0 && errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? .retry : .result(Int32(count))
        }
    }
}

/// The result of one read or write of the socket.
private enum WireOutcome {
    /// The number of bytes; negative for an error.
    case result(Int32)
    /// The socket is not ready, or the budget is spent.
    case retry
    /// The peer has ended its output.
    case end
}

// MARK: Callbacks of OpenSSL

extension TLSWire {
    /// Makes a BIO over this wire. The caller keeps the wire as long as the session; OpenSSL frees the BIO with the
    /// session.
    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe Self.method, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Makes the sessions of a context report each record to their wires.
    static func countRecords(of context: OpaquePointer) {
        unsafe SSL_CTX_set_msg_callback(context, countMessage)
    }

    // Safe: it is made once, never changed afterwards, and never freed.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = unsafe BIO_meth_new(type, "socket") else { return nil }
        unsafe BIO_meth_set_read(method, readSocket)
        unsafe BIO_meth_set_write(method, writeSocket)
        unsafe BIO_meth_set_ctrl(method, control)
        return unsafe method
    }()
}

/// Returns the wire of a BIO. The session's owner keeps the wire.
private func wire(of bio: OpaquePointer?) -> TLSWire? {
    guard let data = unsafe BIO_get_data(bio) else { return nil }
    return unsafe Unmanaged<TLSWire>.fromOpaque(data).takeUnretainedValue()
}

private func readSocket(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int32) -> Int32 {
    unsafe latchkey_bio_clear_retry(bio)
    guard let wire = unsafe wire(of: bio) else { return -1 }
    switch unsafe wire.read(into: bytes, Int(size)) {
    case .result(let count): return count
    case .retry:
        unsafe latchkey_bio_retry_read(bio)
        return -1
    case .end:
        unsafe BIO_set_flags(bio, BIO_FLAGS_IN_EOF)
        return 0
    }
}

private func writeSocket(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ size: Int32) -> Int32 {
    unsafe latchkey_bio_clear_retry(bio)
    guard let wire = unsafe wire(of: bio) else { return -1 }
    switch unsafe wire.write(bytes, Int(size)) {
    case .result(let count): return count
    case .retry, .end:
        unsafe latchkey_bio_retry_write(bio)
        return -1
    }
}

private func control(
    _ bio: OpaquePointer?, command: Int32, number: Int, pointer: UnsafeMutableRawPointer?
) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_EOF: unsafe BIO_test_flags(bio, BIO_FLAGS_IN_EOF) == 0 ? 0 : 1
    default: 0  // Other commands have no meaning for a socket.
    }
}

/// Counts records, key updates and certificates. OpenSSL reports the header of each record, and each decrypted
/// handshake message before it parses it.
private func countMessage(
    isWriting: Int32, version: Int32, contentType: Int32, bytes: UnsafeRawPointer?, count: Int,
    session: OpaquePointer?, argument: UnsafeMutableRawPointer?
) {
    guard isWriting == 0, let bytes = unsafe bytes, let bio = unsafe SSL_get_rbio(session),
        let wire = unsafe wire(of: bio)
    else { return }
    if contentType == SSL3_RT_HEADER, count == 5 {
        // Safe: the header has five bytes. The last two are the size of the payload (RFC 8446 section 5.1).
        let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: 5)
        wire.beganRecord(size: unsafe Int(bytes[3]) << 8 | Int(bytes[4]))
    } else if contentType == SSL3_RT_HANDSHAKE, count >= 4 {
        switch unsafe Int32(bytes.load(as: UInt8.self)) {
        case SSL3_MT_KEY_UPDATE: wire.beganKeyUpdate()
        case SSL3_MT_CERTIFICATE:
            let message = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
            let isVersion13 = unsafe SSL_version(session) == TLS1_3_VERSION
            guard wire.refusesChain(message, isVersion13: isVersion13) else { return }
            // The call-back cannot fail, so the message is emptied: its sizes then contradict its length, and OpenSSL
            // ends the handshake before it parses a certificate. Safe: OpenSSL's own buffer has `count` bytes.
            unsafe UnsafeMutableRawPointer(mutating: bytes + 4).initializeMemory(
                as: UInt8.self, repeating: 0, count: count - 4)
        default: break  // Other messages cost little.
        }
    }
}
