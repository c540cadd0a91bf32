import ContentKeys

/// A row of `content_key` before its seal is opened.
typealias ContentKeyRow = StoredContentKey

extension StoredContentKey {
    static let columns: SQL = "\(ContentKeyAttributes.columns), key_version, sealed"
}

extension ContentKeyAttributes {
    static let columns: SQL = """
        kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp, \
        least_security_level
        """
}
