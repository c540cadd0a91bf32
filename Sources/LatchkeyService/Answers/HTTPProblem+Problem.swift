import HTTPMessages
import Licensing

extension Problem {
    /// For input that never became a request.
    init(for problem: HTTPProblem) {
        let code = Self.code(of: problem)
        self.init(code, retryAfterSeconds: code == .overloaded ? 1 : nil)
    }

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
