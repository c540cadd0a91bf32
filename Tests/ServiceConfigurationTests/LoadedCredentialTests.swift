import ByteCoding
import FairPlay
import Foundation
import KeyCrypto
import POSIXSockets
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The files of a credential: every valid form, and every fault.
@Suite struct LoadedCredentialTests {
    private static let prefix = "fairplay.credentials[0]"
    /// A key that `KeySamples` also has in encrypted form, and a key of the larger size.
    private static let material = Result {
        (try RSAPrivateKey(parsing: Array(KeySamples.pkcs8.utf8)), try RSAPrivateKey.generate(bits: 2048))
    }

    private let folder: ConfigurationFolder
    private let small: Certificate
    private let large: Certificate

    init() throws {
        folder = try ConfigurationFolder()
        let (key1024, key2048) = try Self.material.get()
        small = try CertificateSamples.make(for: key1024)
        large = try CertificateSamples.make(for: key2048)
        try folder.write("small.der", small.der)
        try folder.write("large.der", large.der)
        try folder.write("bundle.bin", small.der + large.der)
        try folder.write("small.key", KeySamples.pkcs8)
        try folder.write("large.key", key2048.privatePEM().revealed())
        try folder.write("passphrase", KeySamples.passphrase + "\n")
    }

    private func load(
        _ fields: String, ladder: String = #"applicationSecret: "fairplay/application-secret.hex""#
    ) throws -> LoadedConfiguration {
        try folder.load(text(fields, ladder: ladder))
    }

    private func text(
        _ fields: String, ladder: String = #"applicationSecret: "fairplay/application-secret.hex""#
    ) -> String {
        ConfigurationText.make(credential: #"name: "main", \#(fields), \#(ladder)"#)
    }

    /// Returns the faults by field.
    private func faults(
        _ fields: String, ladder: String = #"applicationSecret: "fairplay/application-secret.hex""#
    ) -> [String: ConfigurationFault] {
        let problems = folder.problems(text(fields, ladder: ladder))
        return Dictionary(problems.map { (String($0.path.dropFirst(Self.prefix.count)), $0.fault) }) { first, _ in first
        }
    }

    private static let pairs = """
        certificate1024: "small.der", privateKey1024: "small.key", certificate2048: "large.der", \
        privateKey2048: "large.key"
        """
    private static let bundle =
        #"certificateBundle: "bundle.bin", privateKey1024: "small.key", privateKey2048: "large.key""#

    // MARK: Forms

    @Test func readsEveryFormOfCertificatesAndKeys() throws {
        let expected = try #require(try load(Self.pairs).credentials.credentials.first)
        try folder.write("small.pem", CertificateSamples.pem(small.der))
        try folder.write("large.pem", CertificateSamples.pem(large.der))
        try folder.write("bundle.pem", CertificateSamples.pem(small.der) + CertificateSamples.pem(large.der))
        try folder.write("small-key.der", KeySamples.der(of: KeySamples.pkcs8))
        try folder.write("small-pkcs1.pem", KeySamples.traditional)
        for fields in [
            Self.bundle, Self.bundle.replacingOccurrences(of: "bundle.bin", with: "bundle.pem"),
            Self.pairs.replacingOccurrences(of: "small.der", with: "small.pem"),
            Self.pairs.replacingOccurrences(of: "large.der", with: "large.pem"),
            Self.pairs.replacingOccurrences(of: "small.key", with: "small-key.der"),
            Self.bundle.replacingOccurrences(of: "small.key", with: "small-pkcs1.pem"),
        ] {
            let credential = try #require(try load(fields).credentials.credentials.first)
            #expect(credential.keys.map(\.hash) == expected.keys.map(\.hash))
            #expect(credential.bundle == small.der + large.der)
            #expect(!credential.isDevelopmentMaterial)
        }
    }

    @Test func enablesVersionThree() throws {
        let loaded = try load(Self.bundle + ", spcVersion3: true")
        #expect(loaded.credentials.servedVersions == [.v1, .v2, .v3])
        #expect(loaded.credentials.credentials.map(\.keys.count) == [6])
        #expect(try load(Self.bundle).credentials.servedVersions == [.v1, .v2])
    }

    // MARK: Bundles

    @Test func refusesWhatIsNoBundle() throws {
        let cases: [([UInt8], CertificateBundleError)] = [
            (large.der + small.der, .swapped), (small.der, .wrongCount(1)),
            (small.der + large.der + large.der, .wrongCount(3)), (small.der + small.der, .wrongSizes([1024, 1024])),
            (small.der + large.der + [0], .notCertificates), (Array(KeySamples.pkcs8.utf8), .notCertificates),
        ]
        for (contents, error) in cases {
            try folder.write("bundle.bin", contents)
            #expect(faults(Self.bundle) == [".certificateBundle": .notACertificateBundle(error)])
        }
    }

    @Test func refusesABundleInPlaceOfACertificate() {
        for name in ["certificate1024", "certificate2048"] {
            let fields =
                #"\#(name): "bundle.bin", privateKey\#(name.suffix(4)): "\#(name == "certificate1024" ? "small" : "large").key""#
            #expect(faults(fields) == [".\(name)": .severalCertificates(count: 2)])
        }
    }

    @Test func refusesKeysThatDoNotBelongToTheBundle() throws {
        try folder.write("small.key", RSAPrivateKey.generate(bits: 1024).privatePEM().revealed())
        #expect(faults(Self.bundle) == [".privateKey1024": .keyMismatch(certificate: "certificateBundle")])
        try folder.write("large.key", RSAPrivateKey.generate(bits: 2048).privatePEM().revealed())
        #expect(
            faults(Self.bundle) == [
                ".privateKey1024": .keyMismatch(certificate: "certificateBundle"),
                ".privateKey2048": .keyMismatch(certificate: "certificateBundle"),
            ])
    }

