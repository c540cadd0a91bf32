package import ContentKeys
import KeyCrypto
package import Records

/// Lists and changes a subject's devices, playbacks and rentals for operators. Each change is in the ledger with the
/// operator's name.
package struct AccountDesk: Sendable {
    /// The largest number of elements in a page.
    package static let pageSizeMaximum = 1000
    package static let pageSizeDefault = 100

    /// Makes the pseudonyms of devices that operators name.
    package let pseudonyms: Pseudonymizer
    private let store: any AccountStore
    private let records: any AccountRecords

    package init(store: any AccountStore, records: any AccountRecords, pseudonyms: Pseudonymizer) {
        self.store = store
        self.records = records
        self.pseudonyms = pseudonyms
    }

    /// Returns at most `limit` elements after the position at which the previous page ended. `now` is in seconds since
    /// 1970, as in the methods below.
    package func page(
        of kind: AccountKind, _ subject: AccountSubject, after: AccountPosition = .start, limit: Int, now: Int64
    ) async throws(StoreError) -> AccountPage {
        let owner = try owner(subject)
        let found = try await items(of: kind, owner, after: after, limit: limit + 1, now: now)
        let items = Array(found.prefix(limit))
        return AccountPage(items: items, next: found.count > limit ? items.last?.position : nil)
    }

    /// Removes devices, ends playbacks or forgets rentals. Returns the changed items. `actor` is as in `LedgerEntry`.
    package func change(
        _ kind: AccountKind, of subject: AccountSubject, _ selection: AccountSelection, by actor: String, now: Int64
    ) async throws(StoreError) -> [AccountItem] {
        let owner = try owner(subject)
        var changed: [AccountItem] = []
        var position = AccountPosition.start
        while true {
            let found = try await items(of: kind, owner, after: position, limit: Self.pageSizeMaximum, now: now)
            guard let last = found.last else { return changed }
            for item in found where selection.selects(item) {
                let entry = try Self.entry(item, owner, by: actor, now: now)
                if try await records.make(item.change(of: owner), recording: entry) { changed.append(item) }
            }
            position = AccountPosition(behind: last)
        }
    }

    private func owner(_ subject: AccountSubject) throws(StoreError) -> Pseudonym {
        do throws(CryptoError) { return try subject.pseudonym(by: pseudonyms) } catch { throw .cryptographyFailed }
    }

    private func items(
        of kind: AccountKind, _ owner: Pseudonym, after: AccountPosition, limit: Int, now: Int64
    ) async throws(StoreError) -> [AccountItem] {
        switch kind {
        case .devices:
            try await store.devices(of: owner, after: after.name, now: now, limit: limit).map { .device($0) }
        case .playbacks:
            try await store.playbacks(of: owner, after: after.playback, now: now, limit: limit).map { .playback($0) }
        case .rentals:
            try await store.rentals(of: owner, after: after.name, now: now, limit: limit).map { .rental($0) }
        }
    }

    private static func entry(
        _ item: AccountItem, _ owner: Pseudonym, by actor: String, now: Int64
    ) throws(StoreError) -> LedgerEntry {
        let id: LicenseID
        do throws(CryptoError) { id = try .naming(rowAt: now) } catch { throw .cryptographyFailed }
        var entry = LedgerEntry(kind: item.entryKind, at: now, license: id)
        entry.subject = owner
        entry.actor = actor
        switch item {
        case .device(let known): entry.device = known.device
        case .playback(let known):
            entry.device = known.device
            entry.content = known.content
            entry.detail = known.groupName
        case .rental(let known):
            entry.content = known.content
            entry.detail = known.record.firstPlay.map { "first play \(Revocation.time($0))" } ?? "not played"
        }
        return entry
    }
}

/// The position in a list after which a page starts.
package struct AccountPosition: Equatable, Sendable {
    package static let start = AccountPosition()

    fileprivate var name: Pseudonym?
    fileprivate var playback: PlaybackPosition?

    private init() {}

    fileprivate init(behind item: AccountItem) {
        switch item {
        case .device(let known): name = known.device
        case .playback(let known): playback = known.position
        case .rental(let known): name = known.name
        }
    }

    /// Reads the text that a page has as its `next`.
    package init(_ text: String, of kind: AccountKind) throws(AccountFault) {
        switch kind {
        case .devices, .rentals: name = try Pseudonym(shown: text)
        case .playbacks: playback = PlaybackPosition(shown: text)
        }
        guard name != nil || playback != nil else { throw .positionMalformed }
    }
}

extension AccountItem {
    fileprivate var entryKind: LedgerEntry.Kind {
        switch self {
        case .device: .deviceRemoved
        case .playback: .playbackEnded
        case .rental: .rentalForgotten
        }
    }

    fileprivate func change(of owner: Pseudonym) -> AccountChange {
        switch self {
        case .device(let known): .removeDevice(owner: owner, device: known.device)
        case .playback(let known): .endPlayback(known.position)
        case .rental(let known): .forgetRental(owner: owner, name: known.name)
        }
    }
}

/// Makes changes in the database of several nodes, and records them in this node's ledger.
///
/// The row is written first, so that every change has a row. If the database then fails, the operator gets an error,
/// and another attempt writes another row.
package struct SharedAccountRecords: AccountRecords {
    private let shared: any AccountStore
    private let ledger: any Ledger

    package init(shared: any AccountStore, ledger: any Ledger) {
        self.shared = shared
        self.ledger = ledger
    }

    package func make(_ change: AccountChange, recording entry: LedgerEntry) async throws(StoreError) -> Bool {
        try await ledger.append(entry)
        return try await shared.change(change, now: entry.at)
    }
}
