import ByteCoding

/// The two JSON texts of a token, as objects or not at all.
enum StrictJSON {
    /// Throws `tokenMalformed`.
    static func object(_ bytes: [UInt8], limits: JSONLimits) throws(EntitlementError) -> JSONObject {
        let node = try wrap(
            { EntitlementError.tokenMalformed(.notJSON($0)) }, try JSONReader.parse(bytes, limits: limits))
        guard let object = node.object else { throw .tokenMalformed(.notAnObject) }
        return object
    }
}
