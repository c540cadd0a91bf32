import COpenSSL
import Synchronization

/// Memory for secrets of every size: zeroed when it is handed out, wiped when it comes back.
package enum SecretMemory {
    /// Whether the memory of key material is locked, so that it is never swapped. It is not if `RLIMIT_MEMLOCK` is too
    /// small.
    package static var isLocked: Bool { SecureHeap.isLocked }

    static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let memory = unsafe count <= SecretSlots.slotSize ? SecretSlots.take() : SecureHeap.allocate(count)
        return unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    static func free(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        if memory.count <= SecretSlots.slotSize {
            unsafe SecretSlots.giveBack(start, usedCount: memory.count)
        } else {
            unsafe latchkey_secure_clear_free(start, memory.count)
        }
    }
}

/// Memory for small secrets: slots of one size, carved out of the secure heap once and used again and again.
///
/// A licence needs half a dozen secrets of 16 to 96 bytes for microseconds. The secure heap splits and joins its pages
/// for each of them, which measured 1 to 2 us a secret; a slot costs a lock and a wipe. A free slot is all zeros.
enum SecretSlots {
    /// As large as the largest secret of a request, a plain SK..R1 block, and a little more.
    static let slotSize = 128
    private static let slotsPerChunk = 256
    /// Half of the secure heap; the other half stays for larger secrets and for OpenSSL's own.
    private static let secureChunkCountMaximum = 32

    @safe
    private struct FreeSlots: @unchecked Sendable {
        // Safe to send: a slot in this list has no other owner, and the lock guards the list.
        var slots: [UnsafeMutableRawPointer] = unsafe []
        var chunkCount = 0
    }

    private static let free = Mutex(FreeSlots())

    /// A zeroed slot, the caller's alone until it is given back.
    static func take() -> UnsafeMutableRawPointer {
        unsafe free.withLock { free in
            if unsafe free.slots.isEmpty { addChunk(to: &free) }
            return unsafe free.slots.removeLast()
        }
    }

    /// Wipes the part of a slot that was used and keeps it for the next secret.
    static func giveBack(_ slot: UnsafeMutableRawPointer, usedCount: Int) {
        unsafe OPENSSL_cleanse(slot, usedCount)
        free.withLock { free in unsafe free.slots.append(slot) }
    }

    /// Chunks are never freed: their number follows the most secrets that were alive at once.
    private static func addChunk(to free: inout FreeSlots) {
        let isSecure = free.chunkCount < secureChunkCountMaximum
        let chunk = unsafe SecureHeap.allocate(slotSize * slotsPerChunk, isSecure: isSecure)
        free.chunkCount += 1
        for index in 0..<slotsPerChunk { unsafe free.slots.append(chunk + index * slotSize) }
    }
}

/// OpenSSL's secure heap, set up once.
enum SecureHeap {
    /// 2 MiB. Debian lets a process lock 8 MiB.
    private static let size = 2 << 20
    private static let blockSizeMinimum = 64

    /// 1 if all went well, 2 if the memory could not be locked or guarded, 0 if there is none.
    private static let outcome = CRYPTO_secure_malloc_init(size, blockSizeMinimum)

    static var isLocked: Bool { outcome == 1 }

    /// Zeroed memory: from the secure heap, or from the ordinary one when that is full or not wanted. Freed with
    /// `latchkey_secure_clear_free`.
    static func allocate(_ count: Int, isSecure: Bool = true) -> UnsafeMutableRawPointer {
        _ = outcome
        if isSecure, let memory = unsafe latchkey_secure_malloc(count) { return unsafe memory }
        guard let memory = unsafe latchkey_zalloc(count) else { preconditionFailure("out of memory") }
        return unsafe memory
    }
}

extension [UInt8] {
    /// Overwrites the elements with zeros, in a way that the optimizer cannot leave out.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe OPENSSL_cleanse(base, bytes.count)
        }
    }
}
