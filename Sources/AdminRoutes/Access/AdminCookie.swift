import HTTPMessages
import HTTPServing

/// The cookie in which a browser keeps the id of a session (RFC 6265).
///
/// Over HTTPS it has the attribute Secure and the prefix `__Host-`, so that no other host and no plain HTTP can set it.
enum AdminCookie {
    /// What a request presents.
    enum Presented {
        case nothing
        case one(AdminSessionID)
        /// A value that cannot be an id, or two different values.
        case unusable
    }

    static func name(isSecure: Bool) -> String { isSecure ? "__Host-latchkey_admin" : "latchkey_admin" }

    /// The value of `Set-Cookie` that begins a session. Without `Max-Age`, a browser drops the cookie when it ends.
    static func beginning(_ id: AdminSessionID, isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=\(id.cookieValue); " + attributes(isSecure: isSecure)
    }

    /// The value of `Set-Cookie` that removes the cookie.
    static func removing(isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=; " + attributes(isSecure: isSecure) + "; Max-Age=0"
    }

    private static func attributes(isSecure: Bool) -> String {
        "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// Reads the cookie of a request. HTTP/2 may have a field `Cookie` for each cookie (RFC 9113, section 8.2.3).
    static func presented(in fields: HTTPFields, isSecure: Bool) -> Presented {
        let prefix = Array((name(isSecure: isSecure) + "=").utf8)
        var found: ArraySlice<UInt8>?
        for field in fields.allBytes(of: "Cookie") {
            for pair in field.split(separator: UInt8(ascii: ";")) {
                let pair = pair.drop { $0 == UInt8(ascii: " ") }
                guard pair.starts(with: prefix) else { continue }
                let value = pair.dropFirst(prefix.count)
                if let found, !found.elementsEqual(value) { return .unusable }
                found = value
            }
        }
        guard let found else { return .nothing }
        return AdminSessionID(found).map { .one($0) } ?? .unusable
    }
}
