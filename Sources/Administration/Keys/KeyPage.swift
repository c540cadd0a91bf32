package import ByteCoding
package import ContentKeys
import PackagerAPI

/// A query for a page of a content's keys.
package struct KeyPageQuery: Hashable, Sendable {
    /// The largest number of keys in a page, and the default.
    package static let limitMaximum = 64

    package var contentID: ContentID
    /// Only keys with this label; nil for all. `ALL` means the keys without a label too, as in an order.
    package var trackLabel: TrackLabel?
    /// Only keys of this period; nil for all.
    package var periodIndex: UInt32?
    /// Only keys after this one, in the order of key ids; nil for the first page.
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

    /// Whether a key belongs on the page. Withdrawn keys are never delivered to packagers.
    func fits(_ key: ContentKeyAttributes) -> Bool {
        guard key.state == .live else { return false }
        if let trackLabel, key.trackLabel != trackLabel {
            guard key.trackLabel == nil, trackLabel.text == UsageRuleName.allTracks else { return false }
        }
        if let periodIndex, key.periodIndex != periodIndex { return false }
        return true
    }
}

/// A page of the live keys of a content, in the order of their key ids.
package struct KeyPage: Sendable {
    package let keys: [ContentKeyRecord]
    /// The `after` of the next page; nil if there are no more keys. The next page may be empty.
    package let next: KeyID?
}
