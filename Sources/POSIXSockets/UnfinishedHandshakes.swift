import Glibc

/// TCP handshakes that clients have begun and not finished, as the kernel lists them in /proc/net/tcp and tcp6
/// (proc(5)).
package enum UnfinishedHandshakes {
    /// So long after a look comes the next one: 5 ms, in microseconds.
    private static let pause: UInt32 = 5000

    /// Returns when none is left to these ports of this machine, or after `limit`. Blocks the thread, for at least 5
    /// ms.
    package static func waitForEnd(on ports: Set<UInt16>, within limit: Duration) {
        let deadline = ContinuousClock.now + limit
        repeat {
            // Before the first look too: the kernel may be about to list one whose packet it has let through.
            usleep(pause)
        } while (count(to: ports) ?? 0) > 0 && ContinuousClock.now < deadline
    }

    /// How many there are to these ports of this machine; nil if the kernel does not tell. A list of ten thousand
    /// connections takes milliseconds, so this is not for a loop. With SYN cookies the kernel keeps nothing of a
    /// handshake, and lists nothing.
    static func count(to ports: Set<UInt16>) -> Int? {
        guard let first = count(in: "/proc/self/net/tcp", to: ports) else { return nil }
        // A kernel without IPv6 has no second list.
        return first + (count(in: "/proc/self/net/tcp6", to: ports) ?? 0)
    }

    private static func count(in path: String, to ports: Set<UInt16>) -> Int? {
        let opened = interruptible { unsafe open(path, O_RDONLY | O_CLOEXEC) }
        guard case .value(let number) = opened else { return nil }
        let file = Descriptor(owning: number)
        var list = HandshakeList(ports: ports)
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            // Safe: the kernel writes at most to the end of storage that is borrowed for the call.
            let result = unsafe buffer.withUnsafeMutableBytes { buffer in
                interruptible { unsafe read(file.number, buffer.baseAddress, buffer.count) }
            }
            guard case .value(let count) = result else { return nil }
            if count == 0 { return list.count }
            for index in 0..<count { list.take(buffer[index]) }
        }
    }
}

/// Reads such a list byte by byte: lines of `sl  local_address rem_address   st …`, both addresses as `HOST:PORT`, all
/// in hexadecimal.
struct HandshakeList {
    /// The state of an unfinished handshake: TCP_SYN_RECV.
    private static let unfinished: UInt32 = 3

    let ports: Set<UInt16>
    /// Unfinished handshakes to these ports, in the lines that have ended.
    private(set) var count = 0
    /// From 0; -1 before the first.
    private var field = -1
    private var isInField = false
    /// The number that the field ends with, behind a colon; nil if it is not one.
    private var number: UInt32?
    private var isToPort = false
    private var isUnfinished = false

    init(ports: Set<UInt16>) {
        self.ports = ports
    }

    mutating func take(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\n"):
            endField()
            if isToPort && isUnfinished { count += 1 }
            (field, isToPort, isUnfinished) = (-1, false, false)
        case UInt8(ascii: " "): endField()
        case UInt8(ascii: ":"): number = 0
        default:
            if !isInField { (field, isInField, number) = (field + 1, true, 0) }
            // Nothing behind the state is of interest.
            if field <= 3 { number = number.flatMap { before in Self.digit(byte).map { before &<< 4 | $0 } } }
        }
    }

    private mutating func endField() {
        guard isInField else { return }
        isInField = false
        switch field {
        case 1: isToPort = number.flatMap(UInt16.init(exactly:)).map(ports.contains) ?? false
        case 3: isUnfinished = number == Self.unfinished
        default: break
        }
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
