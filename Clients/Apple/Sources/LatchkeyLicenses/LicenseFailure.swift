import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why there is no licence.
public enum LicenseFailure: Error, Equatable, Sendable {
    /// The server has refused it.
    case refused(LicenseProblem)
    /// No answer came.
    case unreachable
    /// The answer is not a licence, and not a refusal of the server.
    case notALicense

    /// What an app should do now.
    public var advice: Advice {
        switch self {
        case .refused(let problem): problem.advice
        case .unreachable: .tryAgain(after: nil)
        case .notALicense: .giveUp
        }
    }

    public enum Advice: Equatable, Sendable {
        /// The token is missing, has ended or is not good: get a new one from the app's own service, and ask again with
        /// it.
        case getToken
        /// Ask again, after so many seconds if the server has named a time.
        case tryAgain(after: TimeInterval?)
        /// Asking again changes nothing: this viewer or this device may not, or something is set up wrongly. Show the
        /// code.
        case giveUp
    }
}

/// A refusal of the server (`application/problem+json`, RFC 9457).
public struct LicenseProblem: Equatable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// What went wrong, as a word that does not change between versions; nil if something before the server has
    /// answered.
    public let code: String?
    /// A sentence for people who look into it.
    public let detail: String?
    /// What to do about it.
    public let hint: String?
    /// Finds the request in the server's log.
    public let requestID: String?
    /// After how many seconds to ask again.
    public let retryAfter: TimeInterval?

    /// Reads a refusal. The header fields say the most important of it again, for an answer whose body a proxy has
    /// replaced.
    init(_ body: Data, _ response: HTTPURLResponse) {
        struct Members: Decodable {
            var code: String?
            var detail: String?
            var hint: String?
            var requestID: String?

            enum CodingKeys: String, CodingKey {
                case code, detail, hint
                case requestID = "request_id"
            }
        }
        let members = (try? JSONDecoder().decode(Members.self, from: body)) ?? Members()
        status = response.statusCode
        code = response.value(forHTTPHeaderField: "X-Error-Code") ?? members.code
        detail = members.detail
        hint = members.hint
        requestID = response.value(forHTTPHeaderField: "X-Request-Id") ?? members.requestID
        retryAfter = response.seconds("Retry-After")
    }

    /// What an app should do now.
    public var advice: LicenseFailure.Advice {
        switch (status, code) {
        case (401, _), (_, "session_expired"), (_, "session_killed"): .getToken
        case (408, _), (429, _), (500..., _): .tryAgain(after: retryAfter)
        default: .giveUp
        }
    }
}
