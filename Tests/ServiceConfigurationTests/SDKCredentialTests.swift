import ByteCoding
import FairPlay
import Foundation
import KeyCrypto
import POSIXSockets
import TestSupport
import Testing

@testable import ServiceConfiguration

/// Credentials of the kind `sdk`: their file certificates.json, the files that it names, and what the library gets.
@Suite struct SDKCredentialTests {
    private static let prefix = "fairplay.credentials[0]"
    private static let file = ".sdk.certificates"
    /// The key that `KeySamples` also has in encrypted form, a key of the larger size, and a second pair.
    private static let keys = Result {
        (
            small: try RSAPrivateKey(parsing: Array(KeySamples.pkcs8.utf8)),
            large: try RSAPrivateKey.generate(bits: 2048),
            otherSmall: try RSAPrivateKey.generate(bits: 1024),
            otherLarge: try RSAPrivateKey.generate(bits: 2048)
        )
    }

    private let folder: ConfigurationFolder
    private let small: Certificate
    private let large: Certificate
    private let otherSmall: Certificate
    private let otherLarge: Certificate

    init() throws {
        folder = try ConfigurationFolder()
        let keys = try Self.keys.get()
        small = try CertificateSamples.make(for: keys.small)
        large = try CertificateSamples.make(for: keys.large, sdkVersion: [2, 2, 26, 0])
        otherSmall = try CertificateSamples.make(for: keys.otherSmall)
        otherLarge = try CertificateSamples.make(for: keys.otherLarge)
        try FileManager.default.createDirectory(atPath: "\(folder.path)/fps", withIntermediateDirectories: false)
        try folder.write("fps/libfpssdk.so", [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1], mode: 0o755)
        try folder.write("fps/bundle.bin", small.der + large.der, mode: 0o644)
        try folder.write("fps/small.key", KeySamples.pkcs8)
        try folder.write("fps/large.key", keys.large.privatePEM().revealed())
        try folder.write("fps/data.bin", [1, 2, 3])
        try folder.write("fps/other-bundle.bin", otherSmall.der + otherLarge.der, mode: 0o644)
        try folder.write("fps/other-small.key", keys.otherSmall.privatePEM().revealed())
        try folder.write("fps/other-large.key", keys.otherLarge.privatePEM().revealed())
        try folder.write("fps/other-data.bin", [4, 5])
        try folder.write("fps/other-small.der", otherSmall.der, mode: 0o644)
        try folder.write("passphrase", KeySamples.passphrase + "\n")
        try write([Self.entry])
    }

    private static let entry = """
        "certificate": "bundle.bin", "1024-private-key": "small.key", "2048-private-key": "large.key", \
        "provisioning-data": "data.bin"
        """
    private static let otherEntry = """
        "certificate": "other-bundle.bin", "1024-private-key": "other-small.key", \
        "2048-private-key": "other-large.key", "provisioning-data": "other-data.bin"
        """
    private static let secret = "101112131415161718191a1b1c1d1e1f"
    private static let oldEntry = """
        "certificate": "other-small.der", "1024-private-key": "other-small.key", "ask": "\(secret)"
        """

    private func write(_ entries: [String], mode: Int = 0o600) throws {
        let list = entries.map { "{ \($0) }" }.joined(separator: ", ")
        try folder.write("fps/certificates.json", "{ \"certificates\": [\(list)] }", mode: mode)
    }

    private func text(_ fields: String = "", workers: String = "", fairplay: String = "") -> String {
        ConfigurationText.make(
            credential: """
                name: "apple-26", \(fields) \
                sdk: { library: "fps/libfpssdk.so", certificates: "fps/certificates.json", \(workers) }
                """, fairplay: fairplay)
    }

    private func load(_ fields: String = "", workers: String = "", fairplay: String = "") throws -> LoadedConfiguration
    {
        try folder.load(text(fields, workers: workers, fairplay: fairplay))
    }

    /// Returns the faults by field.
    private func faults(_ fields: String = "", workers: String = "") -> [String: ConfigurationFault] {
        let problems = folder.problems(text(fields, workers: workers))
        return Dictionary(problems.map { (String($0.path.dropFirst(Self.prefix.count)), $0.fault) }) { first, _ in first
        }
    }

