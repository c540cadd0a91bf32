import Glibc

/// The system calls of this module, by the name that an error message shows.
package enum SystemCall: String, Sendable {
    case socket, bind, listen, accept, connect, getsockname, getsockopt, setsockopt, send, chmod, flock
    case epollCreate = "epoll_create1"
    case epollControl = "epoll_ctl"
    case eventCounter = "eventfd"
    case processControl = "prctl"
    case open
    case fileControl = "fcntl"
    case socketPair = "socketpair"
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
    /// Another process (or another listener of this one) holds the address.
    case addressInUse(SocketAddress)
    /// The address belongs to no interface of this machine.
    case addressUnavailable(SocketAddress)
    /// The process may not bind this address, as a rule a port below 1024.
    case addressForbidden(SocketAddress)
    /// The path of a unix socket belongs to something that is no socket.
    case notASocket(SocketAddress)
    /// Any other failure: the call and the `errno` that it left.
    case failed(SystemCall, errno: Int32)
}

extension SocketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .addressInUse(let address): "\(address) is in use by another listener"
        case .addressUnavailable(let address): "\(address) is not an address of this machine"
        case .addressForbidden(let address): "no permission to listen on \(address)"
        case .notASocket(let address): "\(address) names a file that is no socket"
        case .failed(let call, let errno): "\(call.rawValue) failed: \(errorText(errno)) (errno \(errno))"
        }
    }
}

/// Repeats a system call for as long as a signal interrupts it; the result is the call's value, or `errno` negated.
///
/// `errno` is read before anything else can run on this thread.
@inline(__always)
func interruptible<Value: SignedInteger & FixedWidthInteger>(_ call: () -> Value) -> SystemCallResult<Value> {
    while true {
        let value = call()
        if value >= 0 { return .value(value) }
        let number = errno
        if number != EINTR { return .failure(number) }
    }
}

/// What a system call came to: its value, which is not negative, or `errno`.
enum SystemCallResult<Value> {
    case value(Value)
    case failure(Int32)
}

extension SystemCallResult {
    /// The value, or `SocketError.failed` with the name of the call.
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
