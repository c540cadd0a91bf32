import ByteCoding
import KeyCrypto

/// The id of a session of the operator's page. It is the secret in the cookie of a browser, and never printed.
///
/// The process keeps only its SHA-256, and derives the form token from the id that a request presents.
package struct AdminSessionID: Sendable {
    /// The random bytes of an id. Its text has two digits for each of them.
    static let size = 32

    private let text: [UInt8]
    /// The SHA-256 of the text, by which the process finds the session.
    let digest: [UInt8]

    /// Throws if OpenSSL has no random bytes.
    static func random() throws(CryptoError) -> AdminSessionID {
        let text = Array(Hexadecimal.encode(try SecretBytes.random(count: size).revealed()).utf8)
        return AdminSessionID(text: text, digest: try SHA256Digest.of(text))
    }

    private init(text: [UInt8], digest: [UInt8]) {
        self.text = text
        self.digest = digest
    }

    /// Reads the value of a cookie. Returns nil if it cannot be an id.
    init?(_ value: ArraySlice<UInt8>) {
        guard value.count == 2 * Self.size, value.allSatisfy({ Hexadecimal.value(ofDigit: $0) != nil }),
            let digest = try? SHA256Digest.of(Array(value))
        else { return nil }
        self.init(text: Array(value), digest: digest)
    }

    /// The value of the cookie.
    var cookieValue: String { String(decoding: text, as: UTF8.self) }

    /// The form token of the session: a text that the page sends with each change, and that no other page can know.
    ///
    /// It is an HMAC under the id, so a form token does not show the id.
    func formToken() throws(CryptoError) -> String {
        let key = try HMACSHA256Key(SecretBytes(copying: text))
        return Hexadecimal.encode(try key.code(for: Array("latchkey form token".utf8)[...]))
    }

    /// Whether a text is the form token. The time of the comparison depends only on the size.
    func isFormToken(_ presented: ArraySlice<UInt8>) -> Bool {
        guard let formToken = try? formToken() else { return false }
        return ConstantTime.areEqual(Array(formToken.utf8)[...], presented)
    }
}

extension AdminSessionID: CustomStringConvertible, CustomReflectable {
    /// The name of the type. It tells nothing of the secret.
    package var description: String { "AdminSessionID" }

    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}
