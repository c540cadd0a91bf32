import ContentKeys
import Records

/// Whose groups of slots these are, and what the slots play, for lists alone.
struct SlotNameTable: ~Copyable {
    private var keepGroup: SQLiteStatement
    private var keepContent: SQLiteStatement

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        let keepGroup = try connection.prepare(
            """
            INSERT INTO slot_group (playback_group, owner, name, held_until) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (playback_group) DO UPDATE SET held_until = max(held_until, ?4)
            """)
        let keepContent = try connection.prepare(
            "INSERT INTO content_name (content, name) VALUES (?1, ?2) ON CONFLICT (content) DO NOTHING")
        self.keepGroup = keepGroup
        self.keepContent = keepContent
    }

    mutating func keep(_ claim: SlotClaim) throws(StoreError) {
        guard let description = claim.description else { return }
        defer {
            keepGroup.reset()
            keepContent.reset()
        }
        try keepGroup.bind(claim.group, at: 1)
        try keepGroup.bind(description.owner, at: 2)
        try keepGroup.bind(description.groupName, at: 3)
        try keepGroup.bind(claim.heldUntil, at: 4)
        _ = try keepGroup.step()
        try keepContent.bind(claim.playback.content, at: 1)
        try keepContent.bind(description.content, at: 2)
        _ = try keepContent.step()
    }
}
