import CLinux
import Glibc

/// A number in memory that a process shares with a program that it has started. The program writes it, and it outlives
/// the program.
@safe
package struct SharedWord: ~Copyable, @unchecked Sendable {
    // Safe to send: a page of its own, which is mapped until deinit, and of which only one word is used, by atomic
    // loads and stores.
    private let word: UnsafeMutablePointer<UInt64>

    /// Where `SpawnedProgram` puts the memory's descriptor.
    static let number: Int32 = 4

    /// Maps memory, which is zero when it is new.
    init(mapping descriptor: borrowing Descriptor) throws(SocketError) {
        let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            throw .failed(.map, errno: errno)
        }
        unsafe word = memory.bindMemory(to: UInt64.self, capacity: 1)
    }

    /// The word that this process was started with; nil if another program started it. Call it once.
    package init?(inherited: Void = ()) {
        do throws(SocketError) {
            try self.init(mapping: Descriptor(owning: Self.number))
        } catch {
            return nil
        }
    }

    deinit {
        unsafe munmap(word, Self.size)
    }

    /// Memory for one word, which a child can inherit by its descriptor.
    static func memory() throws(SocketError) -> Descriptor {
        let memory = Descriptor(owning: try interruptible { latchkey_shared_memory() }.get(.sharedMemory))
        guard ftruncate(memory.number, Self.size) == 0 else { throw .failed(.sharedMemory, errno: errno) }
        return memory
    }

    package var value: UInt64 {
        get { unsafe latchkey_load(word) }
        nonmutating set { unsafe latchkey_store(word, newValue) }
    }

    private static let size = MemoryLayout<UInt64>.size
}
