/// Tells the license path which periods of a content are served.
package protocol LivePeriodSource: Sendable {
    /// Returns the data that decide which periods of a content are served. Returns nil if no operator has set up
    /// rotation; then all keys of the content are served.
    func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods?
}

/// Stores the times of periods that packagers name.
package protocol PeriodNotes: Sendable {
    /// Stores the times of periods that a packager has named. Times that it has not named stay unchanged.
    func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError)
}

/// The live contents of an installation and their periods.
package protocol LivePeriodStore: LivePeriodSource, PeriodNotes {
    /// Returns a page of the live contents, including ended ones, in the order of their ids' bytes.
    ///
    /// - Parameters:
    ///   - last: The last content of the previous page; nil for the first page.
    ///   - limit: The largest number of contents; at least 1.
    func liveContents(after last: ContentID?, limit: Int) async throws(StoreError) -> [LiveContent]

    /// Stores a live content durably, with the next revision. Returns false, and changes nothing, if the stored content
    /// does not have the given revision any more.
    func set(_ content: LiveContent) async throws(StoreError) -> Bool

    /// Returns the newest periods of a content, the newest first, at most `LivePeriods.countMaximum`. A period is known
    /// if it has a live key.
    func knownPeriods(of contentID: ContentID) async throws(StoreError) -> [KnownPeriod]

    /// Returns the keys of these periods of a content, including withdrawn ones, in no order; at most
    /// `periodKeysMaximum`.
    func periodKeys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>
    ) async throws(StoreError) -> [ContentKeyAttributes]

    /// Returns contents with the latest end that a packager has named for a period with a live key, if that end is
    /// after `time`. Reads at most `toldPeriodsMaximum` periods, those with the latest ends.
    func toldEnds(after time: Int64) async throws(StoreError) -> [ContentID: Int64]
}

extension LivePeriodStore {
    package static var periodKeysMaximum: Int { 10_000 }
    package static var toldPeriodsMaximum: Int { 10_000 }
}
