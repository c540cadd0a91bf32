import ByteCoding

/// What the log says of a token that was refused, beside the reason.
package struct TokenDiagnosis: Equatable, Sendable {
    /// The key id that the token names. No signature vouches for it.
    package var keyID: String?
    /// The issuer that this key belongs to, as it is configured; nil if the key is not known.
    package var issuer: String?
    package var values = CheckedValues()
}

extension TokenVerifier {
    /// Tells of a token that was refused for `error` what an operator needs to mend it.
    ///
    /// No signature is verified again. The payload is read only for a refusal that comes after the signature; of any
    /// other token nothing is told but its key id and its algorithm, since any client can write the rest.
    package func diagnosis(of bytes: [UInt8], refusedFor error: EntitlementError, now: Int64) -> TokenDiagnosis {
        if SealedToken.looksSealed(bytes) { return sealedDiagnosis(of: bytes, error, now) }
        guard let token = try? Token(parsing: bytes) else {
            return TokenDiagnosis(values: Self.values(ofUnparsed: bytes, refusedFor: error))
        }
        let entry = try? issuerAndKey(of: token)
        let named = token.keyID ?? TokenPayload.axinomKeyID(of: token)
        var diagnosis = TokenDiagnosis(keyID: named, issuer: entry?.0.name)
        switch error {
        case .keyUnknown, .keysUnavailable: diagnosis.values = keyValues(of: token)
        case .keyRevoked, .keyRetired:
            diagnosis.values = CheckedValues(found: entry.map { "the key is \($0.1.state.words)" }, expected: "active")
        case .algorithmNotPinned: diagnosis.values = algorithmValues(of: token, entry?.1)
        case .tokenExpired, .tokenNotYetValid: diagnosis.values = values(of: token, now: now)[.time] ?? CheckedValues()
        case .sessionEnded(.expired):
            if let claims = try? TokenPayload.read(token), let times = try? TokenTimes(of: claims) {
                diagnosis.values = timeValues(of: times, now: now)
            }
        case .lifeTooLong: diagnosis.values = values(of: token, now: now)[.life] ?? CheckedValues()
        case .issuerMismatch, .audienceMismatch:
            diagnosis.values = values(of: token, now: now)[.issuerAndAudience] ?? CheckedValues()
        case .signatureInvalid, .claimInvalid, .claimUnsupported:
            diagnosis.values = values(of: token, refusedFor: error) { $0.outline(at: $1) }
        case .tokenMalformed, .tokenAmbiguous, .algorithmNotServed, .contentNotCovered, .streamingNotGranted,
            .offlineNotGranted, .offlineOutlivesLease, .rightNotStarted, .rightEnded, .profileUnknown, .tokenRevoked,
            .subjectDisabled, .deviceRevoked, .contentRevoked, .sessionKilled, .sessionEnded,
            .tokenOfAnotherServer, .sessionOfAnotherServer, .deviceMismatch, .addressDenied, .countryDenied,
            .outputNotAllowed, .securityLevelTooLow, .cryptoFailed:
            break
        }
        return diagnosis
    }

    private func sealedDiagnosis(of bytes: [UInt8], _ error: EntitlementError, _ now: Int64) -> TokenDiagnosis {
        guard let token = try? SealedToken(parsing: bytes) else { return TokenDiagnosis() }
        let entry = try? sealingEntry(of: token)
        var diagnosis = TokenDiagnosis(keyID: "\(token.keyID)", issuer: entry?.issuer.name)
        switch error {
        case .keyUnknown: diagnosis.values = sealingKeyValues(of: token)
        case .tokenExpired, .tokenNotYetValid, .lifeTooLong:
            // The fields are sealed, so only the issuer has written them.
            guard let entry, let contents = try? token.open(with: entry.key), let times = try? contents.times() else {
                break
            }
            var values: [TokenExplanation.Check: CheckedValues] = [:]
            add(times, entry.issuer, now: now, to: &values)
            diagnosis.values = values[error == .lifeTooLong ? .life : .time] ?? CheckedValues()
        default: break  // The cause says it all.
        }
        return diagnosis
    }

    /// What is found and expected of a compact token that was not parsed.
    static func values(ofUnparsed bytes: [UInt8], refusedFor error: EntitlementError) -> CheckedValues {
        switch error {
        case .tokenMalformed(let fault): return CheckedValues(expected: fault.expected)
        case .algorithmNotServed:
            let served = SigningAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            return CheckedValues(
                found: Token.algorithmName(in: bytes).map { "alg \(ExplainedText.shown($0))" } ?? "no alg",
                expected: "one of \(served): the one that is configured for the key")
        default: return CheckedValues()  // Parsing throws only the two cases above.
        }
    }

