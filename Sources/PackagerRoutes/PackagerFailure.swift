import Administration
import ByteCoding
import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PackagerAPI
import Records
import RouteKit
import Telemetry

/// Why a packager gets no keys. In SPEKE the answer is a status and a text, and at `/v1/keys` a problem in JSON.
struct PackagerFailure: Error, Sendable {
    let code: ProblemCode
    /// The text for the packager, without a full stop. It has nothing secret.
    let text: String
    /// The cause for the log.
    let cause: String
    /// The shortest wait before another attempt, in seconds; nil if waiting does not help.
    var retryAfterSeconds: Int64?
    /// The member of the body or the parameter that is wrong; nil if no single one is wrong.
    var member: String?
    /// The packager that sent the request; nil if it is not known.
    var packager: Packager?
    /// What the log, the memory and the metrics have besides the cause. Nothing of it is secret.
    private(set) var facts: RefusalFacts

    init(
        _ code: ProblemCode, _ text: String, cause: String? = nil, found: String? = nil, expected: String? = nil,
        retryAfterSeconds: Int64? = nil, member: String? = nil
    ) {
        facts = RefusalFacts(found: found, expected: expected)
        self.code = code
        self.text = text
        self.cause = cause ?? text
        self.retryAfterSeconds = retryAfterSeconds
        self.member = member
    }

    /// The same failure, of a request that is about this content and, unless nil, this key.
    func about(_ contentID: ContentID?, _ keyID: KeyID? = nil) -> PackagerFailure {
        var failure = self
        failure.facts[.content] = facts[.content] ?? contentID?.text
        failure.facts[.keyID] = facts[.keyID] ?? keyID?.description
        return failure
    }

    /// The same failure, for this value that was found.
    func finding(_ found: String) -> PackagerFailure {
        var failure = self
        failure.facts[.found] = found
        return failure
    }

    /// The same failure with another code.
    func with(_ code: ProblemCode) -> PackagerFailure {
        var failure = PackagerFailure(
            code, text, cause: cause, retryAfterSeconds: retryAfterSeconds, member: member)
        failure.facts = facts
        return failure
    }

    /// The failure for a refusal by the gate. It is the same for all wrong credentials; only the log shows the case.
    init(_ refusal: PackagerGate.Refusal, _ values: CheckedValues) {
        switch refusal {
        case .plaintext:
            self.init(
                .packagerForbidden, "Credentials of packagers are accepted only over TLS", cause: refusal.cause.text)
        case .credential:
            self.init(
                .packagerInvalid, "The packager's credential is missing or wrong", cause: refusal.cause.text)
        case .slowed, .rate:
            self.init(
                .rateLimited, "There were too many requests", cause: refusal.cause.text,
                retryAfterSeconds: refusal.retryAfterSeconds)
        }
        facts.add(values)
        facts[.credential] = refusal.packager.map(Packager.actor)
    }

    static let tooMuchToDo = PackagerFailure(
        .overloaded, "The server is overloaded", found: "too many requests of packagers under way",
        expected: "at most \(PackagerLoop.requestsMaximum)", retryAfterSeconds: 1)

    /// The packager lacks the scope, or the content is not one of its contents. The packager is told the same in both
    /// cases.
    static func forbidden(
        _ scope: Packager.Scope, of contentID: ContentID, to packager: Packager,
        _ text: String = "This packager may not have keys of this content"
    ) -> PackagerFailure {
        let hasScope = packager.scopes.contains(scope)
        return PackagerFailure(
            .packagerForbidden, text,
            found: hasScope ? "content \(contentID.text)" : "the scopes: \(packager.scopeWords)",
            expected: hasScope ? "contents: \(packager.contentWords)" : "the scope \(scope.rawValue)"
        ).about(contentID)
    }

    static func unpinned(_ recipient: Certificate, of packager: Packager) -> PackagerFailure {
        PackagerFailure(
            .packagerForbidden, "A DeliveryKey certificate is not one that the server has pinned for this packager",
            found: "a certificate with \(recipient.fingerprintWords)", expected: "pinned: \(packager.pinWords)")
    }

    static func encryptionRequired(of packager: Packager) -> PackagerFailure {
        PackagerFailure(
            .packagerForbidden,
            "This packager gets only encrypted keys: ask by SPEKE, with a DeliveryDataList of its pinned certificates",
            found: "a request for keys in the clear", expected: "a DeliveryDataList with: \(packager.pinWords)")
    }

