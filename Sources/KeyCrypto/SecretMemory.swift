import COpenSSL
import Synchronization

/// Memory for secrets of all sizes. It is zero when it is allocated, and is wiped when it is freed.
package enum SecretMemory {
    /// Whether the secure heap is locked, so that it is not swapped. It is not locked if `RLIMIT_MEMLOCK` is too small.
    ///
    /// Not every secret is in it: when it is full, ordinary memory is used, and OpenSSL has copies of some keys
    /// elsewhere (architecture, "Where secrets live").
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

/// Memory for small secrets: slots of one size, which are allocated from the secure heap once and then reused.
///
/// A license needs half a dozen secrets of 16 to 96 bytes for microseconds. For each of them, the secure heap would
/// split and join its pages, which takes 1 to 2 us; a slot only costs a lock and a wipe. A free slot is all zeros.
enum SecretSlots {
    /// The size of a slot. The largest secret of a request, a plain SK..R1 block, fits into it.
    static let slotSize = 128
    private static let slotsPerChunk = 256
    /// The most chunks from the secure heap: half of it. The other half is for larger secrets and for OpenSSL itself.
    private static let secureChunkCountMaximum = 32

    @safe
    private struct FreeSlots: @unchecked Sendable {
        // Safe to send: a slot in this list has no other owner, and the lock guards the list.
        var slots: [UnsafeMutableRawPointer] = unsafe []
        var chunkCount = 0
    }

    private static let free = Mutex(FreeSlots())

    /// Returns a slot of zeros, which belongs to the caller until it is given back.
    static func take() -> UnsafeMutableRawPointer {
        unsafe free.withLock { free in
            if unsafe free.slots.isEmpty { addChunk(to: &free) }
            return unsafe free.slots.removeLast()
        }
    }

    /// Wipes the used part of a slot, and keeps the slot for the next secret.
    static func giveBack(_ slot: UnsafeMutableRawPointer, usedCount: Int) {
        unsafe OPENSSL_cleanse(slot, usedCount)
        free.withLock { free in unsafe free.slots.append(slot) }
    }

    /// Adds the slots of one more chunk. Chunks are never freed, so their number depends on the most secrets that
    /// existed at the same time.
    private static func addChunk(to free: inout FreeSlots) {
        let isSecure = free.chunkCount < secureChunkCountMaximum
        let chunk = unsafe SecureHeap.allocate(slotSize * slotsPerChunk, isSecure: isSecure)
        free.chunkCount += 1
        for index in 0..<slotsPerChunk { unsafe free.slots.append(chunk + index * slotSize) }
    }
}

/// OpenSSL's secure heap, which is initialised once.
enum SecureHeap {
    /// The size of the heap: 2 MiB. Debian allows a process to lock 8 MiB.
    private static let size = 2 << 20
    private static let blockSizeMinimum = 64

    /// 1 for success, 2 if the memory could not be locked or guarded, 0 if there is no secure heap.
    private static let outcome = CRYPTO_secure_malloc_init(size, blockSizeMinimum)

    static var isLocked: Bool { outcome == 1 }

    /// Allocates memory of zeros from the secure heap, or from the ordinary heap if the secure one is full or not
    /// wanted.
    ///
    /// It must be freed with `latchkey_secure_clear_free`.
    static func allocate(_ count: Int, isSecure: Bool = true) -> UnsafeMutableRawPointer {
        _ = outcome
        if isSecure, let memory = unsafe latchkey_secure_malloc(count) { return unsafe memory }
        guard let memory = unsafe latchkey_zalloc(count) else { preconditionFailure("out of memory") }
        return unsafe memory
    }
}

extension [UInt8] {
    /// Overwrites the elements with zeros. The compiler cannot optimise this away.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe OPENSSL_cleanse(base, bytes.count)
        }
    }
}
