import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The ladder with an external module: what the module gets, and which part of its answer goes into the CKC (protocol,
/// section 3.5).
@Suite struct WrappedContentKeyTests {
    private static let key = [UInt8](0x20...0x2F)
    private static let iv = Bytes16([UInt8](0x40...0x4F), at: 0)
    private static let video = ContentKeyUse(kind: .video, contentType: .hd, scheme: .cbcs)
    private static let sessionKeyVersionUsed: UInt64 = 0x42ca_089e_8e9f_a924

    private let fixture: TestCredential
    private let bench: SPCBench

    init() throws {
        fixture = try TestCredential.shared.get()
        bench = try SPCBench()
    }

    private func module(
        failingWith failure: LadderModuleError? = nil,
        whenVideoIsWanted uses: (SessionKeyVersion, SessionKeyVersion) = (.video, .video)
    ) throws -> InProcessLadderModule {
        try InProcessLadderModule(
            applicationSecret: fixture.applicationSecret, failingWith: failure, whenVideoIsWanted: uses)
    }

    private func open(_ request: DeviceRequest, _ module: InProcessLadderModule) throws -> SPC {
        try TestServer(bench.server.credentials.connecting(["test": .module(module)])).open(request.message)
    }

    private func wrap(
        for spc: SPC, _ use: ContentKeyUse = video
    ) async throws(LadderError) -> WrappedContentKey {
        try await spc.wrap(SecretBytes(copying: Self.key), iv: Self.iv, for: use, using: bench.crypto)
    }

    private func value(of tag: UInt64, in spc: SPC) throws -> [UInt8] {
        let block = try #require(spc.blocks.first { $0.tag == tag })
        return Array(spc.bytes(in: block.value))
    }

    // MARK: The call

    @Test func asksWithTheBlocksAsTheyCame() async throws {
        let module = try module()
        let request = try bench.request {
            $0.keyFormats = [7, TLLVTag.contentKey]
            $0.video = .sealed
        }
        let spc = try open(request, module)
        #expect(spc.sessionKeys == nil)
        _ = try await wrap(for: spc)
        let call = try #require(module.calls.first)
        #expect(module.calls.count == 1)
        #expect(call.content.key.bytes.revealed() == Self.key)
        #expect(call.content.iv == Self.iv)
        #expect(call.content.kind == .video)
        #expect(call.blocks.sessionKeyBlock == (try value(of: TLLVTag.sessionKeyBlock, in: spc)))
        #expect(call.blocks.r2 == (try value(of: TLLVTag.r2, in: spc)))
        #expect(call.blocks.integrity.bytes == (try value(of: TLLVTag.sessionKeyIntegrity, in: spc)))
        #expect(call.keyFormats == [7, TLLVTag.contentKey])
        #expect(call.protocolVersionUsed == 1)
        let own = try bench.crypto.sha1(fixture.certificate1024.der, in: 0..<fixture.certificate1024.der.count)
        #expect(call.certificateHash == own)
        #expect(call.blocks.video?.sessionKeyBlock == (try value(of: TLLVTag.sessionKeyBlockVideo, in: spc)))
        #expect(call.blocks.video?.r2 == (try value(of: TLLVTag.r2Video, in: spc)))
        #expect(call.wanted == .video)
    }

    /// The module identifies certificates by their SHA-1, even if the SPC names them in another way.
    @Test(arguments: [SPCVersion.v2, .v3])
    func namesTheCertificateByItsSHA1(version: SPCVersion) async throws {
        let module = try module()
        let request = try fixture.makeDevice(version, using: bench.crypto).makeRequest(
            DeviceOptions(version: version, assetID: Array("movie-1".utf8)))
        _ = try await wrap(for: open(request, module))
        let der = fixture.certificate2048.der
        #expect(module.calls.first?.certificateHash == (try bench.crypto.sha1(der, in: 0..<der.count)))
        #expect(module.calls.first?.keyFormats == [0x58b3_8165_af0e_3d5a])
    }

    @Test func wantsTheVideoKeyOnlyWithBothBlocksForVideoAtProtocolVersion1() async throws {
        let blocks = LadderCall.VideoBlocks(sessionKeyBlock: zeros(112), r2: zeros(21))
        let cases: [(change: (inout DeviceOptions) -> Void, use: ContentKeyUse, wanted: SessionKeyVersion)] = [
            ({ $0.video = .opaque(blocks) }, Self.video, .video),
            ({ $0.video = .opaque(blocks) }, .init(kind: .audio, contentType: .audio, scheme: .cbcs), .generic),
            ({ _ in }, Self.video, .generic),
            ({ $0.video = .opaque(.init(sessionKeyBlock: [], r2: zeros(21))) }, Self.video, .generic),
            ({ $0.video = .opaque(.init(sessionKeyBlock: zeros(112), r2: [])) }, Self.video, .generic),
            ({ $0.otherBlocks = [DeviceBlock(TLLVTag.r2Video, zeros(21))] }, Self.video, .generic),
            (
                {
                    $0.video = .opaque(blocks)
                    $0.protocolVersionsSupported = [1, 2]
                    $0.protocolVersionUsed = 2
                }, Self.video, .generic
            ),
        ]
        for (index, one) in cases.enumerated() {
            let module = try module(whenVideoIsWanted: (.generic, .generic))
            let server = try TestServer(
                bench.server.credentials.connecting(["test": .module(module)]), servedVersions: [1, 2])
            _ = try await wrap(for: server.open(bench.request(one.change).message), one.use)
            #expect(module.calls.first?.wanted == one.wanted, "case \(index)")
        }
    }

    // MARK: The answer

    @Test(arguments: [
        (SessionKeyVersion.generic, SessionKeyVersion.generic, UInt32(1), "182b0bb9f37383d1"),
        (.video, .generic, 1, "02a69d25f4b94c7c"), (.video, .video, 2, "02a69d25f4b94c7c"),
        (.generic, .video, 2, "182b0bb9f37383d1"),
    ])
    func saysWhichKeysWereUsed(
        sessionKey: SessionKeyVersion, r1: SessionKeyVersion, version: UInt32, digits: String
    ) async throws {
        let request = try bench.request { $0.video = .sealed }
        let spc = try open(request, module(whenVideoIsWanted: (sessionKey, r1)))
        let wrapped = try await wrap(for: spc)
        #expect(wrapped.deviceID == request.secrets.deviceID)
        let ckc = try CKCWriter.write(for: spc, contentKey: wrapped, terms: LicenseTerms(), using: bench.crypto)
        #expect(Array(ckc[0..<8]) == words(version, 0))
        if r1 == .generic {
            let license = try PlainLicense(ckc, for: request, using: bench.crypto)
            #expect(license.value(of: Self.sessionKeyVersionUsed).map { hex($0) } == "0000000100000000" + digits)
            #expect(license.blocks.prefix(3).map(\.tag).contains(TLLVTag.contentKey))
        }
        let opened = try CKCOpener(secrets: request.secrets, using: bench.crypto).open(ckc)
        #expect(opened.contentKey.bytes.revealed() == Self.key)
        #expect(opened.contentIV == Self.iv)
        #expect(opened.sessionKeyVersion == sessionKey)
        #expect(opened.version == version)
    }

    @Test func aSecretInThisProcessSaysNothingOfVersions() async throws {
        let request = try bench.request { $0.video = .sealed }
        let spc = try bench.server.open(request.message)
        let wrapped = try await wrap(for: spc)
        let ckc = try CKCWriter.write(for: spc, contentKey: wrapped, terms: LicenseTerms(), using: bench.crypto)
        let license = try PlainLicense(ckc, for: request, using: bench.crypto)
        #expect(license.version == words(1))
        #expect(license.value(of: Self.sessionKeyVersionUsed) == nil)
    }

    // MARK: Failures

    @Test(arguments: [
        LadderModuleError.refused(status: 5), .failed(status: -1), .answerMalformed, .workerLost, .unavailable,
    ])
    func handsOnWhatTheModuleSays(failure: LadderModuleError) async throws {
        let spc = try open(bench.request { _ in }, module(failingWith: failure))
        await #expect(throws: LadderError.module(failure)) { try await wrap(for: spc) }
        await #expect(throws: LadderError.module(failure)) { try await spc.verify(using: bench.crypto) }
    }

    /// Only the module detects this fault: the SPC opens, but gets no key.
    @Test(arguments: [PayloadFault.wrongIntegrity, .corruptedSessionKeyBlock])
    func theModuleRefusesABlockThatIsNotGenuine(fault: PayloadFault) async throws {
        let device = try fixture.makeDevice(.v1, using: bench.crypto)
        let request = try device.makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)), with: .payload(fault))
        let spc = try open(request, module())
        await #expect(throws: LadderError.module(.refused(status: -42_589))) { try await wrap(for: spc) }
    }

    /// No device reads a CKC with a tag twice, so the module's tag must not be a tag of the CKC's own blocks or of the
    /// echoes.
    @Test(arguments: TLLVTag.carriedByCKC.filter { $0 != TLLVTag.contentKey } + [TLLVTag.assetID])
    func takesNoAnswerWithATagThatTheCKCHasAlready(tag: UInt64) async throws {
        let module = RenamingModule(module: try module(), tag: tag)
        let server = try TestServer(bench.server.credentials.connecting(["test": .module(module)]))
        let spc = try server.open(bench.request { _ in }.message)
        await #expect(throws: LadderError.module(.answerMalformed)) { try await wrap(for: spc) }
    }

    @Test func takesAnAnswerInAnotherKeyFormat() async throws {
        let module = RenamingModule(module: try module(), tag: 7)
        let server = try TestServer(bench.server.credentials.connecting(["test": .module(module)]))
        let request = try bench.request { $0.keyFormats = [7] }
        let spc = try server.open(request.message)
        let ckc = try await CKCWriter.write(
            for: spc, contentKey: wrap(for: spc), terms: LicenseTerms(), using: bench.crypto)
        #expect(try PlainLicense(ckc, for: request, using: bench.crypto).value(of: 7)?.prefix(16) == Self.iv.bytes[...])
    }

    @Test func verifiesWithoutGivingAKey() async throws {
        let request = try bench.request { _ in }
        let module = try module()
        #expect(try await open(request, module).verify(using: bench.crypto) == request.secrets.deviceID)
        #expect(module.calls.map(\.content.kind) == [.unknown])
        #expect(module.calls.map(\.wanted) == [.generic])
        #expect(try await bench.server.open(request.message).verify(using: bench.crypto) == request.secrets.deviceID)
    }
}

/// A module that gives the content key block another tag.
private struct RenamingModule: LadderModule {
    let module: InProcessLadderModule
    let tag: UInt64

    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        let answer = try await module.answer(call)
        return LadderAnswer(
            contentKeyTag: tag, contentKeyValue: answer.contentKeyValue, deviceID: answer.deviceID, r1: answer.r1,
            sessionKeyVersion: answer.sessionKeyVersion, r1Version: answer.r1Version)
    }
}
