package import ContentKeys
import KeyCrypto
package import Records

/// Where operators list and change what is remembered of a subject. Each change is in the ledger with the name of the
/// operator.
package struct AccountDesk: Sendable {
    /// The most elements of a page.
    package static let pageSizeMaximum = 1000
    package static let pageSizeDefault = 100

    /// For the names that operators give to devices.
    package let pseudonyms: Pseudonymizer
    private let store: any AccountStore
    private let records: any AccountRecords

    package init(store: any AccountStore, records: any AccountRecords, pseudonyms: Pseudonymizer) {
        self.store = store
        self.records = records
        self.pseudonyms = pseudonyms
    }

    /// At most `limit` elements behind the one at which the page before has ended. `now` is in seconds since 1970, here
    /// and below.
    package func page(
        of kind: AccountKind, _ subject: AccountSubject, after: AccountPosition = .start, limit: Int, now: Int64
    ) async throws(StoreError) -> AccountPage {
        let owner = try owner(subject)
        let found = try await items(of: kind, owner, after: after, limit: limit + 1, now: now)
        let items = Array(found.prefix(limit))
        return AccountPage(items: items, next: found.count > limit ? items.last?.position : nil)
    }

    /// Removes devices, ends playbacks or forgets rentals. Returns those that it found. `actor` is as in `LedgerEntry`.
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
                if try await records.make(item.change(of: owner, now: now), recording: entry) { changed.append(item) }
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

/// Where in a list a page begins.
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

    /// Reads what a page has as its `next`.
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

    fileprivate func change(of owner: Pseudonym, now: Int64) -> AccountChange {
        switch self {
        case .device(let known): .removeDevice(owner: owner, device: known.device)
        case .playback(let known): .endPlayback(known.position, now: now)
        case .rental(let known): .forgetRental(owner: owner, name: known.name)
        }
    }
}

/// Changes in the database of many nodes, whose rows are in this node's ledger.
///
/// The row is written first, so that no change is without one. If the database then fails, the operator hears of it,
/// and the row of the next try follows.
package struct SharedAccountRecords: AccountRecords {
    private let shared: any AccountStore
    private let ledger: any Ledger

    package init(shared: any AccountStore, ledger: any Ledger) {
        self.shared = shared
        self.ledger = ledger
    }

    package func make(_ change: AccountChange, recording entry: LedgerEntry) async throws(StoreError) -> Bool {
        try await ledger.append(entry)
        return try await shared.change(change)
    }
}
