import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import PlayerTools

/// The table of cases, and the files that are written from it.
@Suite struct ConformanceCaseTests {
    private let crypto: CryptoContext

    init() throws {
        crypto = try CryptoContext()
    }

    @Test func coversEveryKindAndVersion() {
        let names = ConformanceCase.all.map { "\($0.family) \($0.name)" }
        #expect(Set(names).count == names.count)
        for version in SPCVersion.allCases {
            for kind in ConformanceKind.allCases {
                #expect(ConformanceCase.licenses.contains { $0.version == version && $0.kind == kind })
            }
        }
        #expect(ConformanceCase.malformed.count >= 60)
        #expect(ConformanceCase.malformed.allSatisfy { $0.fault != nil && $0.outcome == .refusal })
    }

    @Test func seedsMakeSPCs() throws {
        for test in ConformanceCase.all {
            let one = try test.question(seed: [1], now: 1, using: crypto).request
            #expect(try test.question(seed: [1], now: 1, using: crypto).request.message == one.message)
            let other = try test.question(seed: [2], now: 1, using: crypto).request
            #expect(other.message != one.message)
            #expect(other.secrets.deviceID != one.secrets.deviceID)
        }
    }

    /// The keys and SPCs are published, so every version of the program must write the same ones.
    @Test func theCommittedFilesAreWhatTheProgramWrites() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Conformance")
        let files = try ConformanceVectors.files()
        for (name, contents) in files {
            let committed = try Data(contentsOf: folder.appending(path: name))
            #expect(Array(committed) == contents, "\(name): write a new folder with latchkey conformance --write")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(Set(names).subtracting(["README.md"]) == Set(files.map(\.name)))
        #expect(files.reduce(0) { $0 + $1.contents.count } < 320_000)
    }

    @Test func theCredentialIsMarked() throws {
        for version in SPCVersion.allCases {
            let certificate = try ConformanceCredential.certificate(for: version)
            #expect(certificate.isDevelopmentMaterial)
            #expect(certificate.keyBits == version.wrappedKeySize * 8)
        }
        #expect(ConformanceCredential.applicationSecret.count == 16)
    }

    @Test func encryptsWithoutPadding() throws {
        let key = try RSAPrivateKey(parsing: ConformanceCredential.pem(ConformanceCredential.privateKey2048))
        let block = [UInt8](repeating: 0, count: 255) + [1]
        #expect(try key.publicKey.encryptUnpadded(block) == block)
        #expect(throws: CryptoError.self) { try key.publicKey.encryptUnpadded([1]) }
    }
}
