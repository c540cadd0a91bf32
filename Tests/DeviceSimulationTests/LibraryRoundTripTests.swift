import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import Synchronization
import TestSupport
import Testing

/// A license that a library writes is the one that this server would write, or it is refused by the name of a term.
@Suite struct LibraryRoundTripTests {
    private let crypto: CryptoContext
    private let fixture: TestCredential
    private let native: TestServer
    private let server: TestServer

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
        native = try TestServer([fixture.credential])
        let library = try InProcessLibrary(native.credentials)
        server = try TestServer(native.credentials.connecting(["test": .library(library)]))
    }

    /// One thousand combinations of device facts and terms for each version.
    @Test(arguments: SPCVersion.allCases)
    func givesTheSameLicenseOrNamesATerm(version: SPCVersion) async throws {
        var generator = SeededGenerator.announced("round trip by a library \(version)")
        let device = try fixture.makeDevice(version, using: crypto)
        var (givenCount, named) = (0, Set<String>())
        for _ in 0..<1_000 {
            let options = DeviceOptions.random(version, &generator)
            let request = try device.makeRequest(options)
            let spc = try server.open(request.message)
            let use = ContentKeyUse.random(&generator)
            let terms = LicenseTerms.random(&generator, for: use)
            // Nothing reaches a library that this server refuses itself.
            guard (try? terms.check(for: spc.device, by: DevicePolicy())) != nil else { continue }
            if let term = await check(terms, use, spc, request, &generator) {
                named.insert(term)
            } else {
                givenCount += 1
            }
        }
        #expect(givenCount > 100)
        #expect(named.isSuperset(of: ["rental", "lease and rental", "security level", "hdcp", "end", "offline key"]))
    }

    /// Compares both ways. Returns the name of the term that was refused, if one was.
    private func check(
        _ terms: LicenseTerms, _ use: ContentKeyUse, _ spc: SPC, _ request: DeviceRequest,
        _ generator: inout SeededGenerator
    ) async -> String? {
        let key = generator.bytes(count: 16)
        let iv = Bytes16.random(&generator)
        do throws(LadderError) {
            let prepared = try await spc.prepare(
                SecretBytes(copying: key), iv: iv, for: use, under: terms, using: crypto)
            let ckc = try await spc.ckc(
                of: prepared, with: SecretBytes(copying: key), iv: iv, for: use, under: terms, using: crypto)
            let license = try? CKCOpener(secrets: request.secrets, using: crypto).open(ckc)
            #expect(prepared.deviceID == request.secrets.deviceID)
            #expect(license?.contentKey.bytes.revealed() == key && license?.contentIV == iv)
            var expected = terms
            expected.hdcp = terms.hdcp ?? .type0
            #expect(license?.terms == expected, "\(terms)")
            return nil
        } catch .inexpressible(let error) {
            #expect(Self.mayBeRefused(error.term, terms, use, spc.device), "\(error) of \(terms)")
            return error.term
        } catch .module(.deviceRefused) {
            // The library's own rule about old deny lists, which this server need not have.
            #expect(spc.device.hasOldDenyList)
            return nil
        } catch {
            Issue.record("\(error) for \(terms)")
            return nil
        }
    }

    /// Whether a library cannot be told this term, judged only by what the reference says of it.
    private static func mayBeRefused(
        _ term: String, _ terms: LicenseTerms, _ use: ContentKeyUse, _ device: DeviceFacts
    ) -> Bool {
        let hasVersion2 = device.capabilities.contains(.offlineKeyVersion2)
        return switch (term, terms.validity) {
        case ("rental", .duration(.rental)), ("lease and rental", .duration(.leaseAndRental)): true
        case ("end", .duration(.persistentLimited)), ("persistent key", .duration(.persistent)): hasVersion2
        case ("offline key", .offlineKey(let key)): if case .version1 = key.name { true } else { false }
        case ("hdcp", _):
            use.contentType == .uhd ? terms.hdcp != .type1 : use.contentType == .hd && terms.hdcp == HDCPLevel.none
        case ("security level", _):
            switch use.contentType {
            case .audio: terms.securityLevel != .audio
            case .sd, .hd: terms.securityLevel != .baseline
            case .uhd: terms.securityLevel != .main
            }
        default: false
        }
    }

    /// A license that was recorded with other terms than it was prepared with is written once more.
    @Test func asksOnceMoreForOtherTerms() async throws {
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(
            DeviceOptions.playing(.v1, assetID: "movie-1"))
        let library = CountingLibrary(try InProcessLibrary(native.credentials))
        let server = try TestServer(native.credentials.connecting(["test": .library(library)]))
        let spc = try server.open(request.message)
        let use = ContentKeyUse(kind: .video, contentType: .sd, scheme: .cbcs)
        let key = [UInt8](repeating: 7, count: 16)
        func terms(_ seconds: UInt64) -> LicenseTerms {
            LicenseTerms(validity: .duration(.lease(LicenseSeconds(seconds)!)), hdcp: .type0, securityLevel: .baseline)
        }
        let prepared = try await spc.prepare(
            SecretBytes(copying: key), iv: .zero, for: use, under: terms(60), using: crypto)
        for (seconds, count) in [(UInt64(60), 1), (59, 2)] {
            let ckc = try await spc.ckc(
                of: prepared, with: SecretBytes(copying: key), iv: .zero, for: use, under: terms(seconds),
                using: crypto)
            let license = try CKCOpener(secrets: request.secrets, using: crypto).open(ckc)
            #expect(license.terms == terms(seconds))
            #expect(library.licenseCount == count)
        }
    }

    @Test func verifiesWithoutALicense() async throws {
        let request = try fixture.makeDevice(.v2, using: crypto).makeRequest(
            DeviceOptions(version: .v2, assetID: Array("movie-1".utf8)))
        let library = CountingLibrary(try InProcessLibrary(native.credentials))
        let spc = try TestServer(native.credentials.connecting(["test": .library(library)])).open(request.message)
        #expect(spc.sessionKeys == nil)
        #expect(try await spc.verify(using: crypto) == request.secrets.deviceID)
        #expect(library.licenseCount == 0 && library.factsCount == 1)
    }

    /// An answer is refused unless it is for the SPC, and has a CKC if and only if one was ordered.
    @Test(arguments: [
        LibraryAnswer(deviceID: DeviceID([UInt8](repeating: 1, count: 20)), transactionID: 1, ckc: nil),
        LibraryAnswer(
            deviceID: DeviceID([UInt8](repeating: 1, count: 20)), transactionID: 2,
            ckc: [UInt8](repeating: 0, count: 64)),
        LibraryAnswer(
            deviceID: DeviceID([UInt8](repeating: 1, count: 20)), transactionID: 1,
            ckc: [UInt8](repeating: 0, count: 64)),
    ])
    func refusesAnAnswerThatIsNone(answer: LibraryAnswer) async throws {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.transactionID = 1
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(options)
        let server = try TestServer(native.credentials.connecting(["test": .library(FixedLibrary(answer: answer))]))
        let spc = try server.open(request.message)
        await #expect(throws: LadderError.module(.answerMalformed)) {
            _ = try await spc.prepare(
                SecretBytes(copying: [UInt8](repeating: 0, count: 16)), iv: .zero,
                for: ContentKeyUse(kind: .audio, contentType: .audio, scheme: .cbcs),
                under: LicenseTerms(securityLevel: .audio), using: crypto)
        }
    }
}

