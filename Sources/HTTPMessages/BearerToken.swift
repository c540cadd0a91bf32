/// The token in `Authorization: Bearer` (RFC 6750, section 2.1).
package enum BearerToken {
    package enum Presented: Equatable, Sendable {
        case none
        case one([UInt8])
        /// There are different `Authorization` fields, and it is unclear which one counts.
        case ambiguous
    }

    /// Returns the token of a request. Other schemes than `Bearer` are ignored.
    package static func presented(in fields: HTTPFields) -> Presented {
        guard let first = fields.bytes(of: "Authorization") else { return .none }
        if fields.count(of: "Authorization") > 1, Set(fields.values(of: "Authorization")).count > 1 {
            return .ambiguous
        }
        return token(in: first).map { .one($0) } ?? .none
    }

    private static let scheme = Array("bearer".utf8)

    /// Returns the token after the scheme, which is compared without regard to case; nil for another scheme.
    private static func token(in value: ArraySlice<UInt8>) -> [UInt8]? {
        // Upper-case and lower-case letters differ in bit 5 only.
        guard value.count > scheme.count, value.prefix(scheme.count).map({ $0 | 0x20 }) == scheme else { return nil }
        let rest = value.dropFirst(scheme.count)
        guard rest.first == UInt8(ascii: " ") else { return nil }
        let token = rest.drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : Array(token)
    }
}
