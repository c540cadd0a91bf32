import ByteCoding
package import Entitlements
import HTTPMessages
import KeyCrypto
import Licensing

/// Why a token is not made.
struct ExpressPlayRefusal: Error {
    package let code: ExpressPlayCode
    let status: HTTPStatus
    let cause: RefusalCause
    var retryAfterSeconds: Int64?
    /// The parameter or member of the request that is at fault, if it is one.
    var member: String?

    /// A refusal with the status that its code has if nothing else is wrong.
    init(_ code: ExpressPlayCode, _ cause: RefusalCause? = nil, retryAfterSeconds: Int64? = nil) {
        self.init(code, code.status, cause, retryAfterSeconds: retryAfterSeconds)
    }

    /// The code's sentence, and which part of the request is meant.
    var message: String { member.map { "\(code.message): \($0)" } ?? code.message }

    /// The same refusal, which names the member of the request that is at fault.
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
        default: .badRequest  // Everything else is an argument.
        }
    }
}

/// An error as ExpressPlay's callers read it: a page, or an object with `errorCode`, `errorMessage` and `eventId`.
package struct ExpressPlayErrorBody {
    /// Nil for what ExpressPlay has no code for.
    package let code: Int?
    let message: String
    let requestID: String

    package init(code: Int?, message: String, requestID: String) {
        self.code = code
        self.message = message
        self.requestID = requestID
    }

    package func contentType(_ format: ExpressPlayForm.ErrorFormat) -> String {
        switch format {
        case .html: "text/html; charset=utf-8"
        case .json: "application/json"
        }
    }

    package func bytes(_ format: ExpressPlayForm.ErrorFormat) -> [UInt8] {
        switch format {
        case .html:
            // All that can come from the request is a parameter's name, without a character that HTML knows.
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
