package import ByteCoding

/// The content that a licence is asked for, as the key store knows it.
package struct RequestedContent: Equatable, Sendable {
    package let contentID: String
    package let keyID: KeyID
    /// The labels under which the `tracks` of a right may speak of the key: the packager's own, and the one of its
    /// content type.
    package let trackLabels: [String]

    package init(contentID: String, keyID: KeyID, trackLabels: [String]) {
        self.contentID = contentID
        self.keyID = keyID
        self.trackLabels = trackLabels
    }
}
