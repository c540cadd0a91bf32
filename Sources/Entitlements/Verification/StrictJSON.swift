import ByteCoding

/// The two JSON texts of a token, as objects or not at all.
enum StrictJSON {
    /// Throws `tokenMalformed`.
    static func object(_ bytes: [UInt8], limits: JSONLimits) throws(EntitlementError) -> JSONObject {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONReader.parse(bytes, limits: limits)
        } catch {
            throw .tokenMalformed(.notJSON(error))
        }
        guard let object = node.object else { throw .tokenMalformed(.notAnObject) }
        return object
    }
}
