import Glibc
import KeyCrypto

/// A whole message on its way out, with the secret that it ends with: one owner, wiped when its life ends.
///
/// No array: one that is copied or grows leaves bytes behind that nobody wipes.
@safe
struct LadderMessage: ~Copyable {
    // Owned: allocated in init, freed in deinit.
    private let storage: UnsafeMutableRawBufferPointer

    /// A message without secrets.
    init(_ bytes: [UInt8]) {
        unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe storage.copyBytes(from: bytes)
    }

    /// What anybody may see, followed by a secret.
    init(_ bytes: [UInt8], secret: borrowing SecretBytes) {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + secret.count, alignment: 1)
        // Safe: there is room for both parts.
        unsafe storage.copyBytes(from: bytes)
        secret.withBytes { span in
            unsafe span.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: storage[bytes.count...]).copyMemory(from: source)
            }
        }
        unsafe self.storage = storage
    }

    deinit {
        if let start = unsafe storage.baseAddress { unsafe explicit_bzero(start, storage.count) }
        unsafe storage.deallocate()
    }

    var count: Int { unsafe storage.count }

    /// Lends the bytes from `offset` on.
    borrowing func withBytes<Result>(from offset: Int = 0, _ body: (Span<UInt8>) -> Result) -> Result {
        // Safe: the slice is checked, and the span ends with the call.
        let part = unsafe UnsafeRawBufferPointer(rebasing: storage[offset...])
        return unsafe body(Span(_unsafeElements: part.bindMemory(to: UInt8.self)))
    }

    /// The bytes as an array that nobody wipes: for tests.
    func revealed() -> [UInt8] {
        withBytes { span in span.indices.map { span[$0] } }
    }
}
