import ContentKeys

extension SQLiteSchema {
    /// Whose request was decided. A program of the versions before does not set it: its requests are known again by their token alone.
    static let retries = Migration(
        number: 6, oldestProgram: 1,
        script: """
            ALTER TABLE replay ADD COLUMN party BLOB;
            """)
}
