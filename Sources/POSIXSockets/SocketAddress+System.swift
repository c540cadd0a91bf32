import Glibc

extension SocketAddress {
    /// The `AF_…` constant for `socket`.
    var family: Int32 {
        switch self {
        case .internet(.v4, _): AF_INET
        case .internet(.v6, _): AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// Lends the kernel's form of this address to a system call.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .internet(.v4(let bits), let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = bits.bigEndian
            return unsafe Self.lend(&address, body)
        case .internet(.v6(let upper, let lower), let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            // Safe: in6_addr is 16 plain bytes.
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: upper.bigEndian, toByteOffset: 0, as: UInt64.self)
                unsafe bytes.storeBytes(of: lower.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return unsafe Self.lend(&address, body)
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // Safe: the path is shorter than `sun_path`, so a terminator stays after it.
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            return unsafe Self.lend(&address, body)
        }
    }

    /// Lends an address as a `sockaddr`.
    ///
    /// Safe: every `sockaddr_*` may be read as `sockaddr`, which is the type in system calls. The pointer does not
    /// outlive `body`.
    private static func lend<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        unsafe withUnsafeBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { preconditionFailure("a socket address has no size") }
            return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    /// Lets a system call write an address, and reads it; `nil` if the call wrote no address of a known family.
    static func filled<Result>(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
    ) -> (result: Result, address: SocketAddress?) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // Safe: sockaddr_storage is large and aligned enough for every family, and `length` has its size.
        return unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let start = bytes.baseAddress else { preconditionFailure("a socket address has no size") }
            let result = unsafe call(start.assumingMemoryBound(to: sockaddr.self), &length)
            return unsafe (result, read(UnsafeRawBufferPointer(bytes), Int(length)))
        }
    }

    /// Reads an address of which `length` bytes were written.
    ///
    /// Safe: it reads plain integers at fixed offsets inside a full `sockaddr_storage`.
    private static func read(_ bytes: UnsafeRawBufferPointer, _ length: Int) -> SocketAddress? {
        switch unsafe Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            let address = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
            return .internet(.v4(UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let port = unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
            let upper = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            let lower = unsafe bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            return .internet(.v6(UInt64(bigEndian: upper), UInt64(bigEndian: lower)), port: UInt16(bigEndian: port))
        case AF_UNIX:
            let written = unsafe bytes[..<min(length, bytes.count)]
            let path = unsafe written.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
            return unsafe .unix(path: String(decoding: path, as: UTF8.self))
        default:  // Another family, which this program does not use.
            return nil
        }
    }
}
