import ByteCoding

/// The first line of a request (RFC 9112 section 3): method, target and version with one space between them.
struct HTTPRequestLine: Sendable {
    let method: HTTPMethod
    let version: HTTPVersion
    let target: HTTPTarget
    /// The authority of a target in absolute form, which must be equal to `Host`; nil for other targets.
    let authority: HTTPAuthority?

    init(parsing bytes: Span<UInt8>, _ line: Range<Int>, targetSizeMaximum: Int) throws(HTTPProblem) {
        guard let methodEnd = bytes.firstPosition(of: 0x20, in: line), methodEnd > line.lowerBound else {
            throw .malformed(.requestLine)
        }
        let afterMethod = methodEnd + 1..<line.upperBound
        guard let targetEnd = bytes.firstPosition(of: 0x20, in: afterMethod), targetEnd > afterMethod.lowerBound else {
            throw .malformed(.requestLine)
        }
        let target = afterMethod.lowerBound..<targetEnd
        guard target.count <= targetSizeMaximum else { throw .targetTooLong }
        version = try Self.readVersion(bytes, targetEnd + 1..<line.upperBound)
        method = try Self.readMethod(bytes, line.lowerBound..<methodEnd)
        (self.target, authority) = try Self.readTarget(bytes, target, isOptions: method == .options)
    }

    /// Reads the version. A higher minor version is taken as HTTP/1.1 (RFC 9110 section 2.5).
    private static func readVersion(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTPProblem) -> HTTPVersion {
        if bytes.matches("HTTP/1.1".utf8, in: range) { return .http11 }
        if bytes.matches("HTTP/1.0".utf8, in: range) { return .http10 }
        let start = range.lowerBound
        guard range.count == 8, bytes.matches("HTTP/".utf8, in: start..<start + 5), bytes[start + 5].isDigit,
            bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
        else { throw .malformed(.requestLine) }
        guard bytes[start + 5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        return .http11
    }

    static func readMethod(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTPProblem) -> HTTPMethod {
        if let method = HTTPMethod(bytes, range) { return method }
        for position in range where !bytes[position].isTokenCharacter { throw .malformed(.requestLine) }
        throw .methodNotImplemented
    }

    /// Reads a target: origin form, absolute form for `http` and `https`, or `*` for OPTIONS (RFC 9112 section 3.2).
    private static func readTarget(
        _ bytes: Span<UInt8>, _ range: Range<Int>, isOptions: Bool
    ) throws(HTTPProblem) -> (HTTPTarget, authority: HTTPAuthority?) {
        if let target = try readPath(bytes, range, isOptions: isOptions) { return (target, nil) }
        for scheme in ["http://", "https://"] where range.count > scheme.utf8.count {
            let authorityStart = range.lowerBound + scheme.utf8.count
            guard bytes.matchesIgnoringCase(scheme.utf8, in: range.lowerBound..<authorityStart) else { continue }
            var authorityEnd = authorityStart
            while authorityEnd < range.upperBound, bytes[authorityEnd] != UInt8(ascii: "/"),
                bytes[authorityEnd] != UInt8(ascii: "?")
            { authorityEnd += 1 }
            guard authorityEnd > authorityStart else { throw .malformed(.target) }
            let target = splitTarget(bytes, authorityEnd..<range.upperBound)
            let path = target.path.isEmpty ? (isOptions && target.query == nil ? "*" : "/") : target.path
            let authority = HTTPAuthority(range: authorityStart..<authorityEnd, isSecure: scheme == "https://")
            return (HTTPTarget(path: path, query: target.query), authority)
        }
        throw .malformed(.target)
    }

    /// Reads a target in origin form, or `*` for OPTIONS; `nil` for other forms of a target.
    static func readPath(
        _ bytes: Span<UInt8>, _ range: Range<Int>, isOptions: Bool
    ) throws(HTTPProblem) -> HTTPTarget? {
        for position in range where bytes[position].isForbiddenInTarget { throw .malformed(.target) }
        if bytes[range.lowerBound] == UInt8(ascii: "/") { return splitTarget(bytes, range) }
        if isOptions && bytes.matches("*".utf8, in: range) { return HTTPTarget(path: "*") }
        return nil
    }

    /// Splits a target at its query.
    private static func splitTarget(_ bytes: Span<UInt8>, _ range: Range<Int>) -> HTTPTarget {
        guard let mark = bytes.firstPosition(of: UInt8(ascii: "?"), in: range) else {
            return HTTPTarget(path: bytes.text(range))
        }
        return HTTPTarget(
            path: bytes.text(range.lowerBound..<mark), query: bytes.text(mark + 1..<range.upperBound))
    }
}

/// The position of an authority, and its scheme.
struct HTTPAuthority: Sendable {
    let range: Range<Int>
    /// Whether the scheme is `https`, whose default port is 443. The default port of `http` is 80.
    let isSecure: Bool

    /// Whether `host` is equal to this authority. The scheme's default port and an empty port are the same as no port
    /// (RFC 9110 section 4.2.3).
    func isEqual(to host: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        HTTPFieldSummary.equalIgnoringCase(bytes, withoutDefaultPort(range, bytes), withoutDefaultPort(host, bytes))
    }

    private func withoutDefaultPort(_ host: Range<Int>, _ bytes: Span<UInt8>) -> Range<Int> {
        for port in [isSecure ? ":443" : ":80", ":"] where host.count > port.utf8.count {
            let start = host.upperBound - port.utf8.count
            if bytes.matches(port.utf8, in: start..<host.upperBound) { return host.lowerBound..<start }
        }
        return host
    }
}

extension UInt8 {
    /// Whether the byte must not be in a target: any byte except printable ASCII, and `"#<>`.
    ///
    /// RFC 3986 forbids ``\^`{|}`` too, but browsers send these in queries without escaping them.
    fileprivate var isForbiddenInTarget: Bool {
        switch self {
        case 0x21, 0x24...0x3b, 0x3d, 0x3f...0x7e: false
        default: true
        }
    }
}
