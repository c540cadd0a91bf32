package import ByteCoding

/// Why a token does not allow a license.
///
/// No case contains text of the token: names of claims come from Latchkey's own vocabularies. `ProblemCode` in
/// `Licensing` has the table of the answers that clients get.
package enum EntitlementError: Error, Equatable, Sendable {
    /// The bytes are not a token of the accepted form.
    case tokenMalformed(TokenFault)
    /// The request has several different tokens, and it is unclear which one counts.
    case tokenAmbiguous
    /// The token names no algorithm, or one that no key can have, as `none`.
    case algorithmNotServed
    /// The token's algorithm is not the one that is pinned to its key.
    case algorithmNotPinned
    /// No key has the token's key id. Or the token names no key, and `iss` names no issuer with one key for its
    /// algorithm.
    case keyUnknown
    /// No key has the token's key id, and keys that could have it come from a URL that has not given them. The fault is
    /// not the token's.
    case keysUnavailable
    /// The key that the token names was revoked.
    case keyRevoked
    /// The key that the token names verifies no more tokens, because its time as a retiring key has ended.
    case keyRetired
    /// The signature was not made by the pinned key over these bytes.
    case signatureInvalid
    /// `exp` and the leeway after it have passed.
    case tokenExpired(agoSeconds: Int64)
    /// `nbf` or `iat` lies in the future by more than the leeway.
    case tokenNotYetValid(inSeconds: Int64)
    /// The token is valid for longer than its issuer may grant, or does not say from when on.
    case lifeTooLong
    /// `iss` is not the issuer to which the key belongs.
    case issuerMismatch
    /// `aud` does not name this server.
    case audienceMismatch
    /// A claim is missing, or its value has the wrong type, form or size.
    case claimInvalid(String)
    /// The token has a restriction that this server cannot enforce.
    case claimUnsupported(String)
    /// No right covers the content.
    case contentNotCovered
    /// The right covers the content for offline use only.
    case streamingNotGranted
    /// The right covers the content for streaming only.
    case offlineNotGranted
    /// The right grants offline use, but also has a lease. A license that the device keeps would outlast the lease.
    case offlineOutlivesLease
    /// The right begins later. FairPlay cannot delay a license, so the client must ask again.
    case rightNotStarted(retryAfterSeconds: Int64)
    /// The right has ended.
    case rightEnded
    /// The right names a profile that the configuration does not have.
    case profileUnknown
    /// The token was revoked.
    case tokenRevoked
    /// The token's subject or issuer is disabled.
    case subjectDisabled
    /// The device is revoked.
    case deviceRevoked
    /// The content is revoked for all viewers.
    case contentRevoked
    /// The session was ended.
    case sessionKilled
    /// The session token can no longer renew a license.
    case sessionEnded(SessionEnd)
    /// The token is of a kind that another server makes for its own use.
    case tokenOfAnotherServer
    /// The token is a session token that another server makes for its own use.
    ///
    /// If the request also has a content token, that one counts.
    case sessionOfAnotherServer
    /// The token is pinned to another device, or the device is not known.
    case deviceMismatch
    /// The token does not allow the client's address, or the address is unknown.
    case addressDenied
    /// The token does not allow the client's country, or the country is unknown.
    case countryDenied
    /// The content would go to an AirPlay receiver or an AV adapter, which the right forbids.
    case outputNotAllowed
    /// The security level of the device is known, and is lower than the right demands.
    case securityLevelTooLow
    /// OpenSSL could not compute a digest or check a signature. The fault is in this server.
    case cryptoFailed

    /// The number of seconds after which the same request can succeed; nil if time alone does not help.
    package var retryAfterSeconds: Int64? {
        switch self {
        case .rightNotStarted(let seconds): seconds
        case .keysUnavailable: 2
        case .tokenMalformed, .tokenAmbiguous, .algorithmNotServed, .algorithmNotPinned, .keyUnknown, .keyRevoked,
            .keyRetired, .signatureInvalid,
            .tokenExpired, .tokenNotYetValid, .lifeTooLong, .issuerMismatch, .audienceMismatch, .claimInvalid,
            .claimUnsupported, .contentNotCovered,
            .streamingNotGranted, .offlineNotGranted, .offlineOutlivesLease, .rightEnded, .profileUnknown,
            .tokenRevoked,
            .subjectDisabled, .deviceRevoked, .contentRevoked, .sessionKilled, .sessionEnded, .tokenOfAnotherServer,
            .sessionOfAnotherServer,
            .deviceMismatch, .addressDenied, .countryDenied,
            .outputNotAllowed, .securityLevelTooLow, .cryptoFailed:
            nil
        }
    }
}

