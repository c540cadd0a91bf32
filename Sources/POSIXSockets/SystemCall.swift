import Glibc

/// The system calls of this module. The raw value is the name in error messages.
package enum SystemCall: String, Sendable {
    case socket, bind, listen, accept, connect, getsockname, getsockopt, setsockopt, send, chmod, flock
    case epollCreate = "epoll_create1"
    case epollControl = "epoll_ctl"
    case eventCounter = "eventfd"
    case processControl = "prctl"
    case open
    case fileControl = "fcntl"
    case socketPair = "socketpair"
    case pipe = "pipe2"
    case sharedMemory = "memfd_create"
    case map = "mmap"
    case changeFolder = "chdir"
    case spawn = "posix_spawn"
    case processDescriptor = "pidfd_open"
    case becomeUser = "setresuid"
    case dropCapabilities = "capset"
    case limit = "setrlimit"
    case filter = "seccomp"
    case confineFiles = "landlock"
}

/// Why a descriptor or socket could not be made or used.
package enum SocketError: Error, Equatable, Sendable {
    /// Another process, or another listener of this process, uses the address.
    case addressInUse(SocketAddress)
    /// No interface of this machine has the address.
    case addressUnavailable(SocketAddress)
    /// The process has no permission to bind this address, usually because the port is below 1024.
    case addressForbidden(SocketAddress)
    /// The path of a unix socket names a file that is not a socket.
    case notASocket(SocketAddress)
    /// Another failure, with the call and its `errno`.
    case failed(SystemCall, errno: Int32)
}

extension SocketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .addressInUse(let address): "\(address) is in use by another listener"
        case .addressUnavailable(let address): "\(address) is not an address of this machine"
        case .addressForbidden(let address): "no permission to listen on \(address)"
        case .notASocket(let address): "\(address) names a file that is not a socket"
        case .failed(let call, let errno): "\(call.rawValue) failed: \(errorText(errno)) (errno \(errno))"
        }
    }
}

/// Makes a system call, and repeats it while a signal interrupts it. Returns the value of the call, or its `errno`.
///
/// `errno` is read immediately after the call, before other code of this thread can change it.
@inline(__always)
func interruptible<Value: SignedInteger & FixedWidthInteger>(_ call: () -> Value) -> SystemCallResult<Value> {
    while true {
        let value = call()
        if value >= 0 { return .value(value) }
        let number = errno
        if number != EINTR { return .failure(number) }
    }
}

/// The result of a system call: its value, which is not negative, or `errno`.
enum SystemCallResult<Value> {
    case value(Value)
    case failure(Int32)
}

extension SystemCallResult {
    /// Returns the value. Throws `SocketError.failed` with the name of the call.
    func get(_ call: SystemCall) throws(SocketError) -> Value {
        switch self {
        case .value(let value): return value
        case .failure(let number): throw .failed(call, errno: number)
        }
    }
}

private func errorText(_ number: Int32) -> String {
    // Safe: strerror returns a terminated string that stays valid until this thread calls it again, and it is copied
    // here.
    guard let text = unsafe strerror(number) else { return "unknown error" }
    return unsafe String(cString: text)
}
