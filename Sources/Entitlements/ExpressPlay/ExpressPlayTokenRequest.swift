package import ByteCoding

/// What a token request asks for, checked (entitlement, section 1.1.1).
package struct ExpressPlayTokenRequest: Sendable {
    /// The longest life of a token in seconds, and the one that it has unless the request says otherwise.
    package static let lifeMaximum: Int64 = 30 * 86_400

    /// Where the content key comes from.
    package enum Key: Equatable, Sendable {
        /// It travels inside the token, under a name that it may have been given.
        case embedded(EmbeddedContentKey, named: KeyName?)
        /// It is stored, and its initialization vector must be this one, if the request gives one.
        case stored(KeyName, iv: Bytes16?)
    }

    /// By what a request names a key.
    package enum KeyName: Equatable, Sendable {
        case keyID(KeyID)
        /// What stood behind "^": 1 to 64 visible ASCII characters.
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

    /// The contents of the token that is asked for; `name` is what a stored key is called in it.
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
