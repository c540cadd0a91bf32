import CLinux
import Glibc

/// A program that this process has started. A stream socket connects the two (descriptor 3 in the child), and they
/// share a word of memory (`SharedWord`, descriptor 4).
///
/// The child gets nothing else: descriptors 0 to 2 are `/dev/null`, except for an error output that is kept. All others
/// are closed, and the environment is the given one. SIGTERM, SIGINT, SIGHUP and SIGQUIT are blocked in the child. So a
/// signal from a terminal or a service manager to the whole group does not end the child before its parent. The child
/// ends when its stream ends, or by `kill`.
package struct SpawnedProgram: ~Copyable, Sendable {
    /// The process ID for the log. Signals are sent by the process descriptor.
    package let processID: Int32
    private let process: Descriptor
    private var stream: Descriptor
    private let sharedWord: SharedWord
    private var hasEnded = false

    /// Starts the program at a path. `arguments` begins with the program's name; `environment` has `NAME=value` texts.
    ///
    /// Throws `failed` with the call that failed. If the program does not exist or cannot be executed, `posix_spawn`
    /// fails.
    package init(
        path: String, arguments: [String], environment: [String], errorOutput: ErrorOutput? = nil
    ) throws(SocketError) {
        var ends: [Int32] = [-1, -1]
        // Safe: there is room for two descriptors.
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .failed(.socketPair, errno: errno)
        }
        let stream = Descriptor(owning: ends[0])
        let childEnd = Descriptor(owning: ends[1])
        guard fcntl(stream.number, F_SETFL, O_NONBLOCK) == 0 else { throw .failed(.fileControl, errno: errno) }
        let memory = try SharedWord.memory()
        let sharedWord = try SharedWord(mapping: memory)
        let processID = try ProgramStart(path: path, arguments: arguments, environment: environment)
            .run(stream: childEnd.number, memory: memory.number, errorOutput: errorOutput?.writeNumber)
        // The process ID belongs to the child until `reap` has waited for it.
        let number = latchkey_process_descriptor(processID)
        guard number >= 0 else {
            let error = errno
            _ = Glibc.kill(processID, SIGKILL)
            _ = waitpid(processID, nil, 0)
            throw .failed(.processDescriptor, errno: error)
        }
        self.processID = processID
        self.stream = stream
        self.sharedWord = sharedWord
        process = Descriptor(owning: number)
    }

    /// Kills a child that still runs, and waits for it, so that no child is left.
    deinit {
        guard !hasEnded else { return }
        _ = latchkey_process_signal(process.number, SIGKILL)
        _ = interruptible { waitpid(processID, nil, 0) }
    }

    /// The descriptor of this process's end of the stream, for an epoll set; -1 after it was closed.
    package var streamNumber: Int32 { stream.number }

    /// The process descriptor, for an epoll set. It becomes readable when the program has ended.
    package var processNumber: Int32 { process.number }

    /// The last value that the child has written into the shared word; 0 at first.
    package var sharedValue: UInt64 { sharedWord.value }

    /// The processor time that all threads of the program have used; nil if it has ended.
    package var processorTime: Duration? {
        var clock = clockid_t()
        var time = timespec()
        // Safe: the variables are local. The process ID belongs to the child until it has been waited for.
        guard !hasEnded, unsafe clock_getcpuclockid(processID, &clock) == 0, unsafe clock_gettime(clock, &time) == 0
        else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Reads available bytes into `buffer` from `offset` on, where there must be room.
    package borrowing func read(into buffer: inout [UInt8], from offset: Int) -> ReadOutcome {
        stream.receive(into: &buffer, from: offset)
    }

    /// Writes as much as the kernel takes now. `bytes` must not be empty.
    package borrowing func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        stream.send(bytes)
    }

    /// Closes this process's end of the stream. The child then reads the end of the input.
    package mutating func closeStream() {
        stream.close()
    }

    /// Ends the program immediately.
    package borrowing func kill() {
        // This fails only if the program has ended already.
        if !hasEnded { _ = latchkey_process_signal(process.number, SIGKILL) }
    }

    /// Returns how the program ended; nil while it runs, and nil after the end was returned once.
    package mutating func reap() -> ProgramEnd? {
        guard !hasEnded else { return nil }
        var status: Int32 = 0
        // Safe: the status is a local variable.
        let result = interruptible { unsafe waitpid(processID, &status, WNOHANG) }
        switch result {
        case .value(0): return nil
        case .value:
            hasEnded = true
            return ProgramEnd(waitStatus: status)
        case .failure:
            // Other code has waited for the program. It has ended, but its status is unknown.
            hasEnded = true
            return .exited(status: -1)
        }
    }
}

/// How a program ended.
package enum ProgramEnd: Equatable, Sendable {
    /// The program exited with this status, usually 0 after a success.
    case exited(status: Int32)
    /// A signal ended the program.
    case killed(signal: Int32)

    init(waitStatus status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status: status >> 8 & 0xFF) : .killed(signal: signal)
    }
}

