import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

@testable import PlayerTools

/// A conformance run against a key server in this process.
@Suite struct ConformanceRunTests {
    private func report(
        _ fault: ServerFault?, unavailableKinds: [ConformanceKind: String] = [:],
        unavailableVersions: [SPCVersion: String] = [:]
    ) async throws -> ConformanceReport {
        let server = try ConformanceTestServer(fault)
        return try await ConformanceRun(
            seed: RandomBytes.generate(count: 16), now: 1_800_000_000, unavailableKinds: unavailableKinds,
            unavailableVersions: unavailableVersions, ask: { server.answer($0) }
        ).run()
    }

    @Test func aGoodServerHolds() async throws {
        let report = try await report(nil)
        #expect(report.holds)
        #expect(report.results.filter { $0.verdict != .passed }.map(\.found) == [])
        #expect(report.results.count == ConformanceCase.all.count + 4)
    }

    @Test(arguments: ServerFault.allCases)
    func eachFaultIsFoundAndNamed(fault: ServerFault) async throws {
        let report = try await report(fault)
        #expect(!report.holds)
        let (name, found) = fault.evidence
        let result = try #require(report.results.first { $0.name == name })
        #expect(result.verdict == .failed)
        #expect(result.found.contains(found), "\(result.found)")
        #expect(report.text.contains(found))
    }

    @Test func aServerMayDifferWhereTheRuleSaysSo() async throws {
        let server = try ConformanceTestServer(nil)
        let cautious: ConformanceAsk = { question in
            question.options.protocolVersionsSupported.count == 2
                ? ConformanceAnswer(content: .refusal(code: "422", body: []), status: 422) : server.answer(question)
        }
        let report = try await ConformanceRun(seed: [1], now: 1_800_000_000, ask: cautious).run()
        #expect(report.holds)
        let result = try #require(report.results.first { $0.verdict == .differs })
        #expect(result.name == "protocol versions 1 and 2 supported, 1 used")
        #expect(result.found.contains("may refuse the downgrade"))
    }

    @Test func whatIsNotRunIsNoPass() async throws {
        let all = Dictionary(uniqueKeysWithValues: ConformanceKind.allCases.map { ($0, "no token") })
        let nothing = try await report(nil, unavailableKinds: all)
        #expect(!nothing.holds)
        #expect(nothing.count(.passed) == 0 && nothing.count(.failed) == 0)
        #expect(nothing.text.contains("no token"))
        let some = try await report(
            nil, unavailableKinds: [.lease: "no token"], unavailableVersions: [.v3: "not served"])
        #expect(some.holds)
        let skipped = some.results.filter { $0.verdict == .notRun }
        #expect(skipped.contains { $0.name == "lease, version 1" } && skipped.contains { $0.version == .v3 })
    }

    @Test func theReportHasNoSecret() async throws {
        let crypto = try CryptoContext()
        let report = try await report(.tellsFaultsApart)
        let texts = [report.text, String(decoding: JSONWriter.object { report.write(to: &$0) }, as: UTF8.self)]
        for text in texts {
            for kind in ConformanceKind.allCases {
                #expect(!text.contains(Hexadecimal.encode(kind.contentKey)))
                #expect(!text.contains(Base64.encode(kind.contentKey)))
            }
            #expect(!text.contains(Hexadecimal.encode(ConformanceCredential.applicationSecret)))
            for test in ConformanceCase.all {
                let request = try test.question(seed: report.seed, now: 1_800_000_000, using: crypto).request
                #expect(!text.contains(Base64.encode(Array(request.message.dropFirst(24).prefix(30)))))
                #expect(!text.contains("\(request.secrets.deviceID)"))
            }
        }
    }

    /// Two answers to one fault show what varies, and nothing else may differ.
    @Test(arguments: [
        ("id 1f0c9a3b", "id 2f0c9a3b", "id 3f0c9a3b", true), ("id 1f0c9a3b", "id 2f0c9a3b", "id 3f0c", false),
        ("in 7 ms", "in 12 ms", "in 1234 ms", true), ("status -42589", "status -42589", "status -42590", false),
        ("no", "not now", "never", true),
    ])
    func onlyIDsAndTimesMayDiffer(first: String, second: String, other: String, isEqual: Bool) throws {
        let words = try [first, second, other].map { text in
            try #require(RefusalWords(ConformanceAnswer(content: .refusal(code: "422", body: Array(text.utf8)))))
        }
        var mask = RefusalMask()
        mask.add(words[0], words[1])
        #expect((mask.text(of: words[0]) == mask.text(of: words[2])) == isEqual)
    }

    @Test func theSeedShufflesTheCases() async throws {
        func names(_ seed: UInt8) async throws -> [String] {
            let server = try ConformanceTestServer(nil)
            var names: [String] = []
            let report = try await ConformanceRun(seed: [seed], now: 1_800_000_000) { question in
                names.append("\(question.options.transactionID ?? 0)")
                return server.answer(question)
            }.run()
            #expect(report.results.prefix(ConformanceCase.all.count).map(\.name) == ConformanceCase.all.map(\.name))
            return names
        }
        let crypto = try CryptoContext()
        let table = try ConformanceCase.all.map { test in
            "\(try test.question(seed: [1], now: 1_800_000_000, using: crypto).options.transactionID ?? 0)"
        }
        let sent = try await names(1)
        // What is sent again afterwards depends on the answers.
        #expect(try await names(1).prefix(table.count) == sent.prefix(table.count))
        #expect(Array(sent.prefix(table.count)) != table)
        #expect(Set(sent.prefix(table.count)) == Set(table))
    }
}
