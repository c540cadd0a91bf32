import HTTPMessages
import Testing

@Suite struct RefusalCauseTextTests {
    private static let problems: [HTTPProblem] =
        [
            .headTimeout, .bodyTimeout, .bodyTooLarge, .targetTooLong, .headTooLarge, .expectationFailed,
            .overloaded, .methodNotImplemented, .transferCodingNotImplemented, .versionNotSupported,
        ] + HTTPMalformation.allCases.map { .malformed($0) }

    /// An operator reads a sentence, and not the name of a case.
    @Test(arguments: problems)
    func saysItsCauseInWords(problem: HTTPProblem) {
        #expect(problem.cause.split(separator: " ").count >= 4 || problem.cause.hasPrefix("malformed: the "))
        #expect(!problem.cause.contains(/[a-z][A-Z]/), "\(problem.cause)")
    }

    @Test func eachCauseHasItsOwnWords() {
        #expect(Set(Self.problems.map(\.cause)).count == Self.problems.count)
        #expect(HTTPProblem.malformed(.tlsOnPlainPort).cause.contains("TLS to a listener without TLS"))
    }
}
