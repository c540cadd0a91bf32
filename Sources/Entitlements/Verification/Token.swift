import ByteCoding

/// A compact signed token (RFC 7515, section 7.1) that was parsed, but not yet verified.
///
///     base64url(header) . base64url(payload) . base64url(signature)
///
/// Each part is canonical base64url, so that a token has exactly one encoding. The header is strict JSON with `alg`,
/// usually a `kid`, and perhaps a `typ`. A header that brings a key along, demands an extension, or has the type of
/// tokens for another use is refused. The payload stays bytes: before the signature is verified, it is read only to
/// find the key.
package struct Token: Sendable {
    /// The most bytes that a token may have.
    package static let sizeMaximum = 8192

    /// The algorithm in the header. The verifier refuses it if it is not the one that is pinned to the key.
    package let algorithm: SigningAlgorithm
    /// The header's `kid`. A token without it names its key (Axinom) or at least its issuer in the payload.
    package let keyID: String?

    /// The bytes that are signed: the first two parts as they were sent, with the dot between them.
    let signedBytes: ArraySlice<UInt8>
    let payload: [UInt8]
    let signature: [UInt8]

    /// The members of RFC 7515, sections 4.1.2 to 4.1.6 and 4.1.11, that a header must not have.
    private static let forbiddenHeaderNames = ["crit", "jku", "jwk", "x5u", "x5c"]
    /// The types of signed tokens that are no access tokens, although the same key may sign them: of OpenID's logout,
    /// DPoP (RFC 9449), security events (RFC 8417), introspection (RFC 9701), authorisation requests (RFC 9101) and
    /// key binding (SD-JWT).
    private static let otherUses: Set<String> = [
        "logout+jwt", "dpop+jwt", "secevent+jwt", "token-introspection+jwt", "oauth-authz-req+jwt", "kb+jwt",
    ]
    /// A header is read before the signature is checked. Issuers write fewer than ten values.
    private static let headerLimits = JSONLimits(sizeMaximum: sizeMaximum, depthMaximum: 8, valueCountMaximum: 64)

    /// Parses a token.
    ///
    /// An empty signature is not refused here, so that a token with the algorithm `none` gets the error
    /// `algorithmNotServed`. Throws `tokenMalformed`, and `algorithmNotServed` for an unknown algorithm.
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
        if algorithm == .es256, Self.isDER(signature) { throw .tokenMalformed(.signatureInDER) }
    }

    /// Whether a signature for ES256 is a sequence of two integers in DER, which many libraries make, in place of
    /// r ‖ s (RFC 7518, section 3.4).
    private static func isDER(_ signature: [UInt8]) -> Bool {
        signature.count != 64 && signature.count > 2 && signature[0] == 0x30
            && Int(signature[1]) == signature.count - 2 && signature[2] == 0x02
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
        guard let text = type.string, !namesOtherUse(text) else { throw .tokenMalformed(.headerInvalid("typ")) }
    }

    /// Whether a media type names another use. Its case does not count, parameters may follow a semicolon, and
    /// `application/` may be missing (RFC 7515, section 4.1.9).
    private static func namesOtherUse(_ type: String) -> Bool {
        if type == "JWT" { return false }
        let name = type.lowercased().prefix { $0 != ";" }.filter { $0 != " " }
        return otherUses.contains(name.hasPrefix("application/") ? String(name.dropFirst(12)) : name)
    }

    private static func algorithm(of header: JSONObject) throws(EntitlementError) -> SigningAlgorithm {
        guard let member = header["alg"] else { throw .algorithmNotServed }
        guard let name = member.string else { throw .tokenMalformed(.headerInvalid("alg")) }
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw .algorithmNotServed }
        return algorithm
    }

    /// The algorithm that the header of a refused token names; nil if it names none.
    static func algorithmName(in bytes: [UInt8]) -> String? {
        let part = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard let header = try? StrictJSON.object(try decode(part), limits: headerLimits) else { return nil }
        return header["alg"]?.string
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
