package import ByteCoding

/// Why a token, or what it grants, does not allow a licence.
///
/// No case carries text of the token: names of claims are those of Latchkey's own vocabulary. `Licensing` has the one
/// table of what a client hears of each case (`ProblemCode`).
package enum EntitlementError: Error, Equatable, Sendable {
    /// The bytes are not a token of the accepted form.
    case tokenMalformed(TokenFault)
    /// Several tokens were presented, and it is not clear which one was meant.
    case tokenAmbiguous
    /// The token's algorithm is not one that a key can be pinned to, or not the one that this key is pinned to.
    case algorithmNotPinned
    /// No key has the token's key id, or the token names none.
    case keyUnknown
    /// The key that the token names was revoked.
    case keyRevoked
    /// The key that the token names no longer verifies: its retirement has ended.
    case keyRetired
    /// The signature was not made by the pinned key over these bytes.
    case signatureInvalid
    /// `exp` has passed, the leeway included.
    case tokenExpired(agoSeconds: Int64)
    /// `nbf` or `iat` lies in the future by more than the leeway.
    case tokenNotYetValid(inSeconds: Int64)
    /// The token lives longer than its issuer may grant, or does not say when its life began.
    case lifeTooLong
    /// `iss` is not the issuer that the key belongs to.
    case issuerMismatch
    /// `aud` does not name this server.
    case audienceMismatch
    /// A claim is missing, or its value has the wrong type, form or size.
    case claimInvalid(String)
    /// The token carries a restriction that this server cannot enforce.
    case claimUnsupported(String)
    /// No right covers the content.
    case contentNotCovered
    /// The right covers the content for offline use only.
    case streamingNotGranted
    /// The right covers the content for streaming only.
    case offlineNotGranted
    /// The right grants offline use, but has a lease, which a licence that the device keeps would outlive.
    case offlineOutlivesLease
    /// The right begins later; FairPlay cannot delay a licence, so the client must ask again.
    case rightNotStarted(retryAfterSeconds: Int64)
    /// The right has ended.
    case rightEnded
    /// The right names a profile that the configuration does not have.
    case profileUnknown
    /// The token was revoked.
    case tokenRevoked
    /// The token's subject or issuer may have nothing.
    case subjectDisabled
    /// The device may have nothing.
    case deviceRevoked
    /// The content is revoked for all viewers.
    case contentRevoked
    /// The session was ended.
    case sessionKilled
    /// The session token renews nothing any more.
    case sessionEnded(SessionEnd)
    /// The token is of a kind that another server makes for itself.
    case tokenOfAnotherServer
    /// The same, of a session. It may stand beside a content token, which then decides.
    case sessionOfAnotherServer
    /// The token is pinned to another device, or the device is not known.
    case deviceMismatch
    /// The client's address is not among the token's, or not known.
    case addressDenied
    /// The client's country is not among the token's, or not known.
    case countryDenied
    /// The pictures go to an AirPlay receiver or an adapter, which the right forbids.
    case outputNotAllowed
    /// The device is known to be weaker than the right demands.
    case securityLevelTooLow
    /// A digest could not be computed; the fault is ours.
    case cryptoFailed

    /// After how many seconds the same request can succeed, if it lacks nothing but time.
    package var retryAfterSeconds: Int64? {
        switch self {
        case .rightNotStarted(let seconds): seconds
        case .tokenMalformed, .tokenAmbiguous, .algorithmNotPinned, .keyUnknown, .keyRevoked, .keyRetired,
            .signatureInvalid,
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
    /// The token has more than `Token.sizeMaximum` bytes; nothing of it was read.
    case tooLarge(size: Int)
    /// A compact token is a header, a payload and a signature with dots between; the first two are never empty.
    case notThreeParts
    /// A part is not the one canonical base64url text of its bytes.
    case notBase64URL(TextCodingError)
    /// A sealed token's fields are not in order.
    case fieldsMalformed(ByteReaderError)
    /// The header or the payload is not strict JSON, repeated member names included.
    case notJSON(JSONError)
    /// The header or the payload is JSON, but no object.
    case notAnObject
    /// A header member has the wrong type, size or value.
    case headerInvalid(String)
    /// The header has a member that a token must not have: the keys are the server's, and no extension is known.
    case headerForbidden(String)
}

extension EntitlementError: CustomStringConvertible {
    /// One line for the log, without any text of the token.
    package var description: String {
        switch self {
        case .tokenMalformed(let fault): "the token is malformed: \(fault)"
        case .tokenAmbiguous: "several tokens were presented"
        case .algorithmNotPinned: "the token's algorithm is not the one pinned to its key"
        case .keyUnknown: "no key has the token's key id"
        case .keyRevoked: "the token's key was revoked"
        case .keyRetired: "the token's key has been retired"
        case .signatureInvalid: "the token's signature does not hold"
        case .tokenExpired(let seconds): "the token expired \(seconds) s ago"
        case .tokenNotYetValid(let seconds): "the token becomes valid in \(seconds) s"
        case .lifeTooLong: "the token's life is longer than its issuer may grant, or has no beginning"
        case .issuerMismatch: "the token's issuer is not the one its key belongs to"
        case .audienceMismatch: "the token is not meant for this server"
        case .claimInvalid(let name): "the claim \(name) is missing or invalid"
        case .claimUnsupported(let name): "the claim \(name) restricts what this server cannot enforce"
        case .contentNotCovered: "no right of the token covers the content"
        case .streamingNotGranted: "the right is for offline use only"
        case .offlineNotGranted: "the right is for streaming only"
        case .offlineOutlivesLease: "the right has a lease, which an offline licence would outlive"
        case .rightNotStarted(let seconds): "the right begins in \(seconds) s"
        case .rightEnded: "the right has ended"
        case .profileUnknown: "the right names a profile that is not configured"
        case .tokenRevoked: "the token was revoked"
        case .subjectDisabled: "the token's subject or issuer is disabled"
        case .deviceRevoked: "the device is revoked"
        case .contentRevoked: "the content is revoked"
        case .sessionKilled: "the session was ended"
        case .sessionEnded(let end): "the session token renews nothing any more: \(end)"
        case .tokenOfAnotherServer: "the token is another server's"
        case .sessionOfAnotherServer: "the session token is another server's, and no content token is beside it"
        case .deviceMismatch: "the device is not the one that the token is pinned to"
        case .addressDenied: "the client's address is not among the token's"
        case .countryDenied: "the client's country is not among the token's"
        case .outputNotAllowed: "the right forbids the output that the device uses"
        case .securityLevelTooLow: "the device is weaker than the right demands"
        case .cryptoFailed: "a digest could not be computed"
        }
    }
}

extension TokenFault: CustomStringConvertible {
    /// One line for the log, without any text of the token.
    package var description: String {
        switch self {
        case .tooLarge(let size): "\(size) bytes are more than the \(Token.sizeMaximum) that are allowed"
        case .notThreeParts: "not three parts with dots between"
        case .notBase64URL: "a part is not canonical base64url"
        case .fieldsMalformed(let error): "the sealed fields are malformed: \(error)"
        case .notJSON(let error): "not strict JSON: \(error)"
        case .notAnObject: "not a JSON object"
        case .headerInvalid(let name): "the header member \(name) is invalid"
        case .headerForbidden(let name): "the header member \(name) is not allowed"
        }
    }
}
