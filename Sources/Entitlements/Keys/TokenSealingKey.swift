package import KeyCrypto

/// A key that seals and opens tokens of our own (entitlement, section 1.1.4): AES-256-GCM, selected by a number.
package struct TokenSealingKey: Sendable {
    /// The number that stands in the token.
    package let id: UInt32
    package let state: KeyState
    let key: AES256GCMKey

    package init(id: UInt32, key: AES256GCMKey, state: KeyState = .active) {
        self.id = id
        self.state = state
        self.key = key
    }
}
