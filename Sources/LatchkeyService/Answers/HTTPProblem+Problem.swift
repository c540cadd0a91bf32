import HTTPMessages
import Licensing

extension Problem {
    /// For input that never became a request.
    init(for problem: HTTPProblem) {
        self.init(Self.code(of: problem))
    }

    private static func code(of problem: HTTPProblem) -> ProblemCode {
        switch problem {
        case .malformed: .badRequest
        case .headTimeout, .bodyTimeout: .requestTimeout
        case .bodyTooLarge: .bodyTooLarge
        case .targetTooLong: .uriTooLong
        case .headTooLarge: .headTooLarge
        case .expectationFailed: .expectationFailed
        case .methodNotImplemented, .transferCodingNotImplemented: .notImplemented
        case .versionNotSupported: .versionNotSupported
        }
    }
}
