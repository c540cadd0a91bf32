package import ByteCoding
package import ContentKeys

/// Lists contents and their keys for operators, without any key itself.
package struct ContentDesk: Sendable {
    package static let contentLimits = 1...100
    package static let contentLimitDefault = 25
    package static let keyLimits = 1...500
    package static let keyLimitDefault = 100

    /// The most keys of one content that are read for its line in the list.
    private static let keysPerContentMaximum = 1000
    /// The most periods in an answer: the newest ones.
    private static let periodsMaximum = 64

    private let store: any ContentKeyStore & LivePeriodStore

    package init(_ store: any ContentKeyStore & LivePeriodStore) {
        self.store = store
    }

    /// Returns a page of the contents that have keys, in the order of their ids.
    package func contents(
        after last: ContentID?, prefix: String, limit: Int
    ) async throws(StoreError) -> ContentPage {
        let range = ContentIDRange(after: last, prefix: prefix)
        let found = try await store.contentIDs(in: range, limit: limit + 1)
        var lines: [ContentLine] = []
        for contentID in found.prefix(limit) {
            let keys = try await store.list(of: contentID, after: nil, limit: Self.keysPerContentMaximum)
            lines.append(ContentLine(contentID, keys, mayHaveMore: keys.count == Self.keysPerContentMaximum))
            // The next content waits until other work of the loop had its turn.
            await Task.yield()
        }
        return ContentPage(contents: lines, next: found.count > limit ? lines.last?.contentID : nil)
    }

    /// Returns a page of a content's keys, in the order of their ids; nil if the content has no key. `now` is in
    /// seconds since 1970.
    package func keys(
        of contentID: ContentID, after last: KeyID?, limit: Int, now: Int64
    ) async throws(StoreError) -> ContentKeyPage? {
        let position = last.map { ContentKeyAttributes(keyID: $0, contentID: contentID, createdAt: 0) }
        let found = try await store.list(of: contentID, after: position, limit: limit + 1)
        if found.isEmpty, last == nil { return nil }
        let keys = Array(found.prefix(limit))
        let known = try await store.knownPeriods(of: contentID)
        let live = try await store.livePeriods(of: contentID)?.content
        let schedule = live?.schedule
        let periods = known.prefix(Self.periodsMaximum).map { period in
            ContentKeyPage.Period(
                index: period.index, startsAt: period.start ?? schedule?.start(of: period.index),
                endsAt: period.end ?? schedule.map { $0.start(of: period.index) + $0.length })
        }
        return ContentKeyPage(
            contentID: contentID, keys: keys, periods: periods, nextRotation: Self.nextRotation(live, periods, now),
            next: found.count > limit ? keys.last?.keyID : nil)
    }

    /// The next period to begin: by the schedule, or by the times that a packager has named.
    private static func nextRotation(
        _ live: LiveContent?, _ periods: [ContentKeyPage.Period], _ now: Int64
    ) -> ContentKeyPage.Rotation? {
        if let live, let schedule = live.schedule {
            guard live.rotates, let index = UInt32(exactly: schedule.index(at: now) + 1) else { return nil }
            return .init(index: index, at: schedule.start(of: index))
        }
        let coming = periods.compactMap { period in
            period.startsAt.map { ContentKeyPage.Rotation(index: period.index, at: $0) }
        }
        return coming.filter { $0.at > now }.min { $0.at < $1.at }
    }
}

/// A page of contents.
package struct ContentPage: Equatable, Sendable {
    package let contents: [ContentLine]
    /// The `after` of the next page; nil if there are no more contents.
    package let next: ContentID?

    /// Writes the members of the answer to `GET /v1/contents`.
    package func write(to writer: inout JSONWriter) {
        writer.objects("contents", contents) { $1.write(to: &$0) }
        writer.member("next", next?.text)
    }
}

/// What a list says of a content.
package struct ContentLine: Equatable, Sendable {
    package let contentID: ContentID
    package let keyCount: Int
    package let withdrawnCount: Int
    /// Whether the content has more keys than were counted.
    package let hasMoreKeys: Bool
    /// The labels of the tracks. For a key without a label, the type of its content.
    package let tracks: [String]
    package let periodCount: Int
    /// When the first and the last of these keys were made, in seconds since 1970.
    package let createdAt: Int64
    package let newestAt: Int64

    init(_ contentID: ContentID, _ keys: [ContentKeyAttributes], mayHaveMore: Bool) {
        self.contentID = contentID
        keyCount = keys.count
        withdrawnCount = keys.count { $0.state == .withdrawn }
        hasMoreKeys = mayHaveMore
        tracks = Set(keys.map { $0.trackLabel?.text ?? $0.contentType.rawValue }).sorted()
        periodCount = Set(keys.compactMap(\.periodIndex)).count
        createdAt = keys.map(\.createdAt).min() ?? 0
        newestAt = keys.map(\.createdAt).max() ?? 0
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("contentId", contentID.text)
        writer.member("keyCount", keyCount)
        writer.member("withdrawnCount", withdrawnCount)
        writer.member("hasMoreKeys", hasMoreKeys)
        writer.member("tracks", tracks)
        writer.member("periodCount", periodCount)
        writer.member("createdAt", createdAt)
        writer.member("newestAt", newestAt)
    }
}

/// A page of the keys of a content, without the keys themselves.
package struct ContentKeyPage: Equatable, Sendable {
    /// A period; its times are in seconds since 1970, and nil if they are not known.
    package struct Period: Equatable, Sendable {
        package let index: UInt32
        package let startsAt: Int64?
        package let endsAt: Int64?
    }

    /// The beginning of a period.
    package struct Rotation: Equatable, Sendable {
        package let index: UInt32
        package let at: Int64
    }

    package let contentID: ContentID
    package let keys: [ContentKeyAttributes]
    /// The newest periods, the newest first.
    package let periods: [Period]
    package let nextRotation: Rotation?
    /// The `after` of the next page; nil if there are no more keys.
    package let next: KeyID?

    /// Writes the members of the answer to `GET /v1/contents/{contentId}/keys`.
    package func write(to writer: inout JSONWriter) {
        writer.member("contentId", contentID.text)
        writer.objects("keys", keys) { $1.write(to: &$0) }
        writer.objects("periods", periods) { writer, period in
            writer.member("index", Int64(period.index))
            writer.member("startsAt", period.startsAt)
            writer.member("endsAt", period.endsAt)
        }
        writer.object("nextRotation", nextRotation) { writer, rotation in
            writer.member("index", Int64(rotation.index))
            writer.member("at", rotation.at)
        }
        writer.member("next", next?.description)
    }
}

extension ContentKeyAttributes {
    /// Writes what an operator may see of a key.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("keyId", keyID.description)
        writer.member("track", trackLabel?.text)
        writer.member("type", contentType.rawValue)
        writer.member("period", periodIndex.map { Int64($0) })
        writer.member("scheme", scheme.rawValue)
        writer.member("createdAt", createdAt)
        writer.member("state", state.rawValue)
        writer.object("floors") { writer in
            writer.member("securityLevel", leastSecurityLevel?.rawValue)
            writer.member("hdcp", leastHDCP?.rawValue)
        }
    }
}
