import ContentKeys

extension SQLiteSchema {
    /// How many random keys were made, and which key a track has.
    ///
    /// `number` counts every random key that is stored, and never goes back; it begins with the number of keys that are
    /// there. `installation` is NULL until the database is used with a file of `keys.generationFile`. Programs of the
    /// versions before count nothing: their keys are missing in the number, and in the file too.
    static let keyGeneration = Migration(
        number: 12, oldestProgram: 1,
        script: """
            CREATE TABLE key_generation (
                id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                installation BLOB CHECK (length(installation) = 16),
                number INTEGER NOT NULL CHECK (number >= 0)
            ) STRICT;
            INSERT INTO key_generation (id, number) SELECT 1, count(*) FROM content_key;
            CREATE INDEX content_key_by_track ON content_key (content_id, track_label, period_index)
                WHERE state = 'live';
            """)
}
