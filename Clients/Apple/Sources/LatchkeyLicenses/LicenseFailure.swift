import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why there is no license.
public enum LicenseFailure: Error, Equatable, Sendable {
    /// The server has refused the request.
    case refused(LicenseProblem)
    /// No answer came.
    case unreachable
    /// The answer is something else than a license or a refusal of the server.
    case notALicense

    /// What an app should do now.
    public var advice: Advice {
        switch self {
        case .refused(let problem): problem.advice
        case .unreachable: .tryAgain(after: nil)
        case .notALicense: .giveUp
        }
    }

    /// What an app should do if this is the answer to a renewal. An answer without the server's code comes from a
    /// proxy, and says nothing about the lease.
    public var adviceOnRenewal: Advice {
        switch self {
        case .notALicense: .tryAgain(after: nil)
        case .refused(let problem) where problem.code == nil && advice == .giveUp:
            .tryAgain(after: problem.retryAfter)
        default: advice
        }
    }

    public enum Advice: Equatable, Sendable {
        /// The token is missing, expired or not accepted. Get a new one from the app's own service, and ask again with
        /// it.
        case getToken
        /// Ask again, after this number of seconds if the server has named one.
        case tryAgain(after: TimeInterval?)
        /// Asking again does not help: this viewer or device is not allowed, or something is set up wrongly. Show the
        /// code.
        case giveUp
    }
}

/// A refusal of the server (`application/problem+json`, RFC 9457).
public struct LicenseProblem: Equatable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The stable code of the refusal; nil if a proxy has answered instead of the server.
    public let code: String?
    /// A sentence for developers.
    public let detail: String?
    /// A sentence that says what to do.
    public let hint: String?
    /// The request id in the server's log.
    public let requestID: String?
    /// After how many seconds to ask again; nil if the server does not say it.
    public let retryAfter: TimeInterval?

    /// Reads a refusal. Its header fields repeat the most important members, because a proxy may replace the body.
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