private struct FixedLibrary: LicenseLibrary {
    let answer: LibraryAnswer

    func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer { answer }
}

private final class CountingLibrary: LicenseLibrary {
    private let library: InProcessLibrary
    private let licenses = Atomic<Int>(0)
    private let facts = Atomic<Int>(0)

    init(_ library: InProcessLibrary) { self.library = library }

    var licenseCount: Int { licenses.load(ordering: .relaxed) }
    var factsCount: Int { facts.load(ordering: .relaxed) }

    func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer {
        if order.license == nil { facts.add(1, ordering: .relaxed) } else { licenses.add(1, ordering: .relaxed) }
        return try await library.answer(order)
    }
}

extension ContentKeyUse {
    fileprivate static func random(_ generator: inout SeededGenerator) -> ContentKeyUse {
        ContentKeyUse(
            kind: .unknown, contentType: LibraryTerms.ContentType.allCases.randomElement(using: &generator) ?? .sd,
            scheme: .cbcs)
    }
}

extension LicenseTerms {
    /// Random terms, most of them with the level of the content type, and each with one, as every license has.
    fileprivate static func random(_ generator: inout SeededGenerator, for use: ContentKeyUse) -> LicenseTerms {
        var terms = random(&generator)
        let usual: SecurityLevel =
            switch use.contentType {
            case .audio: .audio
            case .sd, .hd: .baseline
            case .uhd: .main
            }
        if Int.random(in: 0..<4, using: &generator) > 0 || terms.securityLevel == nil { terms.securityLevel = usual }
        if use.contentType == .uhd, .random(using: &generator) { terms.hdcp = .type1 }
        return terms
    }
}

extension DeviceOptions {
    /// The options of a device that plays.
    fileprivate static func playing(_ version: SPCVersion, assetID: String) -> DeviceOptions {
        var options = DeviceOptions(version: version, assetID: Array(assetID.utf8))
        options.playbackState = MediaPlaybackState(createdAt: 0, state: .playing, sessionID: 1)
        return options
    }
}
