import Foundation

/// A TCP socket for a test's own server, which listens on a free port of 127.0.0.1. The owner closes the descriptor.
package struct LoopbackListener: Sendable {
    package let descriptor: Int32
    package let port: UInt16

    /// Makes a listener. `backlog` is the largest number of connections that may wait to be accepted.
    package init(backlog: Int32 = 4) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // These calls take a sockaddr_in as a pointer to sockaddr.
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                unsafe bind(descriptor, general, size) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, general, &size) == 0
            }
        }
        guard isListening else { throw LoopbackListenerError(code: errno) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }
}

package struct LoopbackListenerError: Error {
    let code: Int32
}