    init(_ error: CPIXError) {
        let isOurs = error.status >= 500
        self.init(
            isOurs ? .internalError : .cpixRejected, error.text, cause: Self.cause(of: error), found: error.found,
            expected: error.expected)
        facts[.keyID] = error.keyID
    }

    /// The answer's words, which are the contract's own, and for a document that cannot be read why not.
    private static func cause(of error: CPIXError) -> String {
        if case .document(let fault) = error { return "\(error.text): \(fault)" }
        return error.text
    }

    init(_ error: KeyDeskError, of contentID: ContentID, to packager: Packager) {
        switch error {
        case .conflict(let keyID, .severalKeys):
            self.init(
                .keyConflict, "Several live keys have this track and period; name one by its key id",
                found: "several keys, one of them \(keyID)", expected: "one key")
        case .conflict(let keyID, let conflict):
            self.init(
                .keyConflict, "KID \(keyID) \(conflict.explanation)", found: conflict.explanation,
                expected: "the key as it is stored")
        case .ivEqualsKey(let keyID):
            self.init(
                .keyConflict,
                "The initialization vector\(keyID.map { " of KID \($0)" } ?? "") must not be the key",
                found: "an IV with the bytes of the key", expected: "another IV")
        case .creationNotAllowed:
            self = .forbidden(
                .create, of: contentID, to: packager, "A key does not exist, and this packager may not create keys")
        case .store(.unavailable(let outage)):
            self.init(
                .storageUnavailable, "The key store cannot be reached", cause: "key store: \(outage)",
                retryAfterSeconds: 1)
        case .store(.keyIDSpellsContent(let keyID, let other)):
            self.init(
                .keyConflict, "KID \(keyID) spells the content id \(other), so only one of the two can exist",
                found: "KID \(keyID), and a key of another content", expected: "another KID or content id")
            facts[.keyID] = keyID.description
        case .store(.periodTooFar(_, let period, let newest)):
            self.init(
                .keyConflict,
                "Period \(period) is more than \(LivePeriods.jumpMaximum) after the content's newest period \(newest)",
                found: "period \(period)",
                expected: "at most period \(UInt64(newest) + UInt64(LivePeriods.jumpMaximum))")
        case .store(let error): self.init(.internalError, "The keys are not available", cause: "key store: \(error)")
        case .ledger(let error):
            self.init(
                .storageUnavailable, "The keys cannot be recorded", cause: "ledger: \(error)", retryAfterSeconds: 1)
        case .cryptography(let error): self.init(.internalError, "The keys are not available", cause: "\(error)")
        }
        self = about(contentID, error.keyID)
    }

    init(_ error: KeyExportError) {
        switch error {
        case .noKey: self.init(.keyNotFound, "The content has no live key that matches the query")
        case .oneKeyOnly:
            self.init(
                .requestInvalid, "This format has room for one key, but several match; add track or period",
                member: "format")
        case .contract(let fault):
            self.init(
                .requestInvalid, "These keys cannot be in one CPIX document; add track or period",
                cause: Self.cause(of: fault),
                member: "format")
        case .schemeNotPlayed(let keyID, let scheme):
            self.init(
                .requestInvalid,
                "This format is for FairPlay, which does not play \(scheme.rawValue), the scheme of KID \(keyID)",
                member: "format")
        case .severalContents:
            self.init(.internalError, "The keys have no URLs", cause: "the keys are of several contents")
        case .url(let fault):
            self.init(
                .requestInvalid, "A key has no URL by the server's keys.skdTemplate: \(fault)",
                found: "a key without a URL", expected: "keys for which keys.skdTemplate gives URLs")
        case .sharedURL:
            self.init(
                .requestInvalid, "Two of the keys have one URL by the server's keys.skdTemplate",
                found: "two keys with one URL", expected: "keys for which keys.skdTemplate gives different URLs")
        }
    }

    /// The outcome under which a metric counts the request.
    var outcome: PackagerMetrics.Outcome {
        switch code {
        case .rateLimited, .overloaded: .slowed
        default: code.isOurFault ? .failed : .refused  // Every other code is the server's fault or the packager's.
        }
    }
}

extension KeyDeskError {
    /// The key that the error is about; nil if it is about no single key.
    fileprivate var keyID: KeyID? {
        switch self {
        case .conflict(let keyID, _): keyID
        case .ivEqualsKey(let keyID): keyID
        case .creationNotAllowed, .store, .ledger, .cryptography: nil
        }
    }
}
