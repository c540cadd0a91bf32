package import ByteCoding
package import ContentKeys

/// Which keys of a content are asked for.
package struct KeyPageQuery: Hashable, Sendable {
    /// How many keys a page has at most, and unless asked for fewer.
    package static let limitMaximum = 64

    package var contentID: ContentID
    /// Only keys with this label.
    package var trackLabel: TrackLabel?
    /// Only keys of this period.
    package var periodIndex: UInt32?
    /// Only keys behind this one, in the order of key ids.
    package var after: KeyID?
    /// From 1 to `limitMaximum`.
    package var limit: Int

    package init(
        contentID: ContentID, trackLabel: TrackLabel? = nil, periodIndex: UInt32? = nil, after: KeyID? = nil,
        limit: Int = limitMaximum
    ) {
        self.contentID = contentID
        self.trackLabel = trackLabel
        self.periodIndex = periodIndex
        self.after = after
        self.limit = limit
    }

    /// Whether a key may be on the page. A withdrawn key is given to no packager.
    func fits(_ key: ContentKeyAttributes) -> Bool {
        guard key.state == .live else { return false }
        if let trackLabel, key.trackLabel != trackLabel { return false }
        if let periodIndex, key.periodIndex != periodIndex { return false }
        return true
    }
}

/// Some live keys of a content, in the order of their key ids.
package struct KeyPage: Sendable {
    package let keys: [ContentKeyRecord]
    /// `after` of the next page; nil if there are no more keys. The next page may have no keys.
    package let next: KeyID?
}
