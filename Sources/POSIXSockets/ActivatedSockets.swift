import CLinux
import Glibc
import Synchronization

/// The listening sockets that systemd passes to a service (protocol of `sd_listen_fds_with_names(3)`).
///
/// They stay open in systemd too, so connections between two runs of the service wait in the kernel.
package final class ActivatedSockets: Sendable {
    private let sockets: Mutex<[(name: String, number: Int32)]>

    /// Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`, and makes the descriptors close-on-exec.
    ///
    /// There are no sockets unless `LISTEN_PID` is `processID`. A descriptor without a name is called `unknown`. The
    /// descriptors begin at `firstNumber`, which is 3 except in tests. They belong to the result, so this must be
    /// called only once per process.
    package init(environment: [String: String], processID: Int32, firstNumber: Int32 = 3) {
        let names = Self.names(environment, processID)
        for offset in 0..<names.count { _ = fcntl(firstNumber + Int32(offset), F_SETFD, FD_CLOEXEC) }
        sockets = Mutex(names.enumerated().map { ($1, firstNumber + Int32($0)) })
    }

    deinit {
        for (_, number) in sockets.withLock({ $0 }) { _ = close(number) }
    }

    /// The names of the sockets that were not taken yet, in their order.
    package var names: [String] { sockets.withLock { $0.map(\.name) } }

    /// Takes the first socket with a name; `nil` if none is left.
    ///
    /// Throws if the descriptor is not a listening stream socket.
    package func take(_ name: String) throws(SocketError) -> ListeningSocket? {
        let found = sockets.withLock { sockets -> Int32? in
            guard let index = sockets.firstIndex(where: { $0.name == name }) else { return nil }
            return sockets.remove(at: index).number
        }
        guard let found else { return nil }
        return try ListeningSocket(activated: Descriptor(owning: found))
    }

    /// Returns the names of all passed sockets; none if the variables contradict one another.
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
