import Glibc
import KeyCrypto

/// The memory of outgoing messages and the secrets in them. It has a fixed size, and is wiped after it was sent, and in
/// `deinit`.
///
/// It is not an array, because an array that is copied or grows leaves bytes in memory that are not wiped.
@safe
struct LadderMessage: ~Copyable {
    // Owned: allocated in init, freed in deinit.
    private let storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    private var sentCount = 0

    init(capacity: Int) {
        unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    }

    /// Makes a message without secrets.
    init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        append(bytes)
    }

    deinit {
        clear()
        unsafe storage.deallocate()
    }

    var room: Int { unsafe storage.count - count }

    /// Appends bytes, for which there must be room.
    mutating func append(_ bytes: [UInt8]) {
        precondition(bytes.count <= room, "a message has room for its parts")
        unsafe bytes.withUnsafeBytes { source in unsafe free.copyMemory(from: source) }
        count += bytes.count
    }

    /// Appends a secret, for which there must be room.
    mutating func append(secret: borrowing SecretBytes) {
        precondition(secret.count <= room, "a message has room for its parts")
        secret.withBytes { span in
            // Safe: the bytes are copied before the span ends.
            unsafe span.withUnsafeBytes { source in unsafe free.copyMemory(from: source) }
        }
        count += secret.count
    }

    private var free: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: storage[count...])
    }

    /// Whether everything has been sent.
    var isSent: Bool { sentCount == count }

    /// Lends the unsent bytes to `body`, which returns how many of them it has sent. When all bytes are sent, the
    /// memory is wiped and empty.
    mutating func send<Outcome>(_ body: (Span<UInt8>) -> (Outcome, count: Int)) -> Outcome {
        // Safe: the slice is checked, and the span ends with the call.
        let part = unsafe UnsafeRawBufferPointer(rebasing: storage[sentCount..<count])
        let (outcome, sent) = unsafe body(Span(_unsafeElements: part.bindMemory(to: UInt8.self)))
        sentCount += sent
        if isSent { wipe() }
        return outcome
    }

    mutating func wipe() {
        clear()
        (count, sentCount) = (0, 0)
    }

    private func clear() {
        if let start = unsafe storage.baseAddress { unsafe explicit_bzero(start, count) }
    }

    /// Returns the bytes as an array that is not wiped, for tests.
    borrowing func revealed() -> [UInt8] {
        unsafe [UInt8](storage[..<count])
    }
}
