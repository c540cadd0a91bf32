import HTTPMessages
import Licensing

extension Problem {
    /// For input that never became a request.
    init(for problem: HTTPProblem) {
        let code = Self.code(of: problem)
        self.init(code, retryAfterSeconds: code == .overloaded ? 1 : nil)
        if problem == .methodNotImplemented { detail = "The request has another method than \(Self.knownMethods)" }
    }

    /// The text of the client's method is not told.
    private static let knownMethods = HTTPMethod.allCases.map(\.rawValue).joined(separator: ", ")

    private static func code(of problem: HTTPProblem) -> ProblemCode {
        switch problem {
        case .malformed: .badRequest
        case .headTimeout, .bodyTimeout: .requestTimeout
        case .bodyTooLarge: .bodyTooLarge
        case .targetTooLong: .uriTooLong
        case .headTooLarge: .headTooLarge
        case .expectationFailed: .expectationFailed
        case .overloaded: .overloaded
        case .methodNotImplemented, .transferCodingNotImplemented: .notImplemented
        case .versionNotSupported: .versionNotSupported
        }
    }
}
