package import ByteCoding

/// The answer of the operator's service to a question.
package enum CallbackAnswer: Sendable {
    /// No license. The number and the text come from the service and are meant for the log.
    case denied(error: Int64?, text: String?)
    /// A license under these claims, which use the native vocabulary.
    case policy(JSONObject)
    /// A license under this token, which is verified as if the client had sent it.
    case token([UInt8])
    /// A license to stream the content, with no limits from the service.
    case allowed

    /// The most bytes that an answer may have.
    package static let sizeMaximum = 64 * 1024
    private static let textSizeMaximum = 200

    /// Reads an answer to `question`.
    ///
    /// Unknown members are ignored: a service may send members that are meant for other servers.
    package init(parsing body: [UInt8], to question: CallbackQuestion) throws(CallbackAnswerFault) {
        let object = try Self.object(body)
        guard let message = object["messageID"]?.string, message.hasSameUTF8(as: question.messageID) else {
            throw .anotherMessage
        }
        guard object["version"]?.number?.signed == CallbackQuestion.version else { throw .anotherVersion }
        guard let isAllowed = object["isAllowed"]?.bool else { throw .invalid("isAllowed") }
        guard isAllowed else {
            self = .denied(error: object["error"]?.number?.signed, text: Self.text(object["errorText"]))
            return
        }
        self = try Self.permission(object)
    }

    private static func object(_ body: [UInt8]) throws(CallbackAnswerFault) -> JSONObject {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONReader.parse(body, limits: JSONLimits(sizeMaximum: sizeMaximum, depthMaximum: 16))
        } catch {
            throw .notJSON
        }
        guard let object = node.object else { throw .notJSON }
        return object
    }

    private static func permission(_ object: JSONObject) throws(CallbackAnswerFault) -> CallbackAnswer {
        let policy = object["policy"].flatMap { $0.isNull ? nil : $0 }
        let token = object["entitlement"].flatMap { $0.isNull ? nil : $0 }
        switch (policy, token) {
        case (nil, nil): return .allowed
        case (let policy?, nil):
            guard let object = policy.object else { throw .invalid("policy") }
            return .policy(object)
        case (nil, let token?):
            guard let text = token.string else { throw .invalid("entitlement") }
            return .token(Array(text.utf8))
        // With both members, it would be unclear which one counts.
        case (.some, .some): throw .invalid("entitlement")
        }
    }

    private static func text(_ node: JSONNode?) -> String? {
        node?.string.map { String($0.prefix(textSizeMaximum)) }
    }
}

/// What is wrong with an answer.
package enum CallbackAnswerFault: Error, Equatable, Sendable {
    case notJSON
    /// The answer is to another question.
    case anotherMessage
    case anotherVersion
    /// A member is missing or has another type.
    case invalid(String)
}

extension CallbackAnswerFault: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .notJSON: "it is no JSON object"
        case .anotherMessage: "it is to another question"
        case .anotherVersion: "it is of another version"
        case .invalid(let member): "the member \(member) is missing or has another type"
        }
    }
}

extension Claims {
    /// The members that a service's policy may have.
    ///
    /// Times are not among them: this server sets them, because an answer holds from now on.
    private static let policyVocabulary = [
        "rights", "sub", "jti", "cnf", "device", "session", "limits", "cookie",
    ]

    /// Reads a service's policy as the payload of a token that the issuer `name` made at `now`.
    ///
    /// The claims expire `life` seconds after `now`.
    ///
    /// Throws `claimInvalid` and `claimUnsupported`.
    package static func decided(
        by name: String, policy: JSONObject, now: Int64, life: Int64, enforced: Set<Restriction> = Restriction.enforced
    ) throws(EntitlementError) -> Claims {
        let object = ClaimObject(policy)
        try object.refuseStrangers(to: policyVocabulary)
        let claims = try Claims(native: object, try verified(by: name, now: now, life: life))
        try claims.refuseUnenforced(enforced)
        return claims
    }

    /// Returns the right to stream one content, for an answer that only allows the request.
    package static func decided(
        by name: String, allowing content: CallbackQuestion.Content, now: Int64, life: Int64
    ) throws(EntitlementError) -> Claims {
        Claims(
            try verified(by: name, now: now, life: life), subject: nil, tokenID: nil,
            rights: [Right(.keyIDs([content.keyID]))])
    }

    private static func verified(by name: String, now: Int64, life: Int64) throws(EntitlementError) -> Verified {
        guard let issuedAt = NumericDate(now), let expiresAt = NumericDate(now + life) else {
            throw .claimInvalid("exp")
        }
        return Verified(
            issuer: Issuer(name: name, audience: "", keys: []), keyID: name, keyEnd: nil,
            times: TokenTimes(expiresAt: expiresAt, notBefore: nil, issuedAt: issuedAt))
    }
}
