import ByteCoding

/// The credentials with which a request names its packager: a secret in its header fields, the certificate of its
/// connection, or both (packagers, section 7.4).
///
/// Only parses them. `PackagerDirectory.judge` compares them with the stored secrets.
package struct PackagerCredentials: Sendable {
    /// A client certificate of the TLS handshake. The client has proved that it has the private key, and an authority
    /// of the listener has signed the certificate.
    package struct ClientCertificate: Equatable, Sendable {
        /// The subject as RFC 4514 writes it.
        package let subject: String
        /// The SHA-256 of the certificate's DER encoding, 32 bytes.
        package let sha256: [UInt8]

        package init(subject: String, sha256: [UInt8]) {
            self.subject = subject
            self.sha256 = sha256
        }
    }

    /// The result of reading the header fields.
    enum Presented: Equatable, Sendable {
        case nothing
        /// One secret, in one field or in several. Only the scheme Basic has a user name.
        case secret([UInt8], user: [UInt8]?)
        /// Two different secrets or two different user names.
        case ambiguous
        /// A field that cannot be parsed, or `Authorization` with a scheme that is not supported.
        case malformed
    }

    let presented: Presented
    let certificate: ClientCertificate?

    /// The values of `WWW-Authenticate` in an answer that asks for credentials, each in a field of its own
    /// (RFC 7617, section 2.1; RFC 6750, section 3). They are the same for every refusal.
    package static let challenges = [#"Basic realm="packagers", charset="UTF-8""#, #"Bearer realm="packagers""#]

    /// Reads the values of all `Authorization` and all `x-api-key` fields of a request, without white space around
    /// them.
    ///
    /// Never fails: `judge` refuses fields that cannot be parsed. `certificate` is nil if the connection has no
    /// certificate. It is also nil if a proxy that ends TLS has opened the connection, because the proxy's certificate
    /// says nothing about the packager.
    package init(
        authorization: [ArraySlice<UInt8>], apiKeys: [ArraySlice<UInt8>], certificate: ClientCertificate? = nil
    ) {
        var presented = Presented.nothing
        for value in authorization { presented = presented.joined(with: Self.read(authorization: value)) }
        for value in apiKeys { presented = presented.joined(with: Self.read(apiKey: value)) }
        self.presented = presented
        self.certificate = certificate
    }

    /// Whether the request presents a secret that may be a guess. A certificate cannot be guessed.
    package var maySpellAGuess: Bool { presented != .nothing }

    // MARK: Reading

    /// Reads an authentication scheme in any case, spaces, and the credentials (RFC 9110, section 11.4).
    private static func read(authorization value: ArraySlice<UInt8>) -> Presented {
        let space = UInt8(ascii: " ")
        guard let end = value.firstIndex(of: space) else { return .malformed }
        let rest = value[end...].drop { $0 == space }
        // Setting bit 5 puts letters into lower case.
        let scheme = value[..<end].lazy.map { $0 | 0x20 }
        if scheme.elementsEqual("basic".utf8) { return read(basic: rest) }
        if scheme.elementsEqual("bearer".utf8) { return read(apiKey: rest) }
        // The scheme is not supported, for example Digest or AWS4-HMAC-SHA256.
        return .malformed
    }

    /// Reads a secret of visible ASCII characters.
    private static func read(apiKey value: ArraySlice<UInt8>) -> Presented {
        guard !value.isEmpty, value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return .malformed }
        return .secret(Array(value), user: nil)
    }

    /// Reads the Base64 of user name, colon and password in UTF-8. Only the password may have colons. Neither part has
    /// control characters (RFC 7617, section 2).
    private static func read(basic text: ArraySlice<UInt8>) -> Presented {
        let colon = UInt8(ascii: ":")
        guard let bytes = try? Base64.decode(text), let end = bytes.firstIndex(of: colon), end + 1 < bytes.count,
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            // ASCII is UTF-8.
            bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil
        else { return .malformed }
        return .secret(Array(bytes[(end + 1)...]), user: Array(bytes[..<end]))
    }
}

extension PackagerCredentials.Presented {
    /// Combines the results of two fields. The same secret may stand in both, and one of them may name the user.
    fileprivate func joined(with other: Self) -> Self {
        switch (self, other) {
        case (.malformed, _), (_, .malformed): return .malformed
        case (.nothing, let rest), (let rest, .nothing): return rest
        case (.ambiguous, _), (_, .ambiguous): return .ambiguous
        case (.secret(let secret, let user), .secret(let otherSecret, let otherUser)):
            guard secret == otherSecret else { return .ambiguous }
            if let user, let otherUser, user != otherUser { return .ambiguous }
            return .secret(secret, user: user ?? otherUser)
        }
    }
}

extension PackagerCredentials: CustomStringConvertible, CustomReflectable {
    /// The name of the type. It tells nothing of the secret.
    package var description: String { "PackagerCredentials" }

    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

extension PackagerCredentials.Presented: CustomStringConvertible, CustomReflectable {
    /// The name of the case. It tells nothing of the secret.
    var description: String {
        switch self {
        case .nothing: "nothing"
        case .secret: "a secret"
        case .ambiguous: "ambiguous"
        case .malformed: "malformed"
        }
    }

    var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}
