import ByteCoding

/// What a request presents to say which packager sends it: a secret in its header fields, the certificate of its
/// connection, or both (packagers, section 7.4).
///
/// Reading compares nothing with a stored secret. `PackagerDirectory.judge` does that.
package struct PackagerCredentials: Sendable {
    /// A certificate that the client has proved in the handshake, and that an authority of the listener has signed.
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

    /// What the header fields come to.
    enum Presented: Equatable, Sendable {
        case nothing
        /// One secret, in one field or in several. Only Basic names a user.
        case secret([UInt8], user: [UInt8]?)
        /// Two different secrets or users.
        case ambiguous
        /// A field that is not readable, or `Authorization` with another scheme.
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
    /// Never fails: `judge` refuses what is not readable. `certificate` is nil if the connection has none, and if it is
    /// the connection of a proxy that ends TLS, whose certificate says nothing about the packager.
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

    /// The scheme in any case, spaces, and the rest (RFC 9110, section 11.4).
    private static func read(authorization value: ArraySlice<UInt8>) -> Presented {
        let space = UInt8(ascii: " ")
        guard let end = value.firstIndex(of: space) else { return .malformed }
        let rest = value[end...].drop { $0 == space }
        // Bit 5 tells the cases of a letter apart.
        let scheme = value[..<end].lazy.map { $0 | 0x20 }
        if scheme.elementsEqual("basic".utf8) { return read(basic: rest) }
        if scheme.elementsEqual("bearer".utf8) { return read(apiKey: rest) }
        // A scheme that is not served, such as Digest or AWS4-HMAC-SHA256.
        return .malformed
    }

    /// Visible ASCII characters, as secrets of packagers have them.
    private static func read(apiKey value: ArraySlice<UInt8>) -> Presented {
        guard !value.isEmpty, value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return .malformed }
        return .secret(Array(value), user: nil)
    }

    /// The Base64 of user, colon and password in UTF-8. The user has no colon, the password may have some, and neither
    /// has control characters (RFC 7617, section 2).
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
    /// Both together: the same secret may stand in two fields, and one of them may name the user.
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
    /// Nothing of the secret.
    package var description: String { "PackagerCredentials" }

    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

extension PackagerCredentials.Presented: CustomStringConvertible, CustomReflectable {
    /// Nothing of the secret.
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
