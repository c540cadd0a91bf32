import ByteCoding
import Entitlements
import FairPlay
import Foundation
import HTTPServing
import KeyCrypto
import POSIXSockets
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct LoadedConfigurationTests {
    private let folder: ConfigurationFolder
    private let material: ConfigurationMaterial

    init() throws {
        folder = try ConfigurationFolder()
        material = try ConfigurationMaterial.shared.get()
    }

    private func faults(_ text: String = ConfigurationText.make()) -> [String: ConfigurationFault] {
        Dictionary(folder.problems(text).map { ($0.path, $0.fault) }) { first, _ in first }
    }

    // MARK: What is good

    @Test func loadsACompleteConfiguration() throws {
        let text = ConfigurationText.make(
            rest:
                #"listeners: { admin: [{ address: "127.0.0.1:0", tokenFile: "secrets/admin-token" }, { address: "[::1]:0" }] }"#
        )
        let loaded = try folder.load(text)

        #expect(loaded.credentials.credentials.map(\.name) == ["main"])
        #expect(loaded.credentials.credentials.map(\.isDevelopmentMaterial) == [true])
        #expect(loaded.credentials.credentials.map(\.keys.count) == [3])
        #expect(loaded.databasePath == folder.path + "/latchkey.db")
        #expect(loaded.issuers.leeway == 5)
        #expect(loaded.adminListeners.map(\.address.description) == ["127.0.0.1:0", "[::1]:0"])
        let tokens = loaded.adminListeners.map { $0.administrators.tokens.map { $0.secret.bytes.revealed() } }
        #expect(tokens == [[Array("0123456789abcdef0123456789abcdef".utf8)], []])
    }

    /// Each operator has a named token, and the ledger records this name.
    @Test func loadsTheTokensOfAdminListenersByName() throws {
        let token = #"{ name: "alice", file: "secrets/admin-token" }"#
        func text(_ listener: String) -> String {
            ConfigurationText.make(rest: "listeners: { admin: [{ \(listener) }] },")
        }
        let both = text(#"address: "127.0.0.1:0", tokenFile: "secrets/admin-token", tokens: [\#(token)]"#)
        #expect(try folder.load(both).adminListeners[0].administrators.tokens.map(\.name) == ["tokenFile", "alice"])
        let open = text(#"address: "0.0.0.0:0", allowPlaintext: true, tokens: [\#(token)]"#)
        #expect(faults(open)["listeners.admin[0]"] == nil, "a named token protects a listener too")
        try folder.write("short", "too-short")
        let short = text(#"address: "127.0.0.1:0", tokens: [{ name: "bob", file: "short" }]"#)
        #expect(faults(short) == ["listeners.admin[0].tokens[0].file": .notAnAdminToken])
        let twice = text(#"address: "127.0.0.1:0", tokens: [\#(token), \#(token)]"#)
        #expect(faults(twice).keys.contains("listeners.admin[0].tokens[1].name"))
    }

    @Test func theKeyEncryptionKeyIsTheOneInTheFile() throws {
        let key = try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32)))
        let sealed = try key.seal(SecretBytes(copying: [1, 2, 3]), associatedData: [4])
        let loaded = try folder.load(ConfigurationText.make())
        #expect(try loaded.keyEncryptionKey.open(sealed, associatedData: [4]).revealed() == [1, 2, 3])
    }

    @Test(arguments: ["1024", "2048"])
    func onePairIsEnough(bits: String) throws {
        let credential = """
            name: "one", certificate\(bits): "fairplay/certificate-\(bits).der", \
            privateKey\(bits): "fairplay/private-key-\(bits).pem", applicationSecret: "fairplay/application-secret.hex"
            """
        let loaded = try folder.load(ConfigurationText.make(credential: credential))
        #expect(loaded.credentials.credentials.map(\.keys.count) == [1])
    }

    @Test func verifiesTokensOfAPublicAndASharedKey() throws {
        try folder.write("secrets/shared", String(repeating: "k", count: 32) + "\n")
        let key = """
            kid: "public", algorithm: "ES256", key: "secrets/token-verification-key.pem" },
            { kid: "shared", algorithm: "HS256", key: "secrets/shared"
            """
        let verifier = TokenVerifier(issuers: try folder.load(ConfigurationText.make(key: key)).issuers)
        let shared = SecretBytes(copying: [UInt8](repeating: UInt8(ascii: "k"), count: 32))
        let minters = [
            TokenMinter(keyID: "public", es256: material.tokenKey),
            try TokenMinter(keyID: "shared", hs256: shared),
        ]
        for minter in minters {
            let token = try minter.mint(
                TokenContents(
                    issuer: "https://portal.example", audience: "latchkey", issuedAt: 1_700_000_000,
                    expiresAt: 1_700_000_060, rights: [Right(.content("film"))]))
            #expect(throws: Never.self) { try verifier.verify(Array(token.utf8), now: 1_700_000_000) }
        }
    }

    /// Axinom shows its communication keys in Base64, and signs with the decoded bytes. Every other dialect uses the
    /// characters of the secret itself.
    @Test(arguments: [("axinom", true), ("nagra", false), ("jwt", false)])
    func aCommunicationKeyOfAxinomIsDecoded(dialect: String, isDecoded: Bool) throws {
        let spelled = "RPSdG/fViTkTjcuG3fcRXL2JDchGThWQ/tfSNHAoG+A="
        try folder.write("secrets/key", spelled + "\n")
        let text = ConfigurationText.make(
            issuer: #"issuer: "other", dialect: "\#(dialect)""#,
            key: #"kid: "k", algorithm: "HS256", key: "secrets/key""#)
        let issuers = try folder.load(text).issuers
        for isEncoded in [true, false] {
            let secret = SecretBytes(copying: isEncoded ? Array(spelled.utf8) : try Base64.decode(spelled))
            let token = try TokenMinter(keyID: "k", hs256: secret).mint(
                TokenContents(
                    issuer: "other", audience: "latchkey", issuedAt: 1_700_000_000, expiresAt: 1_700_000_060,
                    rights: [Right(.content("film"))]))
            var refusal: EntitlementError?
            do throws(EntitlementError) {
                _ = try TokenVerifier(issuers: issuers).verify(Array(token.utf8), now: 1_700_000_000)
            } catch {
                refusal = error
            }
            // The claims belong to another dialect, but this is checked only after the signature.
            #expect((refusal == .signatureInvalid) == (isEncoded == isDecoded))
        }
    }

    @Test(arguments: ["not base64 at all, and 32 bytes long", "RPSdG/fViTkTjcuG3fcRXL2JDchGThWQ/tfSNHAoG+A", "===="])
    func aCommunicationKeyThatIsNotBase64IsRefused(text: String) throws {
        try folder.write("secrets/key", text + "\n")
        let configuration = ConfigurationText.make(
            issuer: #"issuer: "other", dialect: "axinom""#, key: #"kid: "k", algorithm: "HS256", key: "secrets/key""#)
        #expect(
            faults(configuration) == [
                "entitlement.issuers[0].keys[0].key": .issuer(.communicationKeyNotBase64)
            ])
    }

    @Test func takesTheKeysOfAFile() throws {
        let publicKey = #"{"kid":"a","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        let secret = #"{"kid":"b","kty":"oct","k":"\#(String(repeating: "A", count: 43))"}"#
        let issuer = #"issuer: "https://portal.example", keysFile: "secrets/keys.json""#
        try folder.write("secrets/keys.json", "{\"keys\":[\(publicKey)]}", mode: 0o644)
        #expect(throws: Never.self) { try folder.load(ConfigurationText.make(issuer: issuer)) }
        try folder.write("secrets/keys.json", "{\"keys\":[\(publicKey),\(secret)]}", mode: 0o644)
        #expect(
            faults(ConfigurationText.make(issuer: issuer)) == [
                "entitlement.issuers[0].keysFile":
                    .file(.permissionsTooWide(path: folder.path + "/secrets/keys.json", mode: 0o644))
            ])
        try folder.write("secrets/keys.json", "{\"keys\":[\(publicKey),\(secret)]}", mode: 0o600)
        #expect(throws: Never.self) { try folder.load(ConfigurationText.make(issuer: issuer)) }
        try folder.write("secrets/keys.json", "{}")
        #expect(
            faults(ConfigurationText.make(issuer: issuer)) == [
                "entitlement.issuers[0].keysFile": .issuer(.keySet(.notAKeySet))
            ])
    }

    @Test func theStateOfAKeyIsConfigured() throws {
        let key = ConfigurationText.key + #", state: "revoked""#
        let verifier = TokenVerifier(issuers: try folder.load(ConfigurationText.make(key: key)).issuers)
        let token = try TokenMinter(keyID: "k1", es256: material.tokenKey).mint(
            TokenContents(
                issuer: "https://portal.example", audience: "latchkey", issuedAt: 1_700_000_000,
                expiresAt: 1_700_000_060, rights: []))
        #expect(throws: EntitlementError.keyRevoked) { try verifier.verify(Array(token.utf8), now: 1_700_000_000) }
    }

    @Test func systemdCredentialsAndVariablesServeAsFiles() throws {
        let environment = [
            "CREDENTIALS_DIRECTORY": folder.path + "/secrets", "ASK": folder.path + "/fairplay/application-secret.hex",
        ]
        let credential = ConfigurationText.credential.replacingOccurrences(
            of: "fairplay/application-secret.hex", with: "environment:ASK")
        let text = ConfigurationText.make(
            credential: credential, rest: #"keys: { keyEncryptionKey: "credential:key-encryption-key" }"#)
        #expect(throws: Never.self) { try folder.load(text, environment: environment) }
        #expect(
            folder.problems(text).map(\.fault) == [
                .file(.variableMissing(name: "ASK")), .file(.credentialsDirectoryMissing(name: "key-encryption-key")),
            ])
    }

    // MARK: What is wrong

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        try folder.write("fairplay/private-key-1024.pem", material.otherKey1024.privatePEM().revealed())
        #expect(
            faults() == ["fairplay.credentials[0].privateKey1024": .keyMismatch(certificate: "certificate1024")])
    }

    @Test func exchangedSizesAreRefused() throws {
        let credential = """
            name: "x", certificate1024: "fairplay/certificate-2048.der", privateKey1024: "fairplay/private-key-2048.pem", \
            applicationSecret: "fairplay/application-secret.hex"
            """
        #expect(
            faults(ConfigurationText.make(credential: credential)) == [
                "fairplay.credentials[0].certificate1024": .wrongKeySize(expected: 1024, actual: 2048),
                "fairplay.credentials[0].privateKey1024": .wrongKeySize(expected: 1024, actual: 2048),
            ])
    }

    @Test func exchangedFilesAreRefused() throws {
        try folder.write("fairplay/certificate-2048.der", material.key2048.privatePEM().revealed())
        try folder.write("fairplay/private-key-2048.pem", ConfigurationMaterial.certificate(for: material.key2048))
        #expect(
            faults() == [
                "fairplay.credentials[0].certificate2048": .notACertificate,
                "fairplay.credentials[0].privateKey2048": .notAPrivateKey,
            ])
    }

    @Test func oneCertificateInTwoCredentialsIsRefused() {
        let other = ConfigurationText.credential.replacingOccurrences(of: "main", with: "other")
        let text = ConfigurationText.make(credential: ConfigurationText.credential + " }, { " + other)
        #expect(faults(text) == ["fairplay.credentials[1]": .sameCertificate(as: "main")])
    }

    @Test func aFixedDASkNeedsPermission() throws {
        let credential = ConfigurationText.credential.replacingOccurrences(of: "applicationSecret", with: "fixedDASk")
        #expect(
            faults(ConfigurationText.make(credential: credential)) == [
                "fairplay.credentials[0].fixedDASk": .testCredentialForbidden
            ])
        let loaded = try folder.load(
            ConfigurationText.make(credential: credential, fairplay: "allowTestCredentials: true"))
        guard case .applicationSecret(let ladder) = loaded.credentials.credentials.first?.ladder else {
            Issue.record("a fixed DASk is no module")
            return
        }
        #expect(ladder.kind == .fixedDASk)
    }

    @Test(arguments: [
        "fairplay/private-key-1024.pem", "fairplay/application-secret.hex", "secrets/key-encryption-key",
        "secrets/ledger-key", "secrets/pseudonym-key",
    ])
    func secretsThatOthersMayReadAreRefused(name: String) throws {
        let path = folder.path + "/" + name
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(Array(faults().values) == [.file(.permissionsTooWide(path: path, mode: 0o644))])
    }

    @Test func anythingButASecretIsRefused() throws {
        try folder.write("fairplay/application-secret.hex", "1011")
        try folder.write("secrets/key-encryption-key", "101112131415161718191a1b1c1d1e1f")
        #expect(
            faults() == [
                "fairplay.credentials[0].applicationSecret": .notASecret(size: 16),
                "keys.keyEncryptionKey": .notASecret(size: 32),
            ])
    }

    @Test(arguments: ["short", "two words are no token", "\n", String(repeating: "x", count: 1025)])
    func anythingButATokenIsRefusedForAdministrators(text: String) throws {
        try folder.write("secrets/admin-token", text)
        let text = ConfigurationText.make(
            rest: #"listeners: { admin: [{ address: "127.0.0.1:0", tokenFile: "secrets/admin-token" }] }"#)
        #expect(faults(text) == ["listeners.admin[0].tokenFile": .notAnAdminToken])
    }

    @Test(arguments: [
        ("ES256", "secrets/admin-token", ConfigurationFault.notAVerificationKey(.es256)),
        ("EdDSA", "secrets/token-verification-key.pem", .notAVerificationKey(.edDSA)),
        ("RS256", "secrets/token-verification-key.pem", .notAVerificationKey(.rs256)),
        ("RS256", "fairplay/certificate-2048.der", .notAVerificationKey(.rs256)),
        ("HS256", "secrets/token-signing-key.pem", .issuer(.secretIsAPublicKey)),
        ("HS256", "short", .issuer(.secretTooShort(size: 5))),
    ])
    func keysThatDoNotFitTheAlgorithmAreRefused(algorithm: String, name: String, fault: ConfigurationFault) throws {
        try folder.write("short", "short\n")
        let text = ConfigurationText.make(key: #"kid: "k1", algorithm: "\#(algorithm)", key: "\#(name)""#)
        #expect(faults(text) == ["entitlement.issuers[0].keys[0].key": fault])
    }

    /// A public key is no secret, so its permissions do not matter, whatever else is wrong with it. A private key is a
    /// fault, although no other user can read it.
    @Test(arguments: [0o600, 0o644])
    func aPrivateKeyIsNotForVerifying(mode: Int) throws {
        let ed25519 = try Ed25519PrivateKey.generate().privatePEM().revealed()
        let keys = [
            ("ES256", try material.tokenKey.privatePEM().revealed()), ("EdDSA", ed25519),
            ("RS256", try material.key2048.privatePEM().revealed()), ("ES256", ed25519),
            ("RS256", try material.key1024.privatePEM().revealed()),
        ]
        for (algorithm, key) in keys {
            try folder.write("key.pem", key, mode: mode)
            let text = ConfigurationText.make(key: #"kid: "k1", algorithm: "\#(algorithm)", key: "key.pem""#)
            #expect(faults(text) == ["entitlement.issuers[0].keys[0].key": .privateKeyForVerifying])
        }
        try folder.write("key.pem", "no key", mode: mode)
        let text = ConfigurationText.make(key: #"kid: "k1", algorithm: "ES256", key: "key.pem""#)
        #expect(faults(text) == ["entitlement.issuers[0].keys[0].key": .notAVerificationKey(.es256)])
    }

    @Test func everyProblemIsReportedWithItsLine() throws {
        try folder.write("fairplay/certificate-1024.der", "broken")
        try folder.write("fairplay/private-key-2048.pem", "broken")
        try folder.write("secrets/key-encryption-key", "broken")
        try folder.write("secrets/token-verification-key.pem", "broken")
        let text = ConfigurationText.make(
            rest:
                #"keys: { keyEncryptionKey: "secrets/key-encryption-key" }, listeners: { admin: [{ address: "127.0.0.1:1", tokenFile: "x" }] }"#
        )
        let problems = folder.problems(text)
        #expect(
            problems.map { "\($0.path) \($0.position?.line ?? 0)" } == [
                "fairplay.credentials[0].certificate1024 2", "fairplay.credentials[0].privateKey2048 2",
                "entitlement.issuers[0].keys[0].key 4", "keys.keyEncryptionKey 6", "listeners.admin[0].tokenFile 6",
            ])
    }

    @Test func noMessageHoldsAPartOfASecret() throws {
        try folder.write("fairplay/application-secret.hex", "s3cr3t")
        try folder.write("secrets/key-encryption-key", "s3cr3t")
        try folder.write("secrets/token-verification-key.pem", "s3cr3t")
        let error = ConfigurationError.invalid(path: "c", folder.problems(ConfigurationText.make()))
        #expect(error.problems.count == 3)
        #expect(!error.description.contains("s3cr3t") && !"\(error.problems)".contains("s3cr3t"))
    }
}

@Suite struct ListenerCheckTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
    }

    private func problems(_ listeners: String, allowTestCredentials: Bool) -> [String] {
        let text = ConfigurationText.make(
            fairplay: "allowTestCredentials: \(allowTestCredentials)", rest: "listeners: { \(listeners) }")
        return folder.problems(text).map { problem in
            switch problem.fault {
            case .plaintextBeyondLoopback: "\(problem.path) plaintext"
            case .developmentMaterialBeyondLoopback(_, "main"): "\(problem.path) development"
            case .adminTokenMissing: "\(problem.path) token"
            default: "\(problem.path) another"
            }
        }
    }

    @Test(arguments: [
        #"public: [{ address: "127.0.0.1:0" }, { address: "127.9.9.9:0" }, { address: "[::1]:0" }]"#,
        #"public: [{ address: "[::ffff:127.0.0.1]:0" }], admin: [{ address: "[::1]:0" }]"#,
    ])
    func loopbackIsForEverything(listeners: String) {
        #expect(problems(listeners, allowTestCredentials: false).isEmpty)
    }

    @Test(arguments: ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0"])
    func otherAddressesAreRefusedForEachReason(address: String) {
        let publicListeners = #"public: [{ address: "127.0.0.1:1" }, { address: "\#(address)" }]"#
        let path = "listeners.public[1].address"
        #expect(
            problems(publicListeners, allowTestCredentials: false) == ["\(path) plaintext", "\(path) development"])
        #expect(problems(publicListeners, allowTestCredentials: true) == ["\(path) plaintext"])
    }

    @Test func anOpenAdminListenerNeedsAToken() {
        let open = #"admin: [{ address: "0.0.0.0:0" }]"#
        let guarded = #"admin: [{ address: "0.0.0.0:0", tokenFile: "secrets/admin-token" }]"#
        let path = "listeners.admin[0]"
        #expect(
            Set(problems(open, allowTestCredentials: true)) == ["\(path).address plaintext", "\(path) token"])
        #expect(problems(guarded, allowTestCredentials: true) == ["\(path).address plaintext"])
    }

    @Test(arguments: [
        #"tls: { certificate: "certificate.pem", privateKey: "key.pem" }"#, "allowPlaintext: true",
    ])
    func tlsOrPermissionOpensAListener(field: String) throws {
        try writeTLSFiles()
        #expect(
            problems(#"public: [{ address: "0.0.0.0:0", \#(field) }]"#, allowTestCredentials: true) == [])
        #expect(
            problems(#"public: [{ address: "0.0.0.0:0", \#(field) }]"#, allowTestCredentials: false)
                == ["listeners.public[0].address development"])
    }

    @Test func unixAndPassedSocketsAreNotRefusedBeforehand() {
        #expect(
            problems(
                #"public: [{ address: "unix:/run/x" }, { address: "systemd:x" }]"#, allowTestCredentials: false) == [])
    }

    // MARK: Reload

    /// If the secret of the call-back service has changed, a reload makes a new service, even if the file has the same
    /// name.
    @Test func noticesANewSecretOfTheCallbackInTheSameFile() throws {
        let text = ConfigurationText.make(
            entitlement: #"callback: { url: "https://portal.example/entitle", secret: "callback-secret" },"#)
        try folder.write("callback-secret", String(repeating: "a", count: 32))
        let (first, again) = (try folder.load(text), try folder.load(text))
        #expect(first.isSame(as: again, under: "entitlement.callback"))
        try folder.write("callback-secret", String(repeating: "b", count: 32))
        #expect(!first.isSame(as: try folder.load(text), under: "entitlement.callback"))
    }

    private func adminListeners(_ elements: String) throws -> [LoadedConfiguration.Listener] {
        let text = ConfigurationText.make(rest: "listeners: { admin: [\(elements)] },")
        return try folder.load(text).adminListeners
    }

    @Test func listenersAreSucceededByThoseOfTheirAddress() throws {
        let running = try adminListeners(#"{ address: "127.0.0.1:1" }, { address: "127.0.0.1:2", socketMode: "0600" }"#)
        let new = try adminListeners(
            #"{ address: "127.0.0.1:3" }, { address: "127.0.0.1:2", socketMode: "0640" }, { address: "127.0.0.1:4" }"#)
        let successors = LoadedConfiguration.successors(of: running, in: new)
        #expect(successors.map { $0?.address.description } == [nil, "127.0.0.1:2"])
        #expect(successors.map { $0?.transport.socketMode } == [nil, 0o640])
    }

    /// With port 0, two listeners may have the same address. Neither gets the token of the other.
    @Test func listenersOfOneAddressAreSucceededInTheirOrder() throws {
        let elements = #"{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", socketMode: "0600" }"#
        let running = try adminListeners(elements)
        let successors = LoadedConfiguration.successors(of: running, in: try adminListeners(elements))
        #expect(successors.map { $0?.transport.socketMode } == [0o660, 0o600])
        #expect(LoadedConfiguration.successors(of: running, in: []).allSatisfy { $0 == nil })
    }

    // MARK: TLS files

    private func writeTLSFiles() throws {
        let key = try ES256PrivateKey.generate()
        try folder.write("certificate.pem", try key.makeLocalTLSCertificate(now: 1_800_000_000))
        try folder.write("key.pem", try key.privatePEM().revealed())
        try folder.write("other-key.pem", try ES256PrivateKey.generate().privatePEM().revealed())
        try folder.write("text.pem", "not PEM")
    }

    @Test(arguments: [
        (
            #"certificate: "text.pem", privateKey: "key.pem""#, "certificate",
            ConfigurationFault.tls(.notACertificateChain)
        ),
        (#"certificate: "certificate.pem", privateKey: "text.pem""#, "privateKey", .tls(.notAPrivateKey)),
        (#"certificate: "certificate.pem", privateKey: "other-key.pem""#, "privateKey", .tls(.keyMismatch)),
        (
            #"certificate: "certificate.pem", privateKey: "key.pem", clientCA: "certificate.pem""#, "clientCA",
            .tls(.notAuthorities)
        ),
        (
            #"certificate: "certificate.pem", privateKey: "key.pem", cipherList: "NO-SUCH-CIPHER""#, "cipherList",
            .tls(.noCipherList)
        ),
        (
            #"certificate: "certificate.pem", privateKey: "key.pem", cipherSuites: "TLS_NO_SUCH_SUITE""#,
            "cipherSuites", .tls(.noCipherSuites)
        ),
        (
            #"certificate: "certificate.pem", privateKey: "key.pem", ticketKeys: ["text.pem"]"#, "ticketKeys[0]",
            .notASecret(size: 32)
        ),
        (
            #"certificate: "certificate.pem", privateKey: "key.pem", additional: [{ certificate: "certificate.pem", privateKey: "other-key.pem" }]"#,
            "additional[0].privateKey", .tls(.keyMismatch)
        ),
    ])
    func tlsFilesMustFit(fields: String, field: String, fault: ConfigurationFault) throws {
        try writeTLSFiles()
        for section in ["public", "admin"] {
            let text = ConfigurationText.make(
                rest: "listeners: { \(section): [{ address: \"127.0.0.1:0\", tls: { \(fields) } }] }")
            let problems = folder.problems(text)
            #expect(problems.map(\.path) == ["listeners.\(section)[0].tls.\(field)"])
            #expect(problems.map(\.fault) == [fault])
        }
    }

    @Test func credentialsThatAppleIssuedAreNoDevelopmentMaterial() throws {
        let credentials = try CredentialSet([])
        let listeners = Configuration.Listeners(
            public: [.init(address: .socket(.internet(.v4(0), port: 1)))], admin: [])
        let problems = LoadedConfiguration.checkListeners(
            listeners, credentials: credentials, allowTestCredentials: false)
        #expect(problems.map(\.fault) == [.plaintextBeyondLoopback(.internet(.v4(0), port: 1))])
    }

    private static let sharedAddresses: [(String, String, Bool)] = [
        ("127.0.0.1:9443", "127.0.0.1:9443", true), ("127.0.0.1:9443", "127.0.0.1:9444", false),
        ("127.0.0.1:0", "127.0.0.1:0", false), ("127.0.0.1:9443", "127.0.0.2:9443", false),
        ("127.0.0.1:9443", "[::1]:9443", false), ("0.0.0.0:9443", "127.0.0.1:9443", true),
        ("[::1]:9443", "[::]:9443", true), ("unix:/run/a", "unix:/run/a", true),
        ("unix:/run/a", "unix:/run/b", false), ("systemd:a", "systemd:a", true), ("systemd:a", "systemd:b", false),
    ]

    /// The start would fail, because the address is in use by the other listener.
    @Test(arguments: sharedAddresses)
    func twoListenersNeedTwoAddresses(one: String, other: String, isFault: Bool) throws {
        let (first, second) = (try #require(ListenerAddress(one)), try #require(ListenerAddress(other)))
        let all: [(Configuration.Listeners, path: String, other: String)] = [
            (
                .init(public: [.init(address: first)], admin: [.init(address: second)]),
                "listeners.admin[0].address", "listeners.public[0]"
            ),
            (
                .init(public: [.init(address: first), .init(address: second)], admin: []),
                "listeners.public[1].address", "listeners.public[0]"
            ),
        ]
        for (listeners, path, twin) in all {
            let problems = LoadedConfiguration.checkListeners(
                listeners, credentials: try CredentialSet([]), allowTestCredentials: false)
            let found = problems.filter { $0.fault == .sameAddress(as: twin) }
            #expect(found.map(\.path) == (isFault ? [path] : []))
        }
    }

    /// The problem names the variable and no line of the file, because the file has another value.
    @Test(arguments: ["LATCHKEY_LISTEN", "LATCHKEY_ADMIN_LISTEN"])
    func anOverriddenAddressIsCheckedToo(variable: String) {
        let problems = folder.problems(
            ConfigurationText.make(rest: #"listeners: { public: [{ address: "127.0.0.1:1" }] }"#),
            environment: [variable: "0.0.0.0:0"])
        let addressProblems = problems.filter { $0.fault != .adminTokenMissing(.internet(.v4(0), port: 0)) }
        #expect(addressProblems.map(\.path) == [variable, variable])
        #expect(addressProblems.allSatisfy { $0.position == nil })
    }
}
