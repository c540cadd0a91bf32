import CLinux
import Glibc
import Synchronization

/// The listening sockets that systemd passes to a service: the protocol of `sd_listen_fds_with_names(3)`.
///
/// They stay open in systemd too, so connections that come between two runs of the service wait in the kernel.
package final class ActivatedSockets: Sendable {
    private let sockets: Mutex<[(name: String, number: Int32)]>

    /// Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`, and makes the descriptors close-on-exec.
    ///
    /// None are there unless `LISTEN_PID` is `processID`. A descriptor without a name is called `unknown`. To be done
    /// once per process: the descriptors, from `firstNumber` on (3, but for tests), belong to the result.
    package init(environment: [String: String], processID: Int32, firstNumber: Int32 = 3) {
        let names = Self.names(environment, processID)
        for offset in 0..<names.count { _ = fcntl(firstNumber + Int32(offset), F_SETFD, FD_CLOEXEC) }
        sockets = Mutex(names.enumerated().map { ($1, firstNumber + Int32($0)) })
    }

    deinit {
        for (_, number) in sockets.withLock({ $0 }) { _ = close(number) }
    }

    /// The names of the sockets that are not taken yet, in order.
    package var names: [String] { sockets.withLock { $0.map(\.name) } }

    /// Takes the first socket of a name; `nil` if none is left.
    ///
    /// Throws when it is no socket that listens for connections of a stream.
    package func take(_ name: String) throws(SocketError) -> ListeningSocket? {
        let found = sockets.withLock { sockets -> Int32? in
            guard let index = sockets.firstIndex(where: { $0.name == name }) else { return nil }
            return sockets.remove(at: index).number
        }
        guard let found else { return nil }
        return try ListeningSocket(activated: Descriptor(owning: found))
    }

    /// A list that contradicts itself is no list.
    private static func names(_ environment: [String: String], _ processID: Int32) -> [String] {
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == processID,
            let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), (1...64).contains(count)
        else { return [] }
        let given = environment["LISTEN_FDNAMES"].map {
            $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        }
        guard let given else { return Array(repeating: "unknown", count: count) }
        return given.count == count ? given : []
    }
}
