package import ContentKeys

/// A store of cells. Everything that decisions share follows from three methods.
package protocol CellStore: SharedStateStore, PlaybackSlotStore, ChallengeStore, AccountStore {
    /// Applies an action to its cells by `AccountRules`, while no other action can change them. What it changes is
    /// durable when this returns.
    ///
    /// `now` is the time of the caller. A store with its own clock uses that clock instead, here and below.
    func perform(_ action: AccountAction, now: Int64) async throws(StoreError) -> AccountAnswer

    /// Reads a cell. The result has no cell if it is not stored.
    func cell(_ key: CellKey, now: Int64) async throws(StoreError) -> StoredCells

    /// Reads the cells of a kind in the lists of `owner`, in the order of their names' bytes, from `first` on.
    func cells(
        _ kind: CellKey.Kind, of owner: Pseudonym, from first: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> StoredCells
}

/// Cells as they are stored, and the time by which their contents have ended.
package struct StoredCells: Sendable {
    package let cells: [(name: Pseudonym, bytes: [UInt8])]
    package let time: AccountTime

    package init(_ cells: [(name: Pseudonym, bytes: [UInt8])], time: AccountTime) {
        self.cells = cells
        self.time = time
    }
}

extension CellStore {
    package func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else { return .recorded }
        return try await perform(.settle(decision), now: decision.now).outcome
    }

    package func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) {
        _ = try await perform(.release(claims), now: now)
    }

    package func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool {
        try await perform(
            .openChallenge(challenge, holder: holder, expiresAt: expiresAt, limit: limit), now: now
        ).hasChanged
    }

    package func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool {
        try await perform(.takeChallenge(challenge, holder: holder), now: now).hasChanged
    }

    package func change(_ change: AccountChange, now: Int64) async throws(StoreError) -> Bool {
        try await perform(.change(change), now: now).hasChanged
    }

    package func devices(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownDevice] {
        let stored = try await cell(CellKey(.devices, owner), now: now)
        let all = try stored.contents(DeviceList.self).flatMap(\.contents.devices)
        let listed = all.filter { ($0.keptUntil ?? .max) > stored.time.settled && $0.device.isAfter(after) }
        return Array(listed.sorted { $1.device.isAfter($0.device) }.prefix(limit))
    }

    package func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownPlayback] {
        try await collect(.playbacks, of: owner, from: after?.group, now: now, limit: limit) {
            stored throws(StoreError) in
            try stored.contents(PlaybackList.self).flatMap { group, list in
                list.slots.filter { $0.heldUntil > stored.time.now }.compactMap { slot in
                    let position = PlaybackPosition(group: group, number: slot.number)
                    guard let name = list.group?.name, position.isAfter(after) else { return nil }
                    return KnownPlayback(
                        position: position, groupName: name, device: slot.device, session: slot.session,
                        content: slot.contentName, isCounted: slot.isCounted, isConfirmed: slot.isConfirmed,
                        heldUntil: slot.heldUntil)
                }
            }
        }
    }

    package func rentals(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownRental] {
        try await collect(.rental, of: owner, from: after, now: now, limit: limit) { stored throws(StoreError) in
            try stored.contents(StoredRental.self).compactMap { name, rental in
                guard rental.keptUntil > stored.time.settled, name.isAfter(after) else { return nil }
                return KnownRental(
                    name: name, content: rental.content, record: rental.record, keptUntil: rental.keptUntil)
            }
        }
    }

    package func rental(_ name: Pseudonym, now: Int64) async throws(StoreError) -> RentalRecord? {
        let stored = try await cell(CellKey(.rental, name), now: now)
        return try stored.contents(StoredRental.self).first { $0.contents.keptUntil > stored.time.settled }?
            .contents.record
    }

    /// Reads cells until they give `limit` elements, or until there is no further cell.
    private func collect<Element>(
        _ kind: CellKey.Kind, of owner: Pseudonym, from first: Pseudonym?, now: Int64, limit: Int,
        _ elements: (StoredCells) throws(StoreError) -> [Element]
    ) async throws(StoreError) -> [Element] {
        var (found, from) = ([Element](), first)
        while true {
            // One more than the limit, because the first cell may be that of the page before.
            let stored = try await cells(kind, of: owner, from: from, now: now, limit: limit + 1)
            found += try elements(stored)
            guard found.count < limit, stored.cells.count > limit, let next = stored.cells.last?.name.next else {
                break
            }
            from = next
        }
        return Array(found.prefix(limit))
    }
}

extension StoredCells {
    fileprivate func contents<Contents: CellContents>(
        _ type: Contents.Type
    ) throws(StoreError) -> [(name: Pseudonym, contents: Contents)] {
        try cells.map { cell throws(StoreError) in (cell.name, try Contents(parsing: cell.bytes)) }
    }
}

extension Pseudonym {
    /// Whether it comes after another one in the order of their bytes. Every one comes after nil.
    fileprivate func isAfter(_ other: Pseudonym?) -> Bool {
        other.map { $0.bytes.lexicographicallyPrecedes(bytes) } ?? true
    }

    /// The next one in the order of the bytes; nil after the last one.
    fileprivate var next: Pseudonym? {
        var bytes = bytes
        for index in bytes.indices.reversed() {
            bytes[index] &+= 1
            if bytes[index] != 0 { return Pseudonym(bytes) }
        }
        return nil
    }
}

extension PlaybackPosition {
    fileprivate func isAfter(_ other: PlaybackPosition?) -> Bool {
        guard let other, other.group == group else { return true }
        return number > other.number
    }
}
