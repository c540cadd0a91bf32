import ContentKeys
import Records

/// The playback slots of groups.
struct SlotTable: ~Copyable {
    private var ofGroup, findEvicted, insert, update, delete, insertEvicted, deletePlayback: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> SlotTable {
        try SlotTable(
            ofGroup: connection.prepare(
                """
                SELECT number, device, playback, content, is_counted, is_confirmed, held_until
                FROM slot WHERE playback_group = ?1 ORDER BY number
                """),
            findEvicted: connection.prepare(
                """
                SELECT 1 FROM evicted_slot
                WHERE playback_group = ?1 AND device = ?2 AND playback = ?3 AND held_until > ?4
                """),
            insert: connection.prepare(
                """
                INSERT INTO slot (
                    playback_group, number, device, playback, content, is_counted, is_confirmed, held_until)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                """),
            update: connection.prepare(
                """
                UPDATE slot SET device = ?3, playback = ?4, content = ?5, is_counted = ?6, is_confirmed = ?7,
                    held_until = ?8
                WHERE playback_group = ?1 AND number = ?2
                """),
            delete: connection.prepare("DELETE FROM slot WHERE playback_group = ?1 AND number = ?2"),
            insertEvicted: connection.prepare(
                """
                INSERT INTO evicted_slot (playback_group, device, playback, held_until) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (playback_group, device, playback) DO UPDATE SET held_until = ?4
                """),
            deletePlayback: connection.prepare(
                "DELETE FROM slot WHERE playback_group = ?1 AND device = ?2 AND playback = ?3"))
    }

    /// Tries claims one after the other. Returns the changes that grant all of them, or the first denial. Stores
    /// nothing.
    mutating func changes(for claims: [SlotClaim], at now: Int64) throws(StoreError) -> SlotVerdict {
        var changes: [SlotChanges] = []
        for claim in claims {
            let known = changes.firstIndex { $0.group == claim.group }
            let place = known ?? changes.count
            if known == nil {
                let stored = try storedSlots(of: claim.group)
                changes.append(SlotChanges(group: claim.group, stored: stored, now: SlotGroup(stored, at: now)))
            }
            let wasEvicted = try wasEvicted(claim, at: now)
            if let denial = changes[place].now.take(claim, wasEvicted: wasEvicted) { return .denied(denial) }
        }
        return .granted(changes)
    }

    /// Frees the slot that the claim's playback holds, if it holds one.
    mutating func release(_ claim: SlotClaim) throws(StoreError) {
        try deletePlayback.run(claim.group, claim.playback.device, PlaybackName(claim.playback).bytes)
    }

    private mutating func storedSlots(of group: Pseudonym) throws(StoreError) -> [SlotGroup.Slot] {
        try ofGroup.rows(group) { row throws(StoreError) in try SlotGroup.Slot(reading: row) }
    }

    private mutating func wasEvicted(_ claim: SlotClaim, at now: Int64) throws(StoreError) -> Bool {
        try findEvicted.run(claim.group, claim.playback.device, PlaybackName(claim.playback).bytes, now) > 0
    }

    /// Stores the changes of a group, and deletes its ended slots.
    mutating func store(_ changes: SlotChanges) throws(StoreError) {
        for old in changes.stored where !changes.now.slots.contains(where: { $0.number == old.number }) {
            try remove(old.number, of: changes.group)
        }
        for slot in changes.now.slots {
            let old = changes.stored.first { $0.number == slot.number }
            if old == slot { continue }
            if old == nil {
                try insert.run(slot, changes.group)
            } else {
                try update.run(slot, changes.group)
            }
        }
        for slot in changes.now.evicted { try remember(slot, of: changes.group) }
    }

    /// Frees a slot and records it as evicted, so that its renewals are refused. Returns whether the slot was held.
    mutating func end(_ position: PlaybackPosition, at now: Int64) throws(StoreError) -> Bool {
        let stored = try storedSlots(of: position.group)
        guard let slot = stored.first(where: { $0.number == position.number && $0.heldUntil > now }) else {
            return false
        }
        try remove(slot.number, of: position.group)
        try remember(slot, of: position.group)
        return true
    }

    private mutating func remove(_ number: Int64, of group: Pseudonym) throws(StoreError) {
        try delete.run(group, number)
    }

    private mutating func remember(_ slot: SlotGroup.Slot, of group: Pseudonym) throws(StoreError) {
        try insertEvicted.run(group, slot.device, slot.playback.bytes, slot.heldUntil)
    }
}

/// The result of slot claims that are made together.
enum SlotVerdict {
    case granted([SlotChanges])
    case denied(DecisionDenial)
}

/// The slots of a group as they are stored, and as they are after the claims.
struct SlotChanges {
    let group: Pseudonym
    let stored: [SlotGroup.Slot]
    var now: SlotGroup
}

extension SlotGroup.Slot {
    /// Reads number, device, playback, content, is_counted, is_confirmed and held_until.
    fileprivate init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        guard let device = Pseudonym(try row.bytes(at: 1)), let content = Pseudonym(try row.bytes(at: 3)) else {
            throw .recordMalformed
        }
        self.init(
            number: try row.integer(at: 0), device: device, playback: PlaybackName(bytes: try row.bytes(at: 2)),
            content: content, isCounted: try row.boolean(at: 4), isConfirmed: try row.boolean(at: 5),
            heldUntil: try row.integer(at: 6))
    }
}

extension SQLiteStatement {
    fileprivate mutating func run(_ slot: SlotGroup.Slot, _ group: Pseudonym) throws(StoreError) {
        try run(
            group, slot.number, slot.device, slot.playback.bytes, slot.content, slot.isCounted, slot.isConfirmed,
            slot.heldUntil)
    }
}

/// Stores the owner and name of each slot group and the names of contents. Only lists use them.
struct SlotNameTable: ~Copyable {
    private var keepGroup, keepContent: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> SlotNameTable {
        try SlotNameTable(
            keepGroup: connection.prepare(
                """
                INSERT INTO slot_group (playback_group, owner, name, held_until) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (playback_group) DO UPDATE SET held_until = max(held_until, ?4)
                """),
            keepContent: connection.prepare(
                "INSERT INTO content_name (content, name) VALUES (?1, ?2) ON CONFLICT (content) DO NOTHING"))
    }

    mutating func keep(_ claim: SlotClaim) throws(StoreError) {
        guard let description = claim.description else { return }
        defer {
            keepGroup.reset()
            keepContent.reset()
        }
        try keepGroup.run(claim.group, description.owner, description.groupName, claim.heldUntil)
        try keepContent.run(claim.playback.content, description.content)
    }
}
