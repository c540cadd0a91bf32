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

    private func query(subject: String) async throws -> LatchkeyProcess {
        try await LatchkeyProcess("ledger", "query", "--config", fixture.configuration, "--subject", subject)
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

    /// Nothing says that such a name is wrong, so it is stored.
    @Test func doubtsAPseudonymInThePlaceOfAName() async throws {
        let digits = String(repeating: "8a3a682f", count: 4)
        let run = try await add("sub", digits)
        #expect(run.status == 0 && run.messages.contains("this names no viewer"), "\(run.messages)")
        #expect(try await add("sub", "viewer-7").messages.isEmpty)
        let listed = try await LatchkeyProcess(
            "account", "devices", "list", "--config", fixture.configuration, "--subject", digits)
        #expect(listed.messages.contains("this names no viewer"), "\(listed.messages)")
        // The row of the revocation shows the pseudonym of the name.
        let shown = try #require(run.output.firstMatch(of: /pseudonym:[0-9a-f]{32}/)).output
        let row = try await query(subject: String(shown))
        #expect(row.output.contains("revoked") && row.messages.isEmpty, "\(row.messages)")
        let none = try await query(subject: String(repeating: "0", count: 32))
        #expect(none.output.isEmpty && none.messages.contains("write pseudonym:"), "\(none.messages)")
    }

    @Test func doubtsAContentWithoutAKey() async throws {
        let made = try await LatchkeyProcess(
            "keys", "create", "--config", fixture.configuration, "--content", "movie-1", "--json")
        let key = try #require(made.output.firstMatch(of: /[0-9a-f]{8}-[0-9a-f-]{27}/)).output
        for value in ["movei-1", "skd://\(key)", "movie-1 "] {
            let run = try await add("content", value)
            #expect(run.status == 0 && run.messages.contains("no stored key has this"), "\(run.messages)")
        }
        for value in ["movie-1", String(key)] {
            let run = try await add("content", value)
            #expect(run.status == 0 && run.messages.isEmpty, "\(run.messages)")
        }
    }
}
