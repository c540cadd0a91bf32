import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Device and server agree on key, vector and terms, whatever the device puts into its SPC.
@Suite struct RoundTripTests {
    private let crypto: CryptoContext
    private let fixture: TestCredential
    private let server: TestServer

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
        server = try TestServer([fixture.credential])
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func deliversTheKeyUnderRandomOptionsAndTerms(version: SPCVersion) throws {
        var generator = SeededGenerator.announced("round trip \(version)")
        let device = try fixture.makeDevice(version, using: crypto)
        for _ in 0..<(version == .v1 ? 200 : 50) {
            let options = Self.randomOptions(version, &generator)
            let terms = Self.randomTerms(&generator)
            let key = generator.bytes(count: 16)
            let iv = Bytes16(generator.bytes(count: 16), at: 0)
            let request = try device.makeRequest(options)
            let spc = try server.open(request.message)

            let isFit: Bool
            do throws(LicenseTermsError) {
                try terms.check(for: spc.device, by: DevicePolicy())
                isFit = true
            } catch {
                isFit = false
            }
            #expect(
                isFit
                    == ((terms.validity == .session || options.playbackState != nil)
                        && (terms.hdcp != .type1 || options.capabilities?.contains(.hdcpEnforcement) == true)))
            guard isFit else { continue }
            let message = try server.answer(spc, contentKey: key, iv: iv, terms: terms)
            let license = try CKCOpener(secrets: request.secrets, using: crypto).open(message)
            #expect(license.contentKey.bytes.revealed() == key)
            #expect(license.contentIV == iv)
            #expect(license.terms == terms)
        }
    }

    private static func randomOptions(_ version: SPCVersion, _ generator: inout SeededGenerator) -> DeviceOptions {
        let size = Int.random(in: 2...200, using: &generator)
        var options = DeviceOptions(version: version, assetID: generator.bytes(count: size))
        options.unknownBlockCount = Int.random(in: 0...27, using: &generator)
        options.shufflesBlocks = Bool.random(using: &generator)
        if Bool.random(using: &generator) { options.deviceIdentity = generator.bytes(count: 36) }
        if Bool.random(using: &generator) { options.deviceInfo = generator.bytes(count: 16) }
        if Bool.random(using: &generator) { options.kextDenyListVersion = UInt32.random(in: 0...99, using: &generator) }
        if Bool.random(using: &generator) { options.supportedKeyFormats = [0x58b3_8165_af0e_3d5a, generator.next()] }
        if Bool.random(using: &generator) { options.virtualMachineInfo = generator.bytes(count: 28) }
        if Bool.random(using: &generator) { options.sync = [UInt8](repeating: 0, count: 28) }
        if Bool.random(using: &generator) { options.sessionKeyBlockVideo = generator.bytes(count: 112) }
        if Bool.random(using: &generator) { options.r2Video = generator.bytes(count: 21) }
        if Bool.random(using: &generator) { options.streamingIndicator = generator.next() }
        if Bool.random(using: &generator) { options.capabilities = Capabilities(rawValue: generator.next() & 63) }
        if Bool.random(using: &generator) {
            options.playbackState = MediaPlaybackState(
                createdAt: UInt32(truncatingIfNeeded: generator.next()),
                state: PlaybackState.allCases.randomElement(using: &generator) ?? .playing,
                sessionID: generator.next())
        }
        if Bool.random(using: &generator) {
            options.returnRequest = [TLLVTag.transactionID, TLLVTag.assetID, TLLVTag.r2, TLLVTag.antiReplaySeed]
                .filter { _ in Bool.random(using: &generator) }
        }
        return options
    }

    private static func randomTerms(_ generator: inout SeededGenerator) -> LicenseTerms {
        let lease = LicenseSeconds(UInt64.random(in: 1...0xFFFF_FFFF, using: &generator))
        let rental = LicenseSeconds(UInt64.random(in: 1...0xFFFF_FFFF, using: &generator))
        var terms = LicenseTerms()
        if let lease, let rental {
            terms.validity =
                [
                    .session, .duration(.lease(lease)), .duration(.rental(rental)),
                    .duration(.leaseAndRental(lease: lease, rental: rental)),
                ].randomElement(using: &generator) ?? .session
        }
        terms.hdcp = [nil, .some(HDCPLevel.none), .type0, .type1].randomElement(using: &generator) ?? nil
        return terms
    }

    @Test func refusesALeaseThatCannotBeExpressed() throws {
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)))
        let spc = try server.open(request.message)
        let lease = try #require(LicenseSeconds(300))
        let terms = LicenseTerms(validity: .duration(.lease(lease)))
        #expect(throws: LicenseTermsError.durationNeedsPlaybackState) {
            try terms.check(for: spc.device, by: DevicePolicy())
        }
    }

    @Test func usesAFreshVectorForEachLicence() throws {
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

    @Test func leavesTheContentKeyAsItWas() throws {
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)))
        let spc = try server.open(request.message)
        let key = SecretBytes(copying: Array(0..<16))
        for _ in 0..<2 {
            let keys = try #require(spc.sessionKeys)
            let wrapped = WrappedContentKey.here(keys, iv: .zero, wrapped: try keys.wrap(key, using: crypto))
            let message = try CKCWriter.write(for: spc, contentKey: wrapped, terms: LicenseTerms(), using: crypto)
            let license = try CKCOpener(secrets: request.secrets, using: crypto).open(message)
            #expect(license.contentKey.bytes.revealed() == Array(0..<16))
        }
    }
}
