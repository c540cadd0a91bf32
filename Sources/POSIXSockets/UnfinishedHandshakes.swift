import Glibc

/// The TCP handshakes that clients have begun but not finished, which the kernel lists in /proc/net/tcp and tcp6
/// (proc(5)).
package enum UnfinishedHandshakes {
    /// The pause between two reads of the lists, in microseconds: 5 ms.
    private static let pause: UInt32 = 5000

    /// Waits until no unfinished handshake to these ports is left, or until `limit` has passed. Blocks the thread for
    /// at least 5 ms.
    package static func waitForEnd(on ports: Set<UInt16>, within limit: Duration) {
        let deadline = ContinuousClock.now + limit
        repeat {
            // The pause also comes before the first read, because the kernel may not have listed the latest handshake
            // yet.
            usleep(pause)
        } while (count(to: ports) ?? 0) > 0 && ContinuousClock.now < deadline
    }

    /// Returns the number of unfinished handshakes to these ports; nil if the lists cannot be read.
    ///
    /// Reading a list of ten thousand connections takes milliseconds, so it must not be called on a loop. Handshakes
    /// with SYN cookies are not listed, because the kernel keeps no state for them.
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
            list.take(buffer[..<count])
        }
    }
}

/// Parses a list of the kernel, in pieces of any size. Its lines are `sl  local_address rem_address   st …`, with both
/// addresses as `HOST:PORT` and all numbers in hexadecimal.
struct HandshakeList {
    /// The state of an unfinished handshake: TCP_SYN_RECV.
    private static let unfinished: UInt32 = 3
    /// The index of the field with the state, the last one that is needed.
    private static let stateField = 3

    let ports: Set<UInt16>
    /// The number of unfinished handshakes to these ports in the complete lines.
    private(set) var count = 0
    /// The index of the present field, from 0; -1 before the first field.
    private var field = -1
    private var isInField = false
    /// The number in the present field, after its colon if there is one; nil if it is not a number.
    private var number: UInt32?
    private var isToPort = false
    private var isUnfinished = false

    init(ports: Set<UInt16>) {
        self.ports = ports
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            // Most bytes of a line are behind the state, and are not needed.
            if field > Self.stateField {
                guard let end = Self.lineFeed(in: bytes[index...]) else { return }
                index = end
            }
            take(bytes[index])
            index += 1
        }
    }

    /// The index of the first line feed.
    private static func lineFeed(in bytes: ArraySlice<UInt8>) -> Int? {
        // Safe: the search ends with the bytes, and the address is used only here.
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress,
                let found = unsafe memchr(start, Int32(UInt8(ascii: "\n")), buffer.count)
            else { return nil }
            return unsafe bytes.startIndex + (UnsafeRawPointer(found) - start)
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\n"):
            endField()
            if isToPort && isUnfinished { count += 1 }
            (field, isToPort, isUnfinished) = (-1, false, false)
        case UInt8(ascii: " "): endField()
        case UInt8(ascii: ":"): number = 0
        default:
            if !isInField { (field, isInField, number) = (field + 1, true, 0) }
            number = number.flatMap { before in Self.digit(byte).map { before &<< 4 | $0 } }
        }
    }

    private mutating func endField() {
        guard isInField else { return }
        isInField = false
        switch field {
        case 1: isToPort = number.flatMap(UInt16.init(exactly:)).map(ports.contains) ?? false
        case Self.stateField: isUnfinished = number == Self.unfinished
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
