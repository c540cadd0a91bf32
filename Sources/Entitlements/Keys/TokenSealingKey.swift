package import KeyCrypto

/// An AES-256-GCM key that seals and opens sealed tokens (entitlement, section 1.1.4).
package struct TokenSealingKey: Sendable {
    /// The number by which a token names its key.
    package let id: UInt32
    package let state: KeyState
    let key: AES256GCMKey

    package init(id: UInt32, key: AES256GCMKey, state: KeyState = .active) {
        self.id = id
        self.state = state
        self.key = key
    }
}