/// What is wrong with the form of a token.
package enum TokenFault: Error, Equatable, Sendable {
    /// The token has more than `Token.sizeMaximum` bytes and was not parsed.
    case tooLarge(size: Int)
    /// The token does not have three parts separated by dots: a header, a payload and a signature. The header and the
    /// payload must not be empty.
    case notThreeParts
    /// A part is not canonical base64url.
    case notBase64URL(TextCodingError)
    /// The fields of a sealed token are truncated.
    case fieldsMalformed(ByteReaderError)
    /// The header or the payload is not strict JSON. JSON with repeated member names is not strict.
    case notJSON(JSONError)
    /// The header or the payload is JSON, but not an object.
    case notAnObject
    /// A header member has the wrong type, size or value.
    case headerInvalid(String)
    /// The header has a member that a token must not have: one that brings a key along, or names an extension.
    case headerForbidden(String)
    /// The signature of a token with ES256 is in DER.
    case signatureInDER
}

extension EntitlementError: CustomStringConvertible {
    /// One line for the log, without any text of the token.
    package var description: String {
        switch self {
        case .tokenMalformed(let fault): "the token is malformed: \(fault)"
        case .tokenAmbiguous: "several tokens were presented"
        case .algorithmNotServed: "the token names no algorithm that this server verifies"
        case .algorithmNotPinned: "the token's algorithm is not the one pinned to its key"
        case .keyUnknown: "no key has the token's key id"
        case .keysUnavailable: "no key has the token's key id, and the keys of an issuer's URL are not known"
        case .keyRevoked: "the token's key was revoked"
        case .keyRetired: "the token's key has been retired"
        case .signatureInvalid: "the token's signature is not valid"
        case .tokenExpired(let seconds): "the token expired \(seconds) s ago"
        case .tokenNotYetValid(let seconds): "the token becomes valid in \(seconds) s"
        case .lifeTooLong: "the token is valid for longer than its issuer may grant, or does not say from when on"
        case .issuerMismatch: "the token's issuer is not the one to which its key belongs"
        case .audienceMismatch: "the token is not meant for this server"
        case .claimInvalid(let name): "the claim \(name) is missing or invalid"
        case .claimUnsupported(let name): "this server cannot enforce the claim \(name)"
        case .contentNotCovered: "no right of the token covers the content"
        case .streamingNotGranted: "the right is for offline use only"
        case .offlineNotGranted: "the right is for streaming only"
        case .offlineOutlivesLease: "the right has a lease, which an offline license would outlast"
        case .rightNotStarted(let seconds): "the right begins in \(seconds) s"
        case .rightEnded: "the right has ended"
        case .profileUnknown: "the right names a profile that is not configured"
        case .tokenRevoked: "the token was revoked"
        case .subjectDisabled: "the token's subject or issuer is disabled"
        case .deviceRevoked: "the device is revoked"
        case .contentRevoked: "the content is revoked"
        case .sessionKilled: "the session was ended"
        case .sessionEnded(let end): "the session token can no longer renew a license: \(end)"
        case .tokenOfAnotherServer: "the token was made by another server for its own use"
        case .sessionOfAnotherServer: "the session token was made by another server, and there is no content token"
        case .deviceMismatch: "the device is not the one that the token is pinned to"
        case .addressDenied: "the token does not allow the client's address"
        case .countryDenied: "the token does not allow the client's country"
        case .outputNotAllowed: "the right forbids the output that the device uses"
        case .securityLevelTooLow: "the device is weaker than the right demands"
        case .cryptoFailed: "OpenSSL could not compute a digest or check a signature"
        }
    }
}

extension TokenFault: CustomStringConvertible {
    /// One line for the log, without any text of the token.
    package var description: String {
        switch self {
        case .tooLarge(let size): "it has \(size) bytes, more than the limit of \(Token.sizeMaximum)"
        case .notThreeParts: "it does not have three parts separated by dots"
        case .notBase64URL: "a part is not canonical base64url"
        case .fieldsMalformed(let error): "the sealed fields are malformed: \(error)"
        case .notJSON(let error): "not strict JSON: \(error)"
        case .notAnObject: "not a JSON object"
        case .headerInvalid(let name): "the header member \(name) is invalid"
        case .headerForbidden(let name): "the header member \(name) is not allowed"
        case .signatureInDER: "the signature is in DER, and ES256 wants r and s as 64 bytes"
        }
    }
}

/// Why a session token can no longer renew a license. The app needs a new entitlement token.
package enum SessionEnd: Equatable, Sendable {
    /// The lease and its grace have ended, or the session has ended.
    case expired
    /// The request comes from another playback.
    case otherPlayback
}

extension SessionEnd: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .expired: "its lease with the grace, or the whole session, is over"
        case .otherPlayback: "the request is of another playback"
        }
    }
}
