import ContentKeys

/// A row of `content_key` before its seal is opened.
typealias ContentKeyRow = StoredContentKey

extension StoredContentKey {
    static let columns: SQL = "\(ContentKeyAttributes.columns), key_version, sealed, bound"

    /// Reads `columns`.
    init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        guard let keyVersion = UInt32(exactly: try row.integer(at: 10)) else { throw .recordMalformed }
        self.init(
            attributes: try ContentKeyAttributes(reading: row),
            sealed: SealedContentKey(
                keyVersion: keyVersion, bytes: try row.bytes(at: 11),
                bound: try row.optionalBytes(at: 12)))
    }
}

extension ContentKeyAttributes {
    static let columns: SQL = """
        kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp, \
        least_security_level
        """

    /// Reads `columns`.
    init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        var columns = ContentKeyColumns(
            keyID: try row.bytes(at: 0), contentID: try row.text(at: 1), scheme: try row.text(at: 4),
            state: try row.text(at: 5), createdAt: try row.integer(at: 6))
        columns.trackLabel = try row.optionalText(at: 2)
        columns.periodIndex = try row.optionalInteger(at: 3)
        columns.contentType = try row.optionalText(at: 7)
        columns.leastHDCP = try row.optionalText(at: 8)
        columns.leastSecurityLevel = try row.optionalText(at: 9)
        try self.init(stored: columns)
    }
}
