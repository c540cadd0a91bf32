import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Device and server agree on key, IV, terms and facts, and on every refusal, for everything that a device can put into
/// an SPC.
@Suite struct RoundTripTests {
    private let crypto: CryptoContext
    private let fixture: TestCredential
    private let server: TestServer

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
        server = try TestServer([fixture.credential])
    }

    /// Four hundred combinations of device facts, terms and policies for each version.
    @Test(arguments: SPCVersion.allCases)
    func agreesUnderRandomOptionsTermsAndPolicies(version: SPCVersion) throws {
        var generator = SeededGenerator.announced("round trip \(version)")
        let device = try fixture.makeDevice(version, using: crypto)
        var (grantedCount, refusedCount) = (0, 0)
        for _ in 0..<400 {
            let options = DeviceOptions.random(version, &generator)
            let request = try device.makeRequest(options)
            let spc = try server.open(request.message)
            FactsCheck(options: options, spc: spc).run()

            let terms = LicenseTerms.random(&generator)
            let policy = DevicePolicy.random(&generator)
            let model = RefusalModel(options: options, policy: policy)
            let refusal = Self.refusal(terms, spc.device, policy)
            let reasons = model.reasons(against: terms)
            #expect(refusal.map { reasons.contains($0) } ?? reasons.isEmpty, "\(terms), \(options), \(policy)")

            try checkAnswer(to: spc, request, terms, model, &generator)
            if refusal == nil { grantedCount += 1 } else { refusedCount += 1 }
        }
        #expect(grantedCount > 40 && refusedCount > 40)
    }

    private static func refusal(
        _ terms: LicenseTerms, _ device: DeviceFacts, _ policy: DevicePolicy
    ) -> LicenseTermsError? {
        do throws(LicenseTermsError) {
            try terms.check(for: device, by: policy)
            return nil
        } catch {
            return error
        }
    }

    /// Writes the license even if the server would refuse it. The device itself must refuse what it cannot read.
    private func checkAnswer(
        to spc: SPC, _ request: DeviceRequest, _ terms: LicenseTerms, _ model: RefusalModel,
        _ generator: inout SeededGenerator
    ) throws {
        let key = generator.bytes(count: 16)
        let iv = Bytes16.random(&generator)
        let message = try server.answer(spc, contentKey: key, iv: iv, terms: terms)
        let opener = CKCOpener(secrets: request.secrets, using: crypto)
        let refused = model.blocksBeyondDevice(terms)
        do throws(CKCFault) {
            let license = try opener.open(message)
            #expect(refused.isEmpty)
            #expect(license.contentKey.bytes.revealed() == key)
            #expect(license.contentIV == iv)
            #expect(license.terms == terms)
            #expect(license.version == 1 && license.sessionKeyVersion == nil)
            #expect(license.remarks.isEmpty, "this server sends nothing unusual")
        } catch {
            #expect(refused.contains { error == .beyondAbilities(tag: $0) }, "\(error)")
        }
    }

    /// The same with an external module that has the secret and may use the session key for video.
    @Test(arguments: SPCVersion.allCases)
    func agreesByWayOfAModule(version: SPCVersion) async throws {
        var generator = SeededGenerator.announced("round trip by a module \(version)")
        let device = try fixture.makeDevice(version, using: crypto)
        for _ in 0..<100 {
            let uses = (SessionKeyVersion.random(&generator), SessionKeyVersion.random(&generator))
            let module = try InProcessLadderModule(
                applicationSecret: fixture.applicationSecret, whenVideoIsWanted: uses)
            let server = try TestServer(server.credentials.connecting(["test": .module(module)]))
            var options = DeviceOptions.random(version, &generator)
            options.video = .random(using: &generator) ? .sealed : nil
            let request = try device.makeRequest(options)
            let spc = try server.open(request.message)
            FactsCheck(options: options, spc: spc).run()
            let key = generator.bytes(count: 16)
            let allowsVideo = Bool.random(using: &generator)
            let wrapped = try await spc.wrap(
                SecretBytes(copying: key), iv: .zero,
                for: ContentKeyUse(kind: .video, contentType: .sd, scheme: allowsVideo ? .cbcs : .transportStream),
                using: server.crypto)
            let message = try CKCWriter.write(
                for: spc, contentKey: wrapped, terms: LicenseTerms(), using: server.crypto)
            let license = try CKCOpener(secrets: request.secrets, using: crypto).open(message)
            let wantsVideo = allowsVideo && options.video != nil
            #expect(license.contentKey.bytes.revealed() == key)
            #expect(wrapped.deviceID == request.secrets.deviceID)
            #expect(license.sessionKeyVersion == (wantsVideo ? uses.0 : .generic))
            #expect(license.version == (wantsVideo && uses.1 == .video ? 2 : 1))
        }
    }

    @Test func usesAFreshVectorForEachLicense() throws {
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)))
        let spc = try server.open(request.message)
        var vectors: Set<Bytes16> = []
        for _ in 0..<1_000 {
            let message = try server.answer(spc, contentKey: [UInt8](repeating: 0, count: 16))
            vectors.insert(try CKCEnvelope(parsing: message).iv)
        }
        #expect(vectors.count == 1_000)
    }
}

extension SessionKeyVersion {
    fileprivate static func random(_ generator: inout SeededGenerator) -> SessionKeyVersion {
        .random(using: &generator) ? .generic : .video
    }
}

/// Checks that the server reads the values that the device has put into an SPC.
struct FactsCheck {
    let options: DeviceOptions
    let spc: SPC

    func run() {
        let facts = spc.device
        #expect(spc.version == options.version)
        #expect(Array(spc.assetID) == options.assetID)
        if let transactionID = options.transactionID { #expect(spc.transactionID == transactionID) }
        if let deviceID = options.deviceID, let keys = spc.sessionKeys { #expect(keys.deviceID == deviceID) }
        #expect(facts.protocolVersionUsed == options.protocolVersionUsed)
        #expect(facts.protocolVersionsSupported == options.protocolVersionsSupported)
        #expect(facts.capabilities == options.capabilities ?? [])
        #expect(facts.playbackState == options.playbackState)
        #expect(facts.identity == options.deviceIdentity)
        #expect(facts.info == options.deviceInfo)
        #expect(facts.virtualMachine == readableVirtualMachine)
        #expect(facts.hasUnreadableVirtualMachineInfo == (readableVirtualMachine != options.virtualMachine))
        #expect(facts.securityReport == report)
        #expect(facts.denyListVersion == options.denyListVersion ?? report?.denyListVersion)
        #expect(facts.keyFormats == expectedKeyFormats)
        #expect(facts.output == expectedOutput)
        #expect(spc.syncReport == syncReport)
    }

    private var report: SecurityLevelReport? {
        guard case .report(let report) = options.securityLevel else { return nil }
        return report
    }

    /// The virtual machine info if its version is known, which is 0 or 1.
    private var readableVirtualMachine: VirtualMachineInfo? {
        options.virtualMachine.flatMap { $0.version <= 1 ? $0 : nil }
    }

    private var syncReport: SyncReport? {
        guard case .report(let report) = options.sync else { return nil }
        return report
    }

    private var expectedKeyFormats: [UInt64] {
        guard let formats = options.keyFormats, !formats.isEmpty else { return [0x58b3_8165_af0e_3d5a] }
        return formats
    }

    private var expectedOutput: PlaybackOutput {
        switch options.streamingIndicator {
        case .airPlay: .airPlay
        case .avAdapter: .avAdapter
        case .none, .local, .value: .local
        }
    }
}
