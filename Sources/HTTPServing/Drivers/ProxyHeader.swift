import POSIXSockets

/// The header that a proxy sends first on a connection: the PROXY protocol, versions 1 and 2.
enum ProxyHeader: Equatable {
    /// The proxy itself has opened the connection, or does not know the client. The socket's address counts.
    case unknown
    /// The proxy has opened the connection for this client.
    case client(SocketAddress)

    /// The most bytes of a header, including the extensions after the addresses.
    static let sizeMaximum = 4096

    /// Reads the header at the beginning of `bytes`. Returns it with its size in bytes; `nil` if more bytes are needed.
    ///
    /// Throws as soon as further bytes could not complete a valid header.
    static func parse(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> (header: ProxyHeader, size: Int)? {
        guard !bytes.isEmpty else { return nil }
        return bytes[0] == Version2.signature[0] ? try Version2.parse(bytes) : try Version1.parse(bytes)
    }
}

/// Why the input is not a header of the PROXY protocol.
enum ProxyHeaderError: Error, Equatable {
    /// The input does not begin with a signature of the PROXY protocol.
    case signature
    case version
    case command
    /// The protocol family is not supported.
    case family
    case address
    case tooLong
}

// MARK: Version 1

/// Version 1, which is one line of text: `PROXY TCP4 192.0.2.1 198.51.100.2 51234 443` and CR LF.
private enum Version1 {
    /// The specification's limit, with the line end.
    static let sizeMaximum = 107
    private static let prefix = Array("PROXY ".utf8)

    static func parse(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> (header: ProxyHeader, size: Int)? {
        for position in 0..<min(bytes.count, prefix.count) where bytes[position] != prefix[position] {
            throw .signature
        }
        guard let end = try lineEnd(bytes) else { return nil }
        var line: [UInt8] = []
        for position in prefix.count..<end { line.append(bytes[position]) }
        return (try header(String(decoding: line, as: UTF8.self)), end + 2)
    }

    /// Returns the position of the CR that ends the line; nil if more bytes are needed.
    private static func lineEnd(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> Int? {
        for position in 0..<min(bytes.count, sizeMaximum) {
            guard bytes[position] != 0x0A else { throw .address }
            guard bytes[position] == 0x0D, position >= prefix.count else { continue }
            guard position + 1 < sizeMaximum else { throw .tooLong }
            guard position + 1 < bytes.count else { return nil }
            guard bytes[position + 1] == 0x0A else { throw .address }
            return position
        }
        if bytes.count >= sizeMaximum { throw .tooLong }
        return nil
    }

    private static func header(_ line: String) throws(ProxyHeaderError) -> ProxyHeader {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch words.first {
        case "UNKNOWN": return .unknown
        case "TCP4", "TCP6": break
        default: throw .family  // The word of another protocol.
        }
        guard words.count == 5, let source = IPAddress(words[1]), let destination = IPAddress(words[2]),
            let port = port(words[3]), port != 0, Self.port(words[4]) != nil
        else { throw .address }
        switch (words[0], source, destination) {
        case ("TCP4", .v4, .v4), ("TCP6", .v6, .v6): return .client(.internet(source.unmapped, port: port))
        default: throw .address  // The addresses do not belong to the family.
        }
    }

    private static func port(_ word: Substring) -> UInt16? {
        guard (1...5).contains(word.utf8.count), word.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            word == "0" || word.utf8.first != 0x30
        else { return nil }
        return UInt16(word)
    }
}

// MARK: Version 2

/// Version 2, which is binary.
///
///     offset  size  field
///          0    12  signature
///         12     1  version 2 in the upper half, command in the lower: 0 LOCAL, 1 PROXY
///         13     1  family in the upper half, protocol in the lower: 0x11 TCP over IPv4, 0x21 TCP over IPv6,
///                   0x31 unix, 0 unknown
///         14     2  size of the rest, big-endian
///         16        source and destination address, source and destination port, then extensions
private enum Version2 {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let fixedSize = 16

    static func parse(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> (header: ProxyHeader, size: Int)? {
        for position in 0..<min(bytes.count, signature.count) where bytes[position] != signature[position] {
            throw .signature
        }
        guard bytes.count > 12 else { return nil }
        guard bytes[12] >> 4 == 2 else { throw .version }
        let isLocal = bytes[12] & 0x0F == 0
        guard bytes[12] & 0x0F <= 1 else { throw .command }
        guard bytes.count > 13 else { return nil }
        let addressSize = try addressSize(of: bytes[13], isLocal: isLocal)
        guard bytes.count >= fixedSize else { return nil }
        let size = Int(integer(bytes, 14, size: 2))
        guard size >= addressSize else { throw .address }
        guard fixedSize + size <= ProxyHeader.sizeMaximum else { throw .tooLong }
        guard bytes.count >= fixedSize + size else { return nil }
        return (isLocal ? .unknown : header(of: bytes[13], bytes), fixedSize + size)
    }

    /// Returns the size of the addresses and ports of a family; 0 for a LOCAL connection, whose addresses are skipped.
    private static func addressSize(of family: UInt8, isLocal: Bool) throws(ProxyHeaderError) -> Int {
        if isLocal { return 0 }
        switch family {
        case 0x00: return 0
        case 0x11: return 12
        case 0x21: return 36
        case 0x31: return 216
        default: throw .family  // Datagrams, and values that are not in the specification.
        }
    }

    private static func header(of family: UInt8, _ bytes: Span<UInt8>) -> ProxyHeader {
        switch family {
        case 0x11:
            let ip = IPAddress.v4(UInt32(truncatingIfNeeded: integer(bytes, 16, size: 4)))
            return .client(.internet(ip, port: UInt16(truncatingIfNeeded: integer(bytes, 24, size: 2))))
        case 0x21:
            let ip = IPAddress.v6(integer(bytes, 16, size: 8), integer(bytes, 24, size: 8))
            return .client(.internet(ip.unmapped, port: UInt16(truncatingIfNeeded: integer(bytes, 48, size: 2))))
        default: return .unknown  // A client of a unix socket, or an unknown client, has no address.
        }
    }

    private static func integer(_ bytes: Span<UInt8>, _ start: Int, size: Int) -> UInt64 {
        var value: UInt64 = 0
        for position in start..<start + size { value = value << 8 | UInt64(bytes[position]) }
        return value
    }
}
