package import ByteCoding

/// What an asset id names in a store, for operators. A licence request learns less: a key, or none.
package enum AssetResolution: Equatable, Sendable {
    /// The key that licences carry, with its initialization vector, which is public.
    case live(ContentKeyAttributes, iv: Bytes16)
    /// A key that is given out no more.
    case withdrawn(KeyID)
    /// A content with several live keys.
    case ambiguous(ContentID)
    case unknown
}