    private func path(_ name: String) -> String { "\(folder.path)/fps/\(name)" }

    // MARK: Entries

    @Test func makesACredentialOfAnEntryWithProvisioningData() async throws {
        let loaded = try load(workers: #"workers: 2, callDeadline: "250ms", memoryLimit: 134217728, user: "root""#)
        let credential = try #require(loaded.credentials.credentials.first)
        #expect(loaded.credentials.credentials.map(\.name) == ["apple-26"])
        #expect(credential.bundle == small.der + large.der)
        #expect(credential.keys.map(\.version) == [.v1, .v2, .v1])
        #expect(credential.stage == .serving && !credential.servesVersion3)
        #expect(credential.certificate2048?.sdkVersion == .version(SDKVersion(major: 26, minor: 0)))

        let settings = try #require(loaded.libraries.first)
        #expect(loaded.libraries.count == 1 && loaded.modules.isEmpty)
        #expect(settings.name == "apple-26" && settings.credentials == ["apple-26"])
        #expect(settings.library == path("libfpssdk.so"))
        #expect(settings.workers == 2 && settings.callDeadline == .milliseconds(250))
        #expect(settings.memoryLimit == 128 << 20)
        #expect(settings.user == SystemUser(userID: 0, groupID: 0))

        guard case .library(let library) = credential.ladder else {
            Issue.record("the ladder is a library")
            return
        }
        await #expect(throws: LadderModuleError.unavailable) {
            try await library.answer(LibraryOrder(message: [], license: nil))
        }
    }

