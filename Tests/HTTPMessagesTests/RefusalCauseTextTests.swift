import HTTPMessages
import Testing

@Suite struct RefusalCauseTextTests {
    /// The cause in the log has the same name as the code.
    @Test(arguments: [
        HTTPProblem.headTimeout, .bodyTimeout, .bodyTooLarge, .targetTooLong, .headTooLarge, .expectationFailed,
        .overloaded, .methodNotImplemented, .transferCodingNotImplemented, .versionNotSupported,
    ])
    func namesItsCause(problem: HTTPProblem) {
        #expect(problem.cause == "\(problem)")
    }

    @Test func namesWhatWasMalformed() {
        #expect(HTTPProblem.malformed(.requestLine).cause == "malformed: requestLine")
        #expect(
            HTTPProblem.malformed(.contentLengthWithTransferEncoding).cause
                == "malformed: contentLengthWithTransferEncoding")
    }
}
