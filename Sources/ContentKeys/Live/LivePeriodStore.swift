/// Where the licence path asks which periods of a content are served.
package protocol LivePeriodSource: Sendable {
    /// What decides which periods of a content are served. Nil if no operator has said that it rotates: then each of
    /// its keys is served.
    func livePeriods(of contentID: ContentID) async throws(StoreError) -> LivePeriods?
}

/// Where it is written down what packagers say of periods.
package protocol PeriodNotes: Sendable {
    /// Takes the times of periods that a packager has named. What it does not say stays as it was.
    func note(_ periods: [KnownPeriod], of contentID: ContentID) async throws(StoreError)
}

/// The live contents of an installation and their periods.
package protocol LivePeriodStore: LivePeriodSource, PeriodNotes {
    /// A page of the live contents, ended ones too, in the order of their ids' bytes.
    ///
    /// - Parameters:
    ///   - last: The last content of the page before; nil for the first page.
    ///   - limit: How many contents at most; at least 1.
    func liveContents(after last: ContentID?, limit: Int) async throws(StoreError) -> [LiveContent]

    /// Stores a live content durably, with the next revision. False, and nothing has changed, if the stored content
    /// does not have the given revision any more.
    func set(_ content: LiveContent) async throws(StoreError) -> Bool

    /// The newest periods of a content, the newest first, at most `LivePeriods.countMaximum`: those that have a key,
    /// withdrawn ones too.
    func knownPeriods(of contentID: ContentID) async throws(StoreError) -> [KnownPeriod]

    /// The keys of these periods of a content, withdrawn ones too, in no order; at most `periodKeysMaximum`.
    func periodKeys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>
    ) async throws(StoreError) -> [ContentKeyAttributes]

    /// The contents whose packagers have said when a period ends, if the latest such end is after `time`, with that
    /// end. Looks at `toldPeriodsMaximum` periods at most, those that end last.
    func toldEnds(after time: Int64) async throws(StoreError) -> [ContentID: Int64]
}

extension LivePeriodStore {
    package static var periodKeysMaximum: Int { 10_000 }
    package static var toldPeriodsMaximum: Int { 10_000 }
}