/// The arguments of `posix_spawn`.
private struct ProgramStart {
    let path: String
    let arguments: [String]
    let environment: [String]

    /// Starts the program with these descriptors, and returns its process ID.
    func run(stream: Int32, memory: Int32, errorOutput: Int32?) throws(SocketError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        // Safe: both are initialised before they are used, and exist until the call has returned.
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        // The descriptors are first copied to higher numbers, because one may have the number that the other one must
        // get. `/dev/null` is opened afterwards for the same reason.
        let passing = max(stream, memory, SharedWord.number, errorOutput ?? 0) + 1
        if let errorOutput { unsafe posix_spawn_file_actions_adddup2(&actions, errorOutput, passing + 2) }
        for (from, to) in [
            (stream, passing), (memory, passing + 1), (passing, InheritedStream.number),
            (passing + 1, SharedWord.number),
        ] {
            unsafe posix_spawn_file_actions_adddup2(&actions, from, to)
        }
        for number in 0..<InheritedStream.number {
            unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
        if errorOutput != nil { unsafe posix_spawn_file_actions_adddup2(&actions, passing + 2, STDERR_FILENO) }
        _ = unsafe latchkey_spawn_closing_from(&actions, SharedWord.number + 1)
        setSignals(&attributes)
        // Safe: both are initialised and filled.
        return try unsafe spawn(&actions, &attributes)
    }

    private func setSignals(_ attributes: inout posix_spawnattr_t) {
        var standard = sigset_t()
        var blocked = sigset_t()
        // Safe: the variables are local, and the signals exist.
        unsafe sigfillset(&standard)
        unsafe sigemptyset(&blocked)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] { unsafe sigaddset(&blocked, signal) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &standard)
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    private func spawn(
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) throws(SocketError) -> Int32 {
        let argumentList = CStringList(arguments)
        let environmentList = CStringList(environment)
        var processID: Int32 = 0
        // Safe: both lists end with nil, and exist until the call has returned.
        let error = unsafe posix_spawn(
            &processID, path, &actions, &attributes, argumentList.pointers, environmentList.pointers)
        guard error == 0 else { throw .failed(.spawn, errno: error) }
        return processID
    }
}

/// A list of texts for C: each text is terminated, and the list ends with nil.
@safe
private struct CStringList: ~Copyable {
    // Owned: made by strdup, freed in deinit.
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        unsafe pointers = texts.map { unsafe strdup($0) } + [nil]
    }

    deinit {
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
    }
}

/// The end of the stream socket with which this process was started. It is blocking, for a process that only waits for
/// its parent.
package struct InheritedStream: ~Copyable, Sendable {
    /// The descriptor number that `SpawnedProgram` gives to the stream.
    package static let number: Int32 = 3

    private let descriptor: Descriptor

    /// Takes over the descriptor; nil if it is not a stream socket, because another program started this process.
    package init?() {
        guard Descriptor.isStreamSocket(Self.number) else { return nil }
        descriptor = Descriptor(owning: Self.number)
    }

    /// Whether the process that made the stream is still the parent of this process. If it has ended, this process has
    /// another parent.
    package borrowing func isOfParent() -> Bool {
        latchkey_socket_maker(descriptor.number) == getppid()
    }

    /// Waits for bytes, and reads them into `buffer` from `offset` on, where there must be room.
    package borrowing func read(into buffer: inout [UInt8], from offset: Int) -> ReadOutcome {
        descriptor.receive(into: &buffer, from: offset)
    }

    /// Writes all bytes. Returns false if the other process is gone.
    package borrowing func writeAll(_ bytes: Span<UInt8>) -> Bool {
        var offset = 0
        while offset < bytes.count {
            guard case .written(let count) = descriptor.send(bytes.extracting(offset..<bytes.count)) else {
                return false
            }
            offset += count
        }
        return true
    }
}

/// A number in memory that a process shares with a program that it has started. The program writes the number, which
/// stays readable after the program has ended.
@safe
package struct SharedWord: ~Copyable, @unchecked Sendable {
    // Safe to send: the page is mapped until deinit, and only one word of it is used, by atomic loads and stores.
    private let word: UnsafeMutablePointer<UInt64>

    /// The descriptor number that `SpawnedProgram` gives to the memory.
    static let number: Int32 = 4

    /// Maps memory. New memory is zero.
    init(mapping descriptor: borrowing Descriptor) throws(SocketError) {
        let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            throw .failed(.map, errno: errno)
        }
        unsafe word = memory.bindMemory(to: UInt64.self, capacity: 1)
    }

    /// Maps the word with which this process was started; nil if another program has started this process. It must be
    /// called only once.
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

    /// Makes memory for one word. A child can inherit its descriptor.
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
