import ContentKeys

/// Names a cell: a small value of the state that decisions share.
///
/// A store keeps cells as bytes, and knows nothing of what they mean. `AccountRules` reads and changes them.
package struct CellKey: Hashable, Sendable {
    /// What a cell holds. The raw values are stored, and never change.
    package enum Kind: Int64, Sendable, CaseIterable {
        /// A request that was decided, with its answer (`ReplayRecord`).
        case request = 1
        /// How often a token was used for a key (`TokenUse`).
        case uses = 2
        /// The devices of a subject or token (`DevicePlace`).
        case devices = 3
        /// The playbacks of a group (`SlotClaim`).
        case playbacks = 4
        /// The newest used token of a session (`SessionTokenUse`).
        case session = 5
        /// The rental of a content (`RentalClaim`).
        case rental = 6
        /// The open challenges of a holder (`ChallengeStore`).
        case challenges = 7
    }

    package let kind: Kind
    package let name: Pseudonym

    package init(_ kind: Kind, _ name: Pseudonym) {
        self.kind = kind
        self.name = name
    }
}

/// The change of a cell.
package struct CellChange: Equatable, Sendable {
    package let key: CellKey
    /// The new value; nil if the cell is deleted.
    package let value: CellValue?
}

/// What a store keeps in a cell.
package struct CellValue: Equatable, Sendable {
    package let bytes: [UInt8]
    /// The subject in whose lists the cell is found; nil if it is in no list.
    package let owner: Pseudonym?
    /// When nothing in the cell is valid any more, in seconds since 1970; the largest integer if that never happens. A
    /// store may delete the cell from then on, and may round the time up.
    package let end: Int64

    package init(_ bytes: [UInt8], owner: Pseudonym?, end: Int64) {
        self.bytes = bytes
        self.owner = owner
        self.end = end
    }

    /// The first whole hour since 1970 that is not before an end. The largest number stands for the end of all times.
    package static func hour(notBefore end: Int64) -> Int32 {
        let (hours, rest) = max(0, end).quotientAndRemainder(dividingBy: 3600)
        return Int32(clamping: rest > 0 ? hours + 1 : hours)
    }
}

/// The times of a decision, in seconds since 1970.
package struct AccountTime: Equatable, Sendable {
    /// Playbacks, challenges and the windows of repeated requests are short. They end by the clock.
    package let now: Int64
    /// Everything with a long term ends by the settled time, which a wrong clock does not move. It is never later than
    /// `now`.
    package let settled: Int64

    package init(now: Int64, settled: Int64) {
        self.now = now
        self.settled = min(now, settled)
    }
}

/// The cells that actions have read, with what the actions have changed in them.
///
/// Several actions on the same cells see one another's changes. The changes of one action are a draft until they are
/// accepted.
package struct AccountCells: Sendable {
    private struct Cell: Sendable {
        var bytes: [UInt8]?
        /// What must be stored; nil if nothing was changed.
        var change: CellChange?
    }

    private var cells: [CellKey: Cell] = [:]
    private var draft: [CellKey: Cell] = [:]

    package init() {}

    /// Whether a cell was added already.
    package func contains(_ key: CellKey) -> Bool { cells[key] != nil }

    /// Adds a cell as it is stored. `bytes` is nil if it is not.
    package mutating func add(_ key: CellKey, _ bytes: [UInt8]?) {
        cells[key] = Cell(bytes: bytes)
    }

    /// What must be stored, in no order.
    package var changes: [CellChange] { cells.values.compactMap(\.change) }

    /// Reads a cell. Throws `recordMalformed` if its bytes have no meaning.
    ///
    /// Returns nil if the cell is not stored, or if all of it has ended. No answer depends on when a store deletes
    /// cells.
    func read<Contents: CellContents>(
        _ type: Contents.Type, _ name: Pseudonym, at time: AccountTime
    ) throws(StoreError) -> Contents? {
        let key = CellKey(Contents.kind, name)
        guard let cell = draft[key] ?? cells[key] else { preconditionFailure("an action names all its cells") }
        guard let bytes = cell.bytes else { return nil }
        let contents = try Contents(parsing: bytes)
        return (contents.end ?? .min) > time.settled ? contents : nil
    }

    /// Changes a cell in the draft. A cell without contents is removed.
    mutating func write<Contents: CellContents>(_ contents: Contents, _ name: Pseudonym) {
        guard let end = contents.end else { return remove(Contents.kind, name) }
        let value = CellValue(contents.encoded(), owner: contents.owner, end: end)
        let key = CellKey(Contents.kind, name)
        draft[key] = Cell(bytes: value.bytes, change: CellChange(key: key, value: value))
    }

    mutating func remove(_ kind: CellKey.Kind, _ name: Pseudonym) {
        let key = CellKey(kind, name)
        draft[key] = Cell(bytes: nil, change: CellChange(key: key, value: nil))
    }

    mutating func acceptDraft() {
        for (key, cell) in draft { cells[key] = cell }
        draft.removeAll(keepingCapacity: true)
    }

    mutating func discardDraft() {
        draft.removeAll(keepingCapacity: true)
    }
}
