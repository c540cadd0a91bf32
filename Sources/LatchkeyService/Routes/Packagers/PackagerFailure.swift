import Administration
import ByteCoding
import ContentKeys
import HTTPMessages
import HTTPServing
import Licensing
import PackagerAPI
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

    init(
        _ code: ProblemCode, _ text: String, cause: String? = nil, retryAfterSeconds: Int64? = nil,
        member: String? = nil
    ) {
        self.code = code
        self.text = text
        self.cause = cause ?? text
        self.retryAfterSeconds = retryAfterSeconds
        self.member = member
    }

    /// The failure for a refusal by the gate. It is the same for all wrong credentials; only the log shows the case.
    init(_ refusal: PackagerGate.Refusal) {
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
    }

    static let tooMuchToDo = PackagerFailure(
        .overloaded, "The server is overloaded", retryAfterSeconds: 1)

    static let contentForbidden = PackagerFailure(
        .packagerForbidden, "This packager may not have keys of this content")

    static let unpinnedRecipient = PackagerFailure(
        .packagerForbidden, "A DeliveryKey certificate is not one that the server has pinned for this packager")

    static let encryptionRequired = PackagerFailure(
        .packagerForbidden,
        "This packager gets only encrypted keys: ask by SPEKE, with a DeliveryDataList of its pinned certificates")

    init(_ error: CPIXError) {
        let isOurs = error.status >= 500
        self.init(isOurs ? .internalError : .cpixRejected, error.text, cause: "\(error)")
    }

    init(_ error: KeyDeskError) {
        switch error {
        case .conflict(let keyID, .otherIV): self.init(.keyConflict, CPIXError.ivConflict(keyID: keyID).text)
        case .conflict(_, .severalKeys):
            self.init(.keyConflict, "Several live keys have this track and period; name one by its key id")
        case .conflict(let keyID, let conflict): self.init(.keyConflict, "KID \(keyID) \(conflict.explanation)")
        case .ivEqualsKey(let keyID):
            self.init(.keyConflict, "The initialization vector of KID \(keyID) must not be its key")
        case .creationNotAllowed:
            self.init(.packagerForbidden, "A key does not exist, and this packager may not create keys")
        case .keyLost:
            self.init(
                .keyLost,
                "The key store is older than the last key that was made, so this key may be lost; an operator must"
                    + " restore the newest store, or run latchkey keys accept-restore")
        case .store(.unavailable(let outage)):
            self.init(
                .storageUnavailable, "The key store cannot be reached", cause: "key store: \(outage)",
                retryAfterSeconds: 1)
        case .store(let error): self.init(.internalError, "The keys are not available", cause: "key store: \(error)")
        case .ledger(let error):
            self.init(
                .storageUnavailable, "The keys cannot be recorded", cause: "ledger: \(error)", retryAfterSeconds: 1)
        case .cryptography(let error): self.init(.internalError, "The keys are not available", cause: "\(error)")
        }
    }

    init(_ error: KeyExportError) {
        switch error {
        case .noKey: self.init(.keyNotFound, "The content has no live key that matches the query")
        case .oneKeyOnly:
            self.init(
                .badRequest, "This format has room for one key, but several match; add track or period",
                member: "format")
        case .contract:
            self.init(
                .badRequest, "These keys cannot be in one CPIX document; add track or period", cause: "\(error)",
                member: "format")
        case .schemeNotPlayed(let keyID, let scheme):
            self.init(
                .badRequest,
                "This format is for FairPlay, which does not play \(scheme.rawValue), the scheme of KID \(keyID)",
                member: "format")
        case .severalContents, .url, .sharedURL:
            self.init(.internalError, "The keys have no URLs", cause: "keys.skdTemplate: \(error)")
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