    @Test func refusesExchangedKeys() {
        let exchanged = #"certificateBundle: "bundle.bin", privateKey1024: "large.key", privateKey2048: "small.key""#
        #expect(
            faults(exchanged) == [
                ".privateKey1024": .wrongKeySize(expected: 1024, actual: 2048),
                ".privateKey2048": .wrongKeySize(expected: 2048, actual: 1024),
            ])
    }

    /// All faults are reported together, even if a bundle cannot be read.
    @Test func reportsEveryFaultOfACredential() throws {
        try folder.write("bundle.bin", "broken")
        try folder.write("small.key", "broken")
        try folder.write("fairplay/application-secret.hex", "1011")
        #expect(
            faults(Self.bundle) == [
                ".certificateBundle": .notACertificateBundle(.notCertificates), ".privateKey1024": .notAPrivateKey,
                ".applicationSecret": .notASecret(size: 16),
            ])
    }

    // MARK: Passphrases

    @Test(arguments: [
        KeySamples.encrypted, KeySamples.encryptedTripleDES, KeySamples.encryptedTraditional,
    ])
    func opensEncryptedKeysWithThePassphrase(key: String) throws {
        try folder.write("small.key", key)
        for fields in [Self.pairs, Self.bundle] {
            #expect(faults(fields) == [".privateKey1024": .passphraseMissing])
            let loaded = try load(fields + #", privateKeyPassphrase: "passphrase""#)
            #expect(loaded.credentials.credentials.map(\.keys.count) == [3])
        }
    }

    @Test func readsThePassphraseFromASystemdCredential() throws {
        try folder.write("small.key", KeySamples.encrypted)
        let text = text(Self.bundle + #", privateKeyPassphrase: "credential:passphrase""#)
        #expect(throws: Never.self) { try folder.load(text, environment: ["CREDENTIALS_DIRECTORY": folder.path]) }
    }

    @Test(arguments: [
        "correct horse", "correct horse\n", "correct horse\r\n",
    ])
    func dropsTheLineEndBehindAPassphrase(contents: String) throws {
        try folder.write("small.key", KeySamples.encrypted)
        try folder.write("passphrase", contents)
        #expect(faults(Self.bundle + #", privateKeyPassphrase: "passphrase""#).isEmpty)
    }

    @Test(arguments: [
        ("wrong", ".privateKey1024", ConfigurationFault.passphraseWrong),
        ("correct horse \n", ".privateKey1024", .passphraseWrong),
        ("\n", ".privateKeyPassphrase", .notAPassphrase),
        ("correct\nhorse\n", ".privateKeyPassphrase", .notAPassphrase),
        (String(repeating: "x", count: 1024), ".privateKey1024", .passphraseWrong),
        (String(repeating: "x", count: 1025), ".privateKeyPassphrase", .notAPassphrase),
    ])
    func refusesOtherPassphrases(contents: String, field: String, fault: ConfigurationFault) throws {
        try folder.write("small.key", KeySamples.encrypted)
        try folder.write("passphrase", contents)
        #expect(faults(Self.pairs + #", privateKeyPassphrase: "passphrase""#) == [field: fault])
    }

    @Test func refusesAPassphraseForKeysThatNeedNone() {
        #expect(
            faults(Self.bundle + #", privateKeyPassphrase: "passphrase""#) == [
                ".privateKeyPassphrase": .passphraseUnneeded
            ])
    }

    @Test func refusesAPassphraseThatOthersMayRead() throws {
        try folder.write("passphrase", KeySamples.passphrase, mode: 0o644)
        #expect(
            faults(Self.bundle + #", privateKeyPassphrase: "passphrase""#) == [
                ".privateKeyPassphrase": .file(.permissionsTooWide(path: folder.path + "/passphrase", mode: 0o644))
            ])
    }

    @Test func noMessageHoldsAPassphrase() throws {
        try folder.write("small.key", KeySamples.encrypted)
        try folder.write("passphrase", "s3cr3t")
        let problems = folder.problems(text(Self.bundle + #", privateKeyPassphrase: "passphrase""#))
        let shown = ConfigurationError.invalid(path: "c", problems).description + "\(problems)"
        #expect(problems.count == 1 && !shown.contains("s3cr3t"))
    }

    // MARK: Application secrets

    @Test(arguments: [
        "1011", String(repeating: "10", count: 15), String(repeating: "10", count: 17), "no secret at all!",
    ])
    func refusesAnApplicationSecretOfAnotherSize(contents: String) throws {
        try folder.write("fairplay/application-secret.hex", contents)
        #expect(faults(Self.pairs) == [".applicationSecret": .notASecret(size: 16)])
    }

    // MARK: Modules

    private static let module = #"module: { library: "ladder.so", data: "data.bin", workers: 2, user: "root" }"#

    private func writeModule() throws {
        try folder.write("ladder.so", [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1], mode: 0o755)
        try folder.write("data.bin", [1, 2, 3])
    }

    @Test func loadsWhatAModuleNeedsAndStartsNone() async throws {
        try writeModule()
        let loaded = try load(Self.bundle, ladder: Self.module)
        let settings = try #require(loaded.modules["main"])
        #expect(loaded.modules.count == 1)
        #expect(settings.library == folder.path + "/ladder.so")
        #expect(settings.data.bytes.revealed() == [1, 2, 3])
        #expect(settings.workers == 2)
        #expect(settings.callDeadline == .seconds(1))
        #expect(settings.memoryLimit == 512 << 20)
        #expect(settings.user == SystemUser(userID: 0, groupID: 0))
        guard case .module(let module) = loaded.credentials.credentials.first?.ladder else {
            Issue.record("the ladder is a module")
            return
        }
        let block = [UInt8](repeating: 0, count: 112)
        await #expect(throws: LadderModuleError.unavailable) {
            try await module.answer(
                LadderCall(
                    content: .init(key: SharedSecret(SecretBytes(count: 16)), iv: .zero, kind: .video),
                    blocks: .init(sessionKeyBlock: block, r2: Array(block.prefix(21)), integrity: .zero, video: nil),
                    keyFormats: [1], protocolVersionUsed: 1, certificateHash: Array(block.prefix(20)),
                    wanted: .generic))
        }
    }

    @Test func makesThePathOfALibraryAbsolute() throws {
        #expect(FilePath.absolute("/a/b") == "/a/b")
        #expect(FilePath.absolute("a/b") == FileManager.default.currentDirectoryPath + "/a/b")
    }

    @Test func refusesLibrariesThatCannotBeLoaded() throws {
        try writeModule()
        let path = folder.path + "/ladder.so"
        let cases: [([UInt8], Int, ConfigurationFault)] = [
            (Array("#!/bin/sh\n".utf8), 0o755, .notALibrary), ([0x7F, 0x45], 0o755, .notALibrary),
            ([], 0o755, .notALibrary),
            ([0x7F, 0x45, 0x4C, 0x46], 0o775, .file(.writableByOthers(path: path, mode: 0o775))),
            ([0x7F, 0x45, 0x4C, 0x46], 0o757, .file(.writableByOthers(path: path, mode: 0o757))),
        ]
        for (contents, mode, fault) in cases {
            try folder.write("ladder.so", contents, mode: mode)
            #expect(faults(Self.bundle, ladder: Self.module) == [".module.library": fault])
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(faults(Self.bundle, ladder: Self.module) == [".module.library": .file(.notFound(path: path))])
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(faults(Self.bundle, ladder: Self.module) == [".module.library": .file(.notARegularFile(path: path))])
    }

    @Test func refusesModuleDataThatIsTooLargeOrForAllToSee() throws {
        try writeModule()
        let path = folder.path + "/data.bin"
        try folder.write("data.bin", [UInt8](repeating: 7, count: 1 << 20))
        #expect(faults(Self.bundle, ladder: Self.module).isEmpty)
        try folder.write("data.bin", [UInt8](repeating: 7, count: 1 << 20 + 1))
        #expect(
            faults(Self.bundle, ladder: Self.module) == [
                ".module.data": .file(.tooLarge(path: path, maximum: 1 << 20))
            ])
        try folder.write("data.bin", [])
        #expect(faults(Self.bundle, ladder: Self.module) == [".module.data": .file(.empty(path: path))])
        try folder.write("data.bin", [1], mode: 0o644)
        #expect(
            faults(Self.bundle, ladder: Self.module) == [
                ".module.data": .file(.permissionsTooWide(path: path, mode: 0o644))
            ])
    }

    @Test func refusesAUserThatIsNotThere() throws {
        try writeModule()
        let module = Self.module.replacingOccurrences(of: "root", with: "no-such-user-here")
        #expect(faults(Self.bundle, ladder: module) == [".module.user": .unknownUser])
    }

    @Test func everyFaultSaysWhatToDo() {
        let faults: [ConfigurationFault] = [
            .severalCertificates(count: 2), .notACertificateBundle(.swapped), .notACertificateBundle(.wrongCount(1)),
            .notACertificateBundle(.wrongCount(3)), .notACertificateBundle(.wrongSizes([1024, 1024])),
            .notACertificateBundle(.notCertificates), .passphraseMissing, .passphraseWrong, .notAPassphrase,
            .passphraseUnneeded, .notALibrary, .unknownUser, .file(.writableByOthers(path: "/l", mode: 0o777)),
        ]
        let texts = faults.map(\.description)
        #expect(Set(texts).count == faults.count)
        #expect(texts.allSatisfy { $0.count > 40 && !$0.contains("\n") })
    }
}