    /// The signature or the claim for which a token is refused, and what it should be. `show` writes the claim's value.
    /// Empty for a refusal because of something else.
    func values(
        of token: Token, refusedFor error: EntitlementError, showing show: (JSONNode, String) -> String
    ) -> CheckedValues {
        switch error {
        case .signatureInvalid: return signatureValues(of: token)
        case .claimInvalid(let path):
            return CheckedValues(found: claim(path, of: token, show), expected: ClaimForm.expected(at: path))
        case .claimUnsupported(let path):
            guard let stranger = stranger(in: token), let name = stranger.path else {
                return CheckedValues(
                    found: claim(path, of: token, show), expected: "only claims that this server enforces")
            }
            return CheckedValues(found: claim(name, of: token, show), expected: stranger.expected)
        default: return CheckedValues()  // Their values come from elsewhere.
        }
    }

    private func signatureValues(of token: Token) -> CheckedValues {
        let key = (try? issuerAndKey(of: token))?.1
        let size = token.signature.count
        return CheckedValues(
            found: size == key?.signatureSize ?? size
                ? "a signature that another key has made, or altered bytes" : "a signature of \(size) bytes",
            expected: key.map {
                "a signature of \($0.algorithm.rawValue), of \($0.signatureSize) bytes, by the key that is configured"
            })
    }

    /// Reads the claims once more, to find the name of an unknown member, which the error keeps out.
    private func stranger(in token: Token) -> ClaimObject.Stranger? {
        guard let (issuer, key) = try? issuerAndKey(of: token) else { return nil }
        let stranger = ClaimObject.Stranger()
        guard let payload = try? TokenPayload.read(token, noting: stranger),
            let times = try? TokenTimes(of: payload, in: issuer.dialect)
        else { return nil }
        _ = try? Claims(payload, Claims.Verified(issuer: issuer, keyID: key.id, keyEnd: nil, times: times))
        return stranger
    }

    private func claim(_ path: String, of token: Token, _ show: (JSONNode, String) -> String) -> String {
        let name = ExplainedText.shown(path)
        guard let payload = try? TokenPayload.read(token) else { return name }
        if let node = payload.node(at: path) { return "\(name): \(show(node, path))" }
        let other = payload.misspelling(of: path).map { ", but there is \(ExplainedText.shown($0))" } ?? ""
        return "\(name): absent\(other)"
    }
}

extension TokenFault {
    /// What was expected in place of the fault; nil for a sealed token.
    fileprivate var expected: String? {
        switch self {
        case .tooLarge: "at most \(Token.sizeMaximum) bytes"
        case .notThreeParts, .notBase64URL:
            "three parts of base64url with dots between them, and nothing before or after them"
        case .fieldsMalformed: nil
        case .notJSON, .notAnObject: "a header and a payload that are JSON objects, without repeated names"
        case .headerInvalid("typ"): "the typ JWT or at+jwt, or no typ"
        case .headerInvalid("kid"): "a kid that is a text of at most \(VerificationKey.idSizeMaximum) bytes"
        case .headerInvalid(let name): "a text in \(name)"
        case .headerForbidden(let name): "a header without \(name)"
        case .signatureInDER: "r and s as 64 bytes"
        }
    }
}

extension ClaimObject.Stranger {
    /// The members that are known at the place, and the one that was probably meant.
    fileprivate var expected: String {
        let name = path.flatMap { $0.split(separator: ".").last }.map { String($0) } ?? ""
        let meant = NearestName.of(name, among: vocabulary).map { ", probably \($0)" } ?? ""
        return "a member that is known\(meant): \(vocabulary.joined(separator: ", "))"
    }
}

extension JSONNode {
    /// The words of the native vocabulary whose values are words themselves, or limits in time.
    private static let telling: Set<Substring> = [
        "mode", "hdcp", "min_level", "bind", "profile", "start", "end", "content", "content_prefix", "countries", "ips",
        "iss", "aud", "begin_date", "expiration_date",
    ]

    /// Numbers and booleans as they are, and texts of claims that hold words. Of any other value only its kind: a text
    /// may name a viewer or a device, and some dialects carry keys.
    fileprivate func outline(at path: String) -> String {
        if number != nil || bool != nil || isNull { return ExplainedText.shown(self) }
        let name = path.split { $0 == "." || $0 == "[" }.last { $0.last != "]" } ?? ""
        if string != nil || array != nil, Self.telling.contains(name) { return ExplainedText.shown(self) }
        if let string { return "a text of \(string.utf8.count) bytes" }
        if let array { return "a list of \(array.count)" }
        return "an object"
    }
}
