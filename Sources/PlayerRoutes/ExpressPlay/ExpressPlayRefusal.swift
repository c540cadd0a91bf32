import ByteCoding
package import Entitlements
import HTTPMessages
import KeyCrypto
import Licensing

/// The refusal of a token request.
package struct ExpressPlayRefusal: Error {
    let code: ExpressPlayCode
    let status: HTTPStatus
    let cause: RefusalCause
    var retryAfterSeconds: Int64?
    /// The faulty parameter or member of the request, if it is known.
    var member: String?

    /// Makes a refusal with the usual status of its code.
    init(_ code: ExpressPlayCode, _ cause: RefusalCause? = nil, retryAfterSeconds: Int64? = nil) {
        self.init(code, code.status, cause, retryAfterSeconds: retryAfterSeconds)
    }

    /// The sentence of the code and, after a colon, the faulty member.
    var message: String { member.map { "\(code.message): \($0)" } ?? code.message }

    /// Returns the same refusal with the faulty member of the request.
    func naming(_ member: String?) -> ExpressPlayRefusal {
        var refusal = self
        refusal.member = member
        return refusal
    }

    static func cryptography(_ error: CryptoError) -> ExpressPlayRefusal {
        ExpressPlayRefusal(.licenseNotMade, RefusalCause("cryptography: \(error)"))
    }

    init(
        _ code: ExpressPlayCode, _ status: HTTPStatus, _ cause: RefusalCause? = nil, retryAfterSeconds: Int64? = nil
    ) {
        self.code = code
        self.status = status
        self.cause = cause ?? RefusalCause(code.message)
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension ExpressPlayCode {
    fileprivate var status: HTTPStatus {
        switch self {
        case .authenticatorMissing, .authenticatorInvalid: .unauthorized
        case .accountDisabled: .forbidden
        case .quotaExhausted: .tooManyRequests
        case .serviceUnavailable: .serviceUnavailable
        case .licenseNotMade: .internalServerError
        default: .badRequest  // Every other code is about an argument of the request.
        }
    }
}

/// The body of an error in ExpressPlay's formats: an HTML page, or a JSON object with `errorCode`, `errorMessage` and
/// `eventId`.
package struct ExpressPlayErrorBody {
    /// The error code; nil if ExpressPlay has no code for the error.
    package let code: Int?
    package let message: String
    package let requestID: String

    package func contentType(_ format: ExpressPlayForm.ErrorFormat) -> String {
        switch format {
        case .html: "text/html; charset=utf-8"
        case .json: "application/json"
        }
    }

    package func bytes(_ format: ExpressPlayForm.ErrorFormat) -> [UInt8] {
        switch format {
        case .html:
            // The only text that can come from the request is a parameter's name. It has letters, digits, dots, hyphens
            // and underscores only, so it needs no escaping.
            Array(
                """
                <!DOCTYPE html>
                <html><head><title>Error\(code.map { " \($0)" } ?? "")</title></head>
                <body><h1>Error\(code.map { " \($0)" } ?? "")</h1><p>\(message).</p><p>\(requestID)</p></body></html>

                """.utf8)
        case .json:
            JSONWriter.object { writer in
                if let code { writer.member("errorCode", code) }
                writer.member("errorMessage", message + ".")
                writer.member("eventId", requestID)
            }
        }
    }
}
