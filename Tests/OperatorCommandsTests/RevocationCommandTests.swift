import TestSupport
import Testing

@Suite(.tags(.startsProcesses)) struct RevocationCommandTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func add(_ kind: String, _ value: String) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            "revocations", "add", "--config", fixture.configuration, "--kind", kind, "--value", value)
    }

    /// A revocation of what no issuer has is stored, because the issuer may get it later.
    @Test(arguments: [
        ("iss", "latchkey-developmnet", "latchkey-development"), ("kid", "development-2", "development-1"),
    ])
    func doubtsANameThatNoIssuerHas(kind: String, value: String, known: String) async throws {
        let mistyped = try await add(kind, value)
        #expect(mistyped.status == 0 && mistyped.output.contains(value), "\(mistyped.messages)")
        #expect(mistyped.messages.contains("did you mean \"\(known)\"?"), "\(mistyped.messages)")
        let right = try await add(kind, known)
        #expect(right.status == 0 && right.messages.isEmpty, "\(right.messages)")
    }
}
