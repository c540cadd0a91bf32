import ByteCoding
import CommandSupport
import DeviceSimulation
import FairPlay
import KeyCrypto
import Synchronization
import TestSupport
import Testing

@testable import OperatorCommands

/// What a proof finds in a good library, and in libraries that lie.
@Suite struct SPCProofTests {
    private let crypto: CryptoContext
    private let fixture: TestCredential
    private let native: TestServer

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
        native = try TestServer([fixture.credential])
    }

    /// How a library lies. It is asked in the order of the numbers, from 1 on.
    private struct Lie: Sendable {
        var answer: @Sendable (LibraryAnswer, _ number: Int) -> LibraryAnswer = { answer, _ in answer }
        var error: LadderModuleError?
        /// Whether it answers about changed SPCs as if they were not changed.
        var acceptsChanges = false
    }

    /// Runs a proof, and returns the verdicts by the part of their names.
    private func verdicts(
        _ lie: Lie = Lie(), version: SPCVersion = .v1, wish: SDKTestInput.Wish? = nil
    ) async throws -> [String: DoctorFinding.Verdict] {
        let request = try fixture.makeDevice(version, using: crypto)
            .makeRequest(DeviceOptions(version: version, assetID: Array("movie".utf8)))
        let library = LyingLibrary(try InProcessLibrary(native.credentials), lie, genuine: request.message)
        let server = try TestServer(native.credentials.connecting(["test": .library(library)]))
        let proof = SPCProof(
            sample: ProofSample(name: "file", message: request.message, wish: wish),
            envelope: try SPCEnvelope(parsing: request.message, served: [.v1, .v2, .v3]),
            spc: try server.open(request.message), library: library, crypto: crypto,
            trouble: { "the last worker died" })
        let findings = await proof.findings
        for finding in findings where finding.verdict == .bad { #expect(finding.remedy != nil, "\(finding.text)") }
        let named = findings.map { (String($0.check.dropFirst("file.".count)), $0.verdict) }
        return Dictionary(uniqueKeysWithValues: named)
    }

    private func bad(_ lie: Lie) async throws -> Set<String> {
        Set(try await verdicts(lie).filter { $0.value == .bad }.keys)
    }

    @Test(arguments: SPCVersion.allCases)
    func aGoodLibraryHolds(version: SPCVersion) async throws {
        let license = LibraryLicense(
            key: SharedSecret(SecretBytes(copying: Array(0...15))), iv: .zero,
            terms: LibraryTerms(contentType: .sd, scheme: .cbcs, hdcp: .none, validity: .session))
        let verdicts = try await verdicts(version: version, wish: .license(license))
        #expect(
            Set(verdicts.keys) == ["facts", "hu", "license", "input", "wrapped-key", "session-key-block"])
        #expect(verdicts.values.allSatisfy { $0 == .good }, "\(verdicts)")
    }

    @Test func skipsAnInputThatThisServerNeverSends() async throws {
        let verdicts = try await verdicts(wish: .otherLicense("cenc-v1"))
        #expect(verdicts["input"] == .skipped && verdicts["license"] == .good)
    }

    @Test func findsAnotherDevice() async throws {
        let lie = Lie(answer: { answer, number in
            LibraryAnswer(
                deviceID: DeviceID([UInt8](repeating: UInt8(number), count: DeviceID.size)),
                transactionID: answer.transactionID, ckc: answer.ckc)
        })
        #expect(try await bad(lie) == ["hu", "license"])
    }

    @Test func findsAnotherTransaction() async throws {
        let lie = Lie(answer: { answer, _ in
            LibraryAnswer(deviceID: answer.deviceID, transactionID: answer.transactionID &+ 1, ckc: answer.ckc)
        })
        #expect(try await bad(lie) == ["facts", "hu", "license"])
    }

    @Test func findsACKCThatIsCut() async throws {
        let lie = Lie(answer: { answer, _ in
            LibraryAnswer(
                deviceID: answer.deviceID, transactionID: answer.transactionID, ckc: answer.ckc?.dropLast(16))
        })
        #expect(try await bad(lie) == ["license"])
    }

    @Test func findsThatChangesAreAccepted() async throws {
        #expect(try await bad(Lie(acceptsChanges: true)) == ["wrapped-key", "session-key-block"])
    }

    @Test(arguments: [
        LadderModuleError.refused(status: -42581), .failed(status: -42601), .deviceRefused(status: -42604),
        .answerMalformed, .workerLost, .unavailable, .overloaded,
    ])
    func endsWithTheFirstFailure(error: LadderModuleError) async throws {
        #expect(try await verdicts(Lie(error: error)) == ["facts": .bad])
    }

    // MARK: The library

    private final class LyingLibrary: LicenseLibrary {
        private let library: InProcessLibrary
        private let lie: Lie
        private let genuine: [UInt8]
        private let count = Atomic<Int>(0)

        init(_ library: InProcessLibrary, _ lie: Lie, genuine: [UInt8]) {
            self.library = library
            self.lie = lie
            self.genuine = genuine
        }

        func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer {
            if let error = lie.error { throw error }
            let message = lie.acceptsChanges ? genuine : order.message
            let answer = try await library.answer(LibraryOrder(message: message, license: order.license))
            return lie.answer(answer, count.add(1, ordering: .relaxed).newValue)
        }
    }
}
