import ByteCoding

/// A compact signed token (RFC 7515, section 7.1) that was parsed, but not yet verified.
///
///     base64url(header) . base64url(payload) . base64url(signature)
///
/// Each part is canonical base64url, so that a token has exactly one encoding. The header is strict JSON with `alg`,
/// usually a `kid`, and a `typ` that is absent or known. A header that brings a key along or demands an extension is
/// refused. The payload stays bytes: it is not read before the signature is verified.
package struct Token: Sendable {
    /// The most bytes that a token may have.
    package static let sizeMaximum = 8192

    /// The algorithm in the header. The verifier refuses it if it is not the one that is pinned to the key.
    package let algorithm: SigningAlgorithm
    /// The header's `kid`. Only Axinom's tokens may omit it, because they name their key in the payload.
    package let keyID: String?

    /// The bytes that are signed: the first two parts as they were sent, with the dot between them.
    let signedBytes: ArraySlice<UInt8>
    let payload: [UInt8]
    let signature: [UInt8]

    /// The members of RFC 7515, sections 4.1.2 to 4.1.6 and 4.1.11, that a header must not have.
    private static let forbiddenHeaderNames = ["crit", "jku", "jwk", "x5u", "x5c"]
    private static let typesAccepted = ["JWT", "fps-ent+jwt"]
    /// A header is read before the signature is checked. Issuers write fewer than ten values.
    private static let headerLimits = JSONLimits(sizeMaximum: sizeMaximum, depthMaximum: 8, valueCountMaximum: 64)

    /// Parses a token.
    ///
    /// An empty signature is not refused here, so that a token with the algorithm `none` gets the error
    /// `algorithmNotPinned`. Throws `tokenMalformed`, and `algorithmNotPinned` for an unknown algorithm.
    package init(parsing bytes: [UInt8]) throws(EntitlementError) {
        guard bytes.count <= Self.sizeMaximum else { throw .tokenMalformed(.tooLarge(size: bytes.count)) }
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot), let second = bytes[(first + 1)...].firstIndex(of: dot),
            first > 0, second > first + 1, !bytes[(second + 1)...].contains(dot)
        else { throw .tokenMalformed(.notThreeParts) }
        let header = try StrictJSON.object(try Self.decode(bytes[..<first]), limits: Self.headerLimits)
        payload = try Self.decode(bytes[(first + 1)..<second])
        signature = try Self.decode(bytes[(second + 1)...])
        signedBytes = bytes[..<second]
        try Self.checkMembers(of: header)
        algorithm = try Self.algorithm(of: header)
        keyID = try Self.keyID(of: header)
    }

    /// Whether bytes have the form of a compact or a sealed token, genuine or not.
    ///
    /// A secret of another kind must not have this form, because it could also be a viewer's token.
    package static func isSpelled(by bytes: [UInt8]) -> Bool {
        (try? Token(parsing: bytes)) != nil || (try? SealedToken(parsing: bytes)) != nil
    }

    private static func decode(_ part: ArraySlice<UInt8>) throws(EntitlementError) -> [UInt8] {
        try wrap({ EntitlementError.tokenMalformed(.notBase64URL($0)) }, try Base64URL.decode(part))
    }

    private static func checkMembers(of header: JSONObject) throws(EntitlementError) {
        for name in forbiddenHeaderNames where header[name] != nil { throw .tokenMalformed(.headerForbidden(name)) }
        guard let type = header["typ"] else { return }
        guard let text = type.string, typesAccepted.contains(where: text.hasSameUTF8) else {
            throw .tokenMalformed(.headerInvalid("typ"))
        }
    }

    private static func algorithm(of header: JSONObject) throws(EntitlementError) -> SigningAlgorithm {
        guard let member = header["alg"] else { throw .algorithmNotPinned }
        guard let name = member.string else { throw .tokenMalformed(.headerInvalid("alg")) }
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw .algorithmNotPinned }
        return algorithm
    }

    private static func keyID(of header: JSONObject) throws(EntitlementError) -> String? {
        guard let member = header["kid"] else { return nil }
        guard let keyID = member.string, keyID.utf8.count <= VerificationKey.idSizeMaximum else {
            throw .tokenMalformed(.headerInvalid("kid"))
        }
        return keyID
    }
}

/// Reads the JSON objects of a token: its header and its payload.
enum StrictJSON {
    /// Throws `tokenMalformed`.
    static func object(_ bytes: [UInt8], limits: JSONLimits) throws(EntitlementError) -> JSONObject {
        let node = try wrap(
            { EntitlementError.tokenMalformed(.notJSON($0)) }, try JSONReader.parse(bytes, limits: limits))
        guard let object = node.object else { throw .tokenMalformed(.notAnObject) }
        return object
    }
}
