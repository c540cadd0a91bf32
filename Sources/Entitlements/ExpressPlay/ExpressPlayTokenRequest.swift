package import ByteCoding

/// A token request whose parameters were checked (entitlement, section 1.1.1).
package struct ExpressPlayTokenRequest: Sendable {
    /// The longest life of a token in seconds, and also the default.
    package static let lifeMaximum: Int64 = 30 * 86_400

    /// The source of the content key.
    package enum Key: Equatable, Sendable {
        /// The key is sent inside the token, with a name if the request gives one.
        case embedded(EmbeddedContentKey, named: KeyName?)
        /// The key is in the key store. If the request gives an initialization vector, it must equal the stored one.
        case stored(KeyName, iv: Bytes16?)
    }

    /// The name of a key in a request.
    package enum KeyName: Equatable, Sendable {
        case keyID(KeyID)
        /// The text after "^": 1 to 64 visible ASCII characters.
        case text(String)
    }

    package let key: Key
    /// In seconds since 1970.
    package let expiresAt: Int64
    package let cookie: String?
    /// The parameters that have no effect here.
    package let unused: [UnusedParameter]
    let rental: Int64?
    let lease: Int64?
    let extensions: [SealedTokenContents.Extension]
    let device: DeviceIdentifier?
    let bindsFirstDevice: Bool
    let usesPerKey: UInt32?
    let hdcp: Right.HDCP?

    /// Returns the contents of the requested token. `name` is the name under which the token mentions a stored key.
    package func contents(
        tokenID: Bytes16, issuedAt: Int64, naming name: KeyName? = nil
    ) -> SealedTokenContents {
        var contents = SealedTokenContents(tokenID: tokenID, issuedAt: issuedAt, expiresAt: expiresAt)
        var name = name
        if case .embedded(let key, let ownName) = key {
            contents.contentKey = key
            name = ownName
        }
        switch name {
        case .keyID(let keyID): contents.keyID = keyID
        case .text(let text): contents.contentID = text
        case nil: break
        }
        contents.rental = rental
        contents.lease = lease
        contents.cookie = cookie
        contents.extensions = extensions
        contents.device = device
        contents.bindsFirstDevice = bindsFirstDevice
        contents.usesPerKey = usesPerKey
        contents.protection = Protection(hdcp: hdcp)
        return contents
    }
}