    @Test func writesTheFilesForTheLibrary() throws {
        let settings = try #require(try load().libraries.first)
        let names = settings.files.map(\.name)
        #expect(names.first == "certificates.json" && Set(names).count == 5)
        var contents: [String: [UInt8]] = [:]
        for file in settings.files { contents[file.name] = file.contents.bytes.revealed() }

        let root = try JSONReader.parse(#require(contents["certificates.json"]))
        let entries = try #require(root.object?["certificates"]?.array).compactMap(\.object)
        let entry = try #require(entries.first)
        #expect(entries.count == 1 && entry.members.count == 4)
        func file(_ member: String) -> [UInt8]? { entry[member]?.string.flatMap { contents[$0] } }
        #expect(file("certificate") == small.der + large.der)
        #expect(file("1024-private-key") == KeySamples.der(of: KeySamples.traditional))
        let key2048 = try RSAPrivateKey(parsing: #require(file("2048-private-key")))
        #expect(large.publicKey.matches(key2048) && !key2048.wasEncrypted)
        #expect(file("provisioning-data") == [1, 2, 3])
        // So other names can take their place.
        let text = String(decoding: try #require(contents["certificates.json"]), as: UTF8.self)
        for name in names.dropFirst() { #expect(text.split(separator: "\"\(name)\"").count == 2) }
    }

    @Test func listsTheHashesThatTheLibraryMustKnow() throws {
        let crypto = try CryptoContext()
        let hashes = try #require(try load("spcVersion3: true,").libraries.first).certificateHashes
        let subjects: [(CredentialKey.Subject, [UInt8])] = [
            (.certificate1024, small.der), (.certificate2048, large.der), (.bundle, small.der + large.der),
        ]
        #expect(hashes.count == 6)
        for (subject, bytes) in subjects {
            let found = hashes.filter { $0.subject == subject }
            #expect(found.map(\.version) == [subject == .certificate2048 ? .v2 : .v1, .v3])
            #expect(
                found.map(\.hash) == [
                    try CertificateHash(.sha1, of: bytes, using: crypto),
                    try CertificateHash(.sha256, of: bytes, using: crypto),
                ])
        }
        for hash in hashes {
            #expect(hash.credential == "apple-26")
            #expect(hash.publicKey.modulusSize == (hash.version == .v1 ? 128 : 256))
        }
    }

    @Test(arguments: [
        secret, secret.uppercased(), "EBESExQVFhcYGRobHB0eHw==",
    ])
    func servesAnEntryWithASecretItself(secret: String) throws {
        try folder.write("fps/other-small.pem", CertificateSamples.pem(otherSmall.der), mode: 0o644)
        for certificate in ["other-small.der", "other-small.pem"] {
            try write([
                #""certificate": "\#(certificate)", "1024-private-key": "other-small.key", "ask": "\#(secret)""#
            ])
            let loaded = try load("spcVersion3: true,")
            let credential = try #require(loaded.credentials.credentials.first)
            #expect(credential.name == "apple-26" && credential.bundle == otherSmall.der)
            #expect(credential.keys.map(\.version) == [.v1] && !credential.servesVersion3)
            guard case .applicationSecret(let ladder) = credential.ladder else {
                Issue.record("the ladder is an application secret")
                return
            }
            #expect(ladder.kind == .applicationSecret)
            let crypto = try CryptoContext()
            let expected = try ApplicationSecretKeyLadder(
                .applicationSecret, SecretBytes(copying: Hexadecimal.decode(Self.secret)))
            let r2 = [UInt8](repeating: 7, count: 21)
            let dask = try ladder.deriveDASk(r2: r2[...], using: crypto).revealed()
            #expect(try expected.deriveDASk(r2: r2[...], using: crypto).revealed() == dask)
            // There is nothing for the library.
            #expect(loaded.libraries.isEmpty)
        }
    }

    @Test func numbersSeveralEntries() throws {
        let key = try RSAPrivateKey.generate(bits: 1024)
        try folder.write("fps/third.der", CertificateSamples.make(for: key).der)
        try folder.write("fps/third.key", key.privatePEM().revealed())
        let third = #""certificate": "third.der", "1024-private-key": "third.key", "ask": "\#(Self.secret)""#
        try write([Self.entry, third, Self.otherEntry])
        let loaded = try load("spcVersion3: true,")
        let credentials = loaded.credentials.credentials
        #expect(credentials.map(\.name) == ["apple-26/1", "apple-26/2", "apple-26/3"])
        #expect(credentials.map(\.servesVersion3) == [true, false, true])
        let settings = try #require(loaded.libraries.first)
        #expect(loaded.libraries.count == 1 && settings.name == "apple-26")
        #expect(settings.credentials == ["apple-26/1", "apple-26/3"])
        #expect(settings.files.count == 9 && Set(settings.files.map(\.name)).count == 9)
        #expect(settings.certificateHashes.map(\.credential).filter { $0 == "apple-26/3" }.count == 6)
        let file = try #require(settings.files.last)
        #expect(file.name == "provisioning-data-3" && file.contents.bytes.revealed() == [4, 5])
    }

    @Test func acceptsWhatTheSDKAccepts() throws {
        try folder.write(
            "fps/certificates.json",
            """
            {
              "comment": "unknown members are ignored",
              "certificates": [
                {
                  "certificate": "\(path("bundle.bin"))",
                  "1024-private-key": "../fps/small.key",
                  "2048-private-key": "large.key",
                  "provisioning-data": "data.bin",
                  "ask": null,
                  "team": { "name": "example", },
                },
              ],
            }
            """)
        #expect(faults().isEmpty)
    }

    @Test func aVersionForAllCredentialsIsForItsEntriesToo() throws {
        #expect(try load(fairplay: "spcVersion3: true").credentials.servedVersions == [.v1, .v2, .v3])
        #expect(
            try load("spcVersion3: false,", fairplay: "spcVersion3: true").credentials.servedVersions == [.v1, .v2])
    }

    // MARK: Private keys

    @Test(arguments: [KeySamples.encrypted, KeySamples.encryptedTripleDES, KeySamples.encryptedTraditional])
    func opensEncryptedKeys(key: String) throws {
        try folder.write("fps/small.key", key)
        let place = "\(Self.file): certificates[0].1024-private-key"
        #expect(faults() == [place: .passphraseMissing])
        let settings = try #require(try load(#"privateKeyPassphrase: "passphrase","#).libraries.first)
        let file = settings.files.first { $0.name.hasPrefix("1024-private-key") }
        #expect(file?.contents.bytes.revealed() == KeySamples.der(of: KeySamples.traditional))
        try folder.write("passphrase", "wrong")
        #expect(faults(#"privateKeyPassphrase: "passphrase","#) == [place: .passphraseWrong])
    }

    @Test func refusesAPassphraseThatNoKeyNeeds() throws {
        #expect(
            faults(#"privateKeyPassphrase: "passphrase","#) == [".privateKeyPassphrase": .passphraseUnneeded])
        // It may be for the key that cannot be read.
        try folder.write("fps/large.key", "broken")
        #expect(
            faults(#"privateKeyPassphrase: "passphrase","#) == [
                "\(Self.file): certificates[0].2048-private-key": .notAPrivateKey
            ])
    }

    // MARK: Faults of the file

    @Test(arguments: [
        ("[]", "", "wrongType"), ("{ }", ": certificates", "missing"),
        (#"{ "certificates": { } }"#, ": certificates", "wrongType"),
        (#"{ "certificates": [] }"#, ": certificates", "invalidValue"),
        (#"{ "certificates": [1] }"#, ": certificates[0]", "wrongType"),
        (#"{ "certificates": [] "#, "", "notJSON"), ("no JSON", "", "notJSON"),
        (#"{ "certificates": [], "certificates": [] }"#, "", "notJSON"),
    ])
    func refusesAFileWithoutAList(text: String, place: String, fault: String) throws {
        try folder.write("fps/certificates.json", text)
        let found = faults()
        #expect(found.keys.sorted() == [Self.file + place])
        #expect(found.values.map(Self.kind) == [fault])
    }

    private static func kind(of fault: ConfigurationFault) -> String {
        switch fault {
        case .wrongType: "wrongType"
        case .missing: "missing"
        case .invalidValue: "invalidValue"
        case .notJSON: "notJSON"
        case .noneOf: "noneOf"
        case .conflict: "conflict"
        default: "other"
        }
    }

    @Test func refusesTooManyEntries() throws {
        try write([String](repeating: Self.entry, count: SDKCertificates.countMaximum + 1))
        #expect(faults().keys.sorted() == ["\(Self.file): certificates"])
    }

    /// Each case replaces a part of the second entry.
    @Test(arguments: [
        (#""certificate": "other-bundle.bin", "#, "", ".certificate", "missing"),
        (#""1024-private-key": "other-small.key", "#, "", ".1024-private-key", "missing"),
        (#""2048-private-key": "other-large.key", "#, "", ".2048-private-key", "missing"),
        (#""provisioning-data": "other-data.bin""#, "", "", "noneOf"),
        (#""provisioning-data": "other-data.bin""#, #""provisioning-data": null"#, "", "noneOf"),
        (#""other-data.bin""#, #""other-data.bin", "ask": "00""#, ".ask", "conflict"),
        (#""provisioning-data": "other-data.bin""#, #""ask": "\#(secret)""#, ".2048-private-key", "conflict"),
        (#""other-bundle.bin""#, "7", ".certificate", "wrongType"),
        (#""other-data.bin""#, "[]", ".provisioning-data", "wrongType"),
        (#""other-small.key""#, "\"\"", ".1024-private-key", "invalidValue"),
        (#""other-small.key""#, #""a\u0000b""#, ".1024-private-key", "invalidValue"),
        (#""other-data.bin""#, #""\#(secret)""#, ".provisioning-data", "invalidValue"),
    ])
    func refusesAFaultyEntry(old: String, new: String, place: String, fault: String) throws {
        try write([Self.entry, Self.otherEntry.replacingOccurrences(of: old, with: new)])
        let found = faults()
        #expect(found.keys.sorted() == ["\(Self.file): certificates[1]\(place)"])
        #expect(found.values.map(Self.kind) == [fault])
    }

    @Test(arguments: [
        "", "00", String(repeating: "10", count: 15), String(repeating: "10", count: 17), "sixteen letters!",
        "EBESExQVFhcYGRobHB0eHx8=", "EBESExQVFhcYGRobHB0eHw", "0x1112131415161718191a1b1c1d1e1f",
    ])
    func refusesASecretInAnotherForm(secret: String) throws {
        try write([Self.oldEntry.replacingOccurrences(of: Self.secret, with: secret)])
        let found = faults()
        #expect(found.keys.sorted() == ["\(Self.file): certificates[0].ask"])
        #expect(found.values.map(Self.kind) == ["invalidValue"])
    }

    @Test func refusesASecretThatIsNoText() throws {
        try write([Self.oldEntry.replacingOccurrences(of: "\"\(Self.secret)\"", with: "16")])
        #expect(faults().values.map(Self.kind) == ["wrongType"])
    }

    // MARK: Faults of the files that it names

    @Test func refusesFilesThatDoNotFit() throws {
        let place = "\(Self.file): certificates[0]"
        let bundle = "\(place).certificate"
        let cases: [([UInt8], ConfigurationFault)] = [
            (large.der + small.der, .notACertificateBundle(.swapped)), (small.der, .wrongCertificateCount(1)),
            (small.der + large.der + large.der, .wrongCertificateCount(3)),
            (small.der + small.der, .notACertificateBundle(.wrongSizes([1024, 1024]))),
            (Array("text".utf8), .notACertificateBundle(.notCertificates)),
        ]
        for (contents, fault) in cases {
            try folder.write("fps/bundle.bin", contents)
            #expect(faults() == [bundle: fault])
        }
        try folder.write("fps/bundle.bin", small.der + large.der)
        try write([
            Self.entry.replacingOccurrences(of: "small.key", with: "other-small.key")
                .replacingOccurrences(of: "large.key", with: "small.key")
        ])
        #expect(faults() == ["\(place).2048-private-key": .wrongKeySize(expected: 2048, actual: 1024)])
        try write([Self.entry.replacingOccurrences(of: "small.key", with: "other-small.key")])
        #expect(faults() == ["\(place).1024-private-key": .keyMismatch(certificate: "certificate")])
        try write([Self.entry.replacingOccurrences(of: "data.bin", with: "nothing")])
        #expect(faults() == ["\(place).provisioning-data": .file(.notFound(path: path("nothing")))])
        try folder.write("fps/data.bin", [])
        try write([Self.entry])
        #expect(faults() == ["\(place).provisioning-data": .file(.empty(path: path("data.bin")))])
    }

    @Test func refusesAnotherCertificateThanOneForASecret() throws {
        let place = "\(Self.file): certificates[0].certificate"
        let cases: [([UInt8], ConfigurationFault)] = [
            (otherSmall.der + otherLarge.der, .wrongCertificateCount(2)),
            (otherLarge.der, .wrongKeySize(expected: 1024, actual: 2048)), ([1, 2], .notACertificate),
        ]
        try write([Self.oldEntry])
        for (contents, fault) in cases {
            try folder.write("fps/other-small.der", contents)
            #expect(faults() == [place: fault])
        }
    }

    /// All faults are reported together, so that one check is enough.
    @Test func reportsEveryFault() throws {
        try folder.write("fps/libfpssdk.so", "#!/bin/sh", mode: 0o755)
        try folder.write("fps/bundle.bin", "broken")
        try folder.write("fps/small.key", "broken")
        try write([Self.entry, #""certificate": 1"#, Self.otherEntry])
        let place = "\(Self.file): certificates"
        #expect(
            Set(faults(workers: #"user: "no-such-user-here""#).keys) == [
                ".sdk.library", ".sdk.user", "\(place)[0].certificate", "\(place)[0].1024-private-key",
                "\(place)[1].certificate", "\(place)[1].1024-private-key", "\(place)[1]",
            ])
        // The sound entry is listed nevertheless.
        let file = try ConfigurationFile(
            parsing: Array(text().utf8), path: "\(folder.path)/latchkey.json5", environment: [:])
        let listed = LoadedConfiguration.loadCredentials(file, environment: [:])
        #expect(listed.credentials.map(\.name) == ["apple-26/3"] && listed.error != nil)
    }

    @Test func aFaultHasItsPlaceInBothFiles() throws {
        try write([Self.entry, Self.otherEntry.replacingOccurrences(of: "other-large.key", with: "nothing")])
        let error = ConfigurationError.invalid(path: "c", folder.problems(text()))
        let place = "\(Self.prefix)\(Self.file): certificates[1].2048-private-key"
        let line = "\(place): there is no file \(path("nothing"))"
        #expect(error.description.hasPrefix("c, line 2, column "))
        #expect(error.description.hasSuffix(line), "\(error)")
    }

    @Test func refusesOneCertificateInTwoEntries() throws {
        try write([Self.entry, Self.otherEntry, Self.entry])
        #expect(faults() == ["\(Self.file): certificates[2]": .sameCertificate(as: "apple-26/1")])
        try write([Self.entry])
        try folder.write("small.der", small.der)
        let other = """
            sdk: { library: "fps/libfpssdk.so", certificates: "fps/certificates.json" } }, {
            name: "main", certificate1024: "small.der", privateKey1024: "fps/small.key",
            applicationSecret: "fairplay/application-secret.hex"
            """
        let problems = folder.problems(ConfigurationText.make(credential: "name: \"apple-26\", \(other)"))
        #expect(problems.map(\.path) == ["fairplay.credentials[1]"])
        #expect(problems.map(\.fault) == [.sameCertificate(as: "apple-26")])
    }

    // MARK: Secret files

    @Test func refusesSecretsThatOthersMayRead() throws {
        let place = "\(Self.file): certificates[0]"
        for (name, member) in [("small.key", "1024-private-key"), ("data.bin", "provisioning-data")] {
            let contents = try folder.read("fps/\(name)")
            try folder.write("fps/\(name)", contents, mode: 0o644)
            #expect(
                faults() == ["\(place).\(member)": .file(.permissionsTooWide(path: path(name), mode: 0o644))])
            try folder.write("fps/\(name)", contents)
        }
        try write([Self.entry], mode: 0o644)
        #expect(faults().isEmpty)
        try write([Self.entry, Self.oldEntry], mode: 0o644)
        #expect(
            faults() == [Self.file: .file(.permissionsTooWide(path: path("certificates.json"), mode: 0o644))])
    }

    @Test func refusesFilesThatAreTooLarge() throws {
        try folder.write("fps/data.bin", [UInt8](repeating: 7, count: 1 << 20))
        #expect(faults().isEmpty)
        try folder.write("fps/data.bin", [UInt8](repeating: 7, count: 1 << 20 + 1))
        #expect(
            faults() == [
                "\(Self.file): certificates[0].provisioning-data": .file(
                    .tooLarge(path: path("data.bin"), maximum: 1 << 20))
            ])
        try folder.write("fps/certificates.json", [UInt8](repeating: 0x20, count: 64 << 10 + 1))
        #expect(faults() == [Self.file: .file(.tooLarge(path: path("certificates.json"), maximum: 64 << 10))])
    }

    @Test func noMessageHoldsASecret() throws {
        for secret in ["s3cr3t", Self.secret + "0", #"s3cr3t\u0030"#] {
            try write([
                Self.oldEntry.replacingOccurrences(of: Self.secret, with: secret),
                Self.otherEntry.replacingOccurrences(of: "other-data.bin", with: Self.secret),
            ])
            let problems = folder.problems(text())
            let shown = ConfigurationError.invalid(path: "c", problems).description + "\(problems)"
            #expect(problems.count == 2 && !shown.contains("s3cr3t") && !shown.contains(Self.secret))
        }
    }

    @Test func readsFilesFromSystemdCredentials() throws {
        let text = text().replacingOccurrences(
            of: "\"fps/certificates.json\"", with: "\"credential:certificates.json\"")
        #expect(folder.problems(text, environment: ["CREDENTIALS_DIRECTORY": path("")]).isEmpty)
        try write([Self.entry.replacingOccurrences(of: "data.bin", with: "../fps/data.bin")])
        let problems = folder.problems(text, environment: ["CREDENTIALS_DIRECTORY": path("")])
        #expect(problems.map(\.path) == ["\(Self.prefix)\(Self.file): certificates[0].provisioning-data"])
    }

    @Test func filesAreBesideTheFileThatNamesThem() {
        let environment = ["FILE": "/run/keys/certificates.json"]
        let sources: [(SecretSource, String, SecretSource?)] = [
            (.file(path: "/a/c.json"), "b", .file(path: "/a/b")),
            (.file(path: "/a/c.json"), "../b", .file(path: "/a/../b")),
            (.file(path: "/a/c.json"), "/b", .file(path: "/b")),
            (.file(path: "/c.json"), "b", .file(path: "/b")),
            (.file(path: "/a/c.json"), "", nil), (.file(path: "/a/c.json"), "-----BEGIN", nil),
            (.credential(name: "c"), "b", .credential(name: "b")), (.credential(name: "c"), "b/d", nil),
            (.credential(name: "c"), "/b/d", .file(path: "/b/d")),
            (.environment(variable: "FILE"), "b", .file(path: "/run/keys/b")),
            (.environment(variable: "NONE"), "b", .file(path: "b")),
        ]
        for (source, name, expected) in sources {
            #expect(source.neighbor(name, environment: environment) == expected)
        }
    }

    // MARK: Changes

    @Test(arguments: [
        ("certificates.json", "sdk.certificates"), ("bundle.bin", "sdk.certificates"),
        ("data.bin", "sdk.certificates"), ("libfpssdk.so", "sdk.library"),
    ])
    func noticesAChangedFile(name: String, field: String) throws {
        let (first, again) = (try load(), try load())
        #expect(first.isSame(as: again, under: "\(Self.prefix).sdk"))
        #expect(first.fieldsThatDiffer(from: again, under: Self.prefix) == [])
        let contents = try folder.read("fps/\(name)")
        let altered =
            name == "bundle.bin"
            ? try CertificateSamples.make(for: Self.keys.get().small).der + large.der : contents + [0x20]
        try folder.write("fps/\(name)", altered, mode: name == "libfpssdk.so" ? 0o755 : 0o600)
        let changed = try load()
        #expect(!first.isSame(as: changed, under: "\(Self.prefix).sdk"))
        #expect(
            first.fieldsThatDiffer(from: changed, under: Self.prefix) == ["\(Self.prefix).\(field)"])
        #expect(first.fieldsThatNeedRestart(toBecome: changed) == [])
    }

    /// A reload is enough for its stage and for its workers.
    @Test func noFieldNeedsARestart() throws {
        let serving = ConfigurationText.credential
        func loaded(_ stage: String, workers: Int) throws -> LoadedConfiguration {
            try folder.load(
                ConfigurationText.make(
                    credential: """
                        \(serving) }, { name: "apple-26", stage: "\(stage)", sdk: { library: "fps/libfpssdk.so",
                        certificates: "fps/certificates.json", workers: \(workers) }
                        """))
        }
        let (before, after) = (try loaded("serving", workers: 2), try loaded("draining", workers: 3))
        #expect(before.fieldsThatNeedRestart(toBecome: after) == [])
        #expect(before.configuration.fixed == after.configuration.fixed)
        #expect(before.configuration.live != after.configuration.live)
        #expect(after.credentials.credentials.map(\.stage) == [.serving, .draining])
    }

    @Test func namesTheFilesBehindItsFile() throws {
        try write([Self.entry, Self.oldEntry])
        let file = try ConfigurationFile(
            parsing: Array(text().utf8), path: "\(folder.path)/latchkey.json5", environment: [:])
        let files = LoadedConfiguration.namedFiles(of: file, environment: [:]).filter { $0.field.contains(".sdk.") }
        let place = "\(Self.prefix)\(Self.file)"
        #expect(
            files.filter(\.isSecret).map(\.field) == [
                place, "\(place): certificates[0].1024-private-key", "\(place): certificates[0].2048-private-key",
                "\(place): certificates[0].provisioning-data", "\(place): certificates[1].1024-private-key",
            ])
        #expect(
            files.filter { !$0.isSecret }.map(\.field) == [
                "\(place): certificates[0].certificate", "\(place): certificates[1].certificate",
            ])
        for named in files { #expect(try named.read(environment: [:]).count > 0) }

        // What stands in for the first file leads to the others.
        var substitutes: [String: [SharedSecret]] = [:]
        for named in files { substitutes[named.field] = [SharedSecret(try named.read(environment: [:]))] }
        try FileManager.default.removeItem(atPath: "\(folder.path)/fps")
        let found = LoadedConfiguration.namedFiles(of: file, environment: [:], substitutes: substitutes)
        #expect(Set(found.map(\.field).filter { $0.contains(".sdk.") }) == Set(files.map(\.field)))
    }

    @Test func everyFaultSaysWhatToDo() {
        let position = TextPosition(line: 1, column: 2, byteOffset: 1)
        let texts = [
            ConfigurationFault.wrongCertificateCount(1), .wrongCertificateCount(2),
            .notJSON(.unexpectedEnd(at: position)),
        ].map(\.description)
        #expect(Set(texts).count == 3 && texts.allSatisfy { $0.count > 40 && !$0.contains("\n") })
    }
}
