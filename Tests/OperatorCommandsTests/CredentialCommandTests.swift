import ByteCoding
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands

@Suite(.tags(.startsProcesses)) struct CredentialCommandTests {
    private static let keys = Result {
        (try RSAPrivateKey.generate(bits: 1024), try RSAPrivateKey.generate(bits: 2048))
    }
    private static let bundle = """
        name: "main", certificateBundle: "bundle.bin", privateKey1024: "small.key", privateKey2048: "large.key"
        """
    private static let secret = #"applicationSecret: "fairplay/application-secret.hex""#

    private let folder: ConfigurationFolder
    private let small: Certificate
    private let large: Certificate

    init() throws {
        folder = try ConfigurationFolder()
        let (key1024, key2048) = try Self.keys.get()
        small = try CertificateSamples.make(for: key1024, notBefore: 1_600_000_000, notAfter: 1_700_000_000)
        large = try CertificateSamples.make(
            for: key2048, notBefore: 1_600_000_000, notAfter: 4_000_000_000, sdkVersion: [2, 2, 27, 3])
        try folder.write("bundle.bin", small.der + large.der)
        try folder.write("small.key", key1024.privatePEM().revealed())
        try folder.write("large.key", key2048.privatePEM().revealed())
        try configure("\(Self.bundle), \(Self.secret), spcVersion3: true")
    }

    private func configure(_ credential: String, fairplay: String = "") throws {
        try folder.write("latchkey.json5", ConfigurationText.make(credential: credential, fairplay: fairplay))
    }

    private func run(_ command: String, _ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["credentials", command, "--config", folder.path + "/latchkey.json5"] + words)
    }

    private func hash(_ algorithm: CertificateHash.Algorithm, _ bytes: [UInt8]) throws -> String {
        try CertificateHash(algorithm, of: bytes, using: CryptoContext()).description
    }

    // MARK: Use

    @Test func readsWhatTheDaemonHasCounted() {
        let uses = CredentialUses(
            metrics: """
                # TYPE latchkey_credential_requests_total counter
                latchkey_credential_requests_total{credential="main"} 12
                latchkey_credential_requests_total{credential="next"} 0
                latchkey_credential_last_use_timestamp_seconds{credential="main"} 1800000000
                latchkey_other_total{credential="main"} 99
                latchkey_credential_requests_total{credential="bad"} -1

                """)
        #expect(uses["main"] == CredentialUses.Use(requestCount: 12, lastUse: 1_800_000_000))
        #expect(uses["next"] == CredentialUses.Use(requestCount: 0, lastUse: nil))
        #expect(uses["bad"] == nil && uses["other"] == nil)
    }

    @Test func saysThatNoDaemonAnswers() async throws {
        let run = try await run("list", "--use", "--server", "unix:\(folder.path)/none")
        #expect(run.status == 1 && run.messages.contains("no daemon answers at unix:"))
    }

    // MARK: list

    @Test func listsEveryHashWithWhatItServes() async throws {
        let run = try await run("list", "--json")
        #expect(run.status == 0, "\(run.messages)")
        let credential = try #require(try run.object()["credentials"]?.array?.first?.object)
        #expect(credential["name"]?.string == "main")
        #expect(credential["kind"]?.string == "applicationSecret")
        #expect(credential["spcVersion3"]?.bool == true)
        #expect(credential["stage"]?.string == "serving")
        let rows = try #require(credential["hashes"]?.array).compactMap(\.object).map { hash in
            [
                hash["spcVersion"]?.number?.signed.map { "\($0)" }, hash["of"]?.string, hash["algorithm"]?.string,
                hash["keyBits"]?.number?.signed.map { "\($0)" }, hash["hash"]?.string,
            ].map { $0 ?? "-" }
        }
        let both = small.der + large.der
        #expect(
            rows == [
                ["1", "certificate1024", "SHA-1", "1024", try hash(.sha1, small.der)],
                ["1", "bundle", "SHA-1", "1024", try hash(.sha1, both)],
                ["2", "certificate2048", "SHA-1", "2048", try hash(.sha1, large.der)],
                ["3", "certificate1024", "SHA-256", "2048", try hash(.sha256, small.der)],
                ["3", "certificate2048", "SHA-256", "2048", try hash(.sha256, large.der)],
                ["3", "bundle", "SHA-256", "2048", try hash(.sha256, both)],
            ])
    }

    @Test func listsSizesDatesAndVersions() async throws {
        let credential = try #require(try await run("list", "--json").object()["credentials"]?.array?.first?.object)
        let certificates = try #require(credential["certificates"]?.array).compactMap(\.object)
        #expect(certificates.compactMap { $0["bits"]?.number?.signed } == [1024, 2048])
        #expect(certificates.map { $0["notBefore"]?.string } == ["2020-09-13T12:26:40Z", "2020-09-13T12:26:40Z"])
        #expect(certificates.map { $0["notAfter"]?.string } == ["2023-11-14T22:13:20Z", "2096-10-02T07:06:40Z"])
        #expect(certificates.map { $0["sdkVersion"]?.string } == [nil, "27.3"])
        let warnings = try #require(credential["warnings"]?.array).compactMap { $0.object?["code"]?.string }
        #expect(warnings == ["certificate_expired", "sdk_version_unknown"])
    }

    @Test func listsForPeopleWhatItListsForPrograms() async throws {
        let run = try await run("list")
        #expect(run.status == 0)
        let both = small.der + large.der
        let hashes = try [CertificateHash.Algorithm.sha1, .sha256].flatMap { algorithm in
            try [small.der, large.der, both].map { try hash(algorithm, $0) }
        }
        for text in hashes + ["main: application secret", "2023-11-14T22:13:20Z", "SDK version 27.3", "warning: "] {
            #expect(run.output.contains(text), "\(text) in \(run.output)")
        }
    }

    @Test func namesTheKindOfEachCredential() async throws {
        try folder.write("ladder.so", [0x7F, 0x45, 0x4C, 0x46], mode: 0o755)
        try folder.write("data.bin", [1])
        let module = Self.bundle + #", module: { library: "ladder.so", data: "data.bin" }"#
        let fixed = ConfigurationText.credential.replacingOccurrences(of: "applicationSecret", with: "fixedDASk")
            .replacingOccurrences(of: "name: \"main\"", with: "name: \"vectors\", stage: \"draining\"")
        try configure(module + " }, { " + fixed, fairplay: "allowTestCredentials: true")
        let run = try await run("list", "--json")
        #expect(run.status == 0, "\(run.messages)")
        let credentials = try #require(try run.object()["credentials"]?.array).compactMap(\.object)
        #expect(credentials.map { $0["kind"]?.string } == ["module", "fixedDASk"])
        #expect(credentials.map { $0["spcVersion3"]?.bool } == [false, false])
        #expect(credentials.map { $0["stage"]?.string } == ["serving", "draining"])
        let warnings = credentials.last?["warnings"]?.array?.compactMap { $0.object?["code"]?.string }
        #expect(warnings == ["development_material"])
    }

    private func makeSDK(_ entries: String) throws {
        try folder.write("libfpssdk.so", [0x7F, 0x45, 0x4C, 0x46], mode: 0o755)
        try folder.write("data.bin", [1])
        try folder.write("certificates.json", #"{ "certificates": [\#(entries)] }"#)
        try configure(#"name: "apple-26", sdk: { library: "libfpssdk.so", certificates: "certificates.json" }"#)
    }

    private static let entry = """
        { "certificate": "bundle.bin", "1024-private-key": "small.key", "2048-private-key": "large.key", \
        "provisioning-data": "data.bin" }
        """

    @Test func listsEachEntryOfAnSDK() async throws {
        let key = try RSAPrivateKey.generate(bits: 1024)
        try folder.write("old.der", CertificateSamples.make(for: key).der)
        try folder.write("old.key", key.privatePEM().revealed())
        let old = """
            { "certificate": "old.der", "1024-private-key": "old.key", "ask": "101112131415161718191a1b1c1d1e1f" }
            """
        try makeSDK("\(Self.entry), \(old)")
        let run = try await run("list", "--json")
        #expect(run.status == 0, "\(run.messages)")
        let credentials = try #require(try run.object()["credentials"]?.array).compactMap(\.object)
        #expect(credentials.map { $0["name"]?.string } == ["apple-26/1", "apple-26/2"])
        #expect(credentials.map { $0["kind"]?.string } == ["sdk", "applicationSecret"])
        #expect(credentials.map { $0["hashes"]?.array?.count } == [3, 1])
        let text = try await self.run("list")
        #expect(text.output.contains("apple-26/1: SDK library\n"))
        let check = try await self.run("check")
        #expect(check.status == 0)
        #expect(check.output.hasSuffix(": 2 credentials, good: apple-26/1, apple-26/2\n"))
    }

    @Test func namesTheFaultyEntryOfAnSDK() async throws {
        try makeSDK("\(Self.entry), { \"certificate\": \"bundle.bin\", \"1024-private-key\": \"small.key\" }")
        let run = try await run("check", "--json")
        let problem = try #require(try run.object()["problems"]?.array?.first?.object)
        #expect(run.status == 1 && problem["line"]?.number != nil)
        #expect(problem["path"]?.string == "fairplay.credentials[0].sdk.certificates: certificates[1]")
        #expect(problem["message"]?.string == #"needs "provisioning-data" or "ask""#)
    }

    /// Valid credentials are listed beside the faults of others, and the exit status is a failure.
    @Test func listsTheGoodOnesAndNamesTheOthers() async throws {
        let other = ConfigurationText.credential.replacingOccurrences(of: "main", with: "other")
        try folder.write("fairplay/certificate-1024.der", "broken")
        try configure("\(Self.bundle), \(Self.secret) }, { \(other)")
        let run = try await run("list", "--json")
        #expect(run.status == 1)
        let credentials = try #require(try run.object()["credentials"]?.array).compactMap(\.object)
        #expect(credentials.map { $0["name"]?.string } == ["main"])
        #expect(run.messages.contains("fairplay.credentials[1].certificate1024"))
    }

    // MARK: check

    @Test func findsNothingWrongWithAGoodCredential() async throws {
        let run = try await run("check")
        #expect(run.status == 0)
        #expect(run.output == "\(folder.path)/latchkey.json5: 1 credential, good: main\n")
        #expect(run.messages.split(separator: "\n").count == 2)
        #expect(run.messages.contains("warning: main: the 1024-bit certificate ended on 2023-11-14T22:13:20Z"))

        let object = try await self.run("check", "--json").object()
        #expect(object["good"]?.bool == true)
        #expect(object["problems"]?.array?.isEmpty == true)
        #expect(object["warnings"]?.array?.compactMap { $0.object?["credential"]?.string } == ["main", "main"])
    }

    /// One case for each mistake that can happen between Apple's files and the daemon.
    enum Mistake: CaseIterable, Sendable {
        case swappedHalves, halfABundle, noCertificate, otherKey, exchangedKeys, noPassphrase, wrongPassphrase
        case uselessPassphrase, shortSecret, missingFile, openSecret, version3WithoutKey
    }

    @Test(arguments: Mistake.allCases)
    func refusesAndSaysWhatToDo(mistake: Mistake) async throws {
        let (path, words) = try make(mistake)
        let run = try await run("check")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        for word in [path] + words { #expect(run.messages.contains(word), "\(word) in \(run.messages)") }

        let machine = try await self.run("check", "--json")
        #expect(machine.status == 1)
        let object = try machine.object()
        #expect(object["good"]?.bool == false)
        let problems = try #require(object["problems"]?.array).compactMap(\.object)
        let paths = problems.map { $0["path"]?.string ?? "" }
        #expect(paths.contains("fairplay.credentials[0]\(path)"))
        #expect(problems.allSatisfy { $0["line"]?.number != nil && $0["message"]?.string != nil })
    }

    /// Makes the mistake. Returns the field that the command must name, and words that its advice must have.
    private func make(_ mistake: Mistake) throws -> (path: String, words: [String]) {
        let (key1024, _) = try Self.keys.get()
        switch mistake {
        case .swappedHalves:
            try folder.write("bundle.bin", large.der + small.der)
            return (".certificateBundle", ["2048-bit certificate comes first", "as Apple issued it"])
        case .halfABundle:
            try folder.write("bundle.bin", large.der)
            return (".certificateBundle", ["one certificate", "\"certificate2048\""])
        case .noCertificate:
            try folder.write("bundle.bin", key1024.privatePEM().revealed())
            return (".certificateBundle", ["X.509"])
        case .otherKey:
            try folder.write("small.key", RSAPrivateKey.generate(bits: 1024).privatePEM().revealed())
            return (".privateKey1024", ["does not belong", "signing request"])
        case .exchangedKeys:
            try folder.write("small.key", folder.read("large.key"))
            return (".privateKey1024", ["2048 bits", "1024"])
        case .noPassphrase:
            try folder.write("small.key", KeySamples.encrypted)
            return (".privateKey1024", ["encrypted", "privateKeyPassphrase"])
        case .wrongPassphrase:
            try folder.write("small.key", KeySamples.encrypted)
            try folder.write("passphrase", "s3cr3t")
            try configure(#"\#(Self.bundle), \#(Self.secret), privateKeyPassphrase: "passphrase""#)
            return (".privateKey1024", ["does not open", "openssl pkey"])
        case .uselessPassphrase:
            try folder.write("passphrase", "s3cr3t")
            try configure(#"\#(Self.bundle), \#(Self.secret), privateKeyPassphrase: "passphrase""#)
            return (".privateKeyPassphrase", ["no private key", "remove"])
        case .shortSecret:
            try folder.write("fairplay/application-secret.hex", "101112131415161718191a1b1c1d1e")
            return (".applicationSecret", ["16 bytes", "32 hexadecimal digits"])
        case .missingFile:
            try configure("\(Self.bundle), \(Self.secret)".replacingOccurrences(of: "large.key", with: "larger.key"))
            return (".privateKey2048", ["there is no file"])
        case .openSecret:
            try folder.write("small.key", folder.read("small.key"), mode: 0o644)
            return (".privateKey1024", ["chmod 0640"])
        case .version3WithoutKey:
            try configure(
                #"name: "a", certificate1024: "bundle.bin", privateKey1024: "small.key", spcVersion3: true, \#(Self.secret)"#
            )
            return (".spcVersion3", ["certificate2048"])
        }
    }

    @Test func refusesOneCertificateInTwoCredentials() async throws {
        let other = Self.bundle.replacingOccurrences(of: "main", with: "other")
        try configure("\(Self.bundle), \(Self.secret) }, { \(other), \(Self.secret)")
        let run = try await run("check")
        #expect(run.status == 1)
        #expect(run.messages.contains("fairplay.credentials[1]: has a certificate that credential \"main\" has too"))
    }

    @Test(arguments: ["{ nonsense", "{ fairplay: {} }"])
    func namesAConfigurationThatIsNone(text: String) async throws {
        try folder.write("latchkey.json5", text)
        for words in [["list"], ["check"]] {
            let run = try await run(words[0], "--json")
            #expect(run.status == 1)
            #expect(run.messages.contains("latchkey.json5"))
        }
        let problems = try await run("check", "--json").object()["problems"]?.array
        #expect(problems?.isEmpty == false)
    }

    @Test func noOutputHoldsASecret() async throws {
        for command in ["list", "check"] {
            let run = try await run(command)
            #expect(!(run.output + run.messages).contains("101112131415161718191a1b1c1d1e1f"))
        }
    }
}
