import ByteCoding
import ContentKeys
import Entitlements
import KeyCrypto
import Testing

@testable import PackagerAPI

/// Which packager a credential belongs to.
@Suite struct PackagerDirectoryTests {
    private let key: HMACSHA256Key
    private let directory: PackagerDirectory

    init() throws {
        let key = try HMACSHA256Key(SecretBytes.random(count: 32))
        func digest(_ text: String) throws -> AuthenticatorDigest {
            try AuthenticatorDigest(of: Array(text.utf8), key: key)
        }
        self.key = key
        directory = PackagerDirectory(
            [
                .init(
                    Packager(name: "first"), secrets: [try digest("secret-of-first"), try digest("former-of-first")],
                    certificates: [.subject("CN=first")]),
                .init(Packager(name: "second"), user: "tenant", secrets: [try digest("secret-of-second")]),
                .init(
                    Packager(name: "third"), secrets: [],
                    certificates: [.sha256(Self.fingerprint), .subject("CN=third"), .subject("CN=other")]),
                .init(
                    Packager(name: "fourth", isDisabled: true), secrets: [try digest("secret-of-fourth")],
                    certificates: [.subject("CN=fourth")]),
            ], key: key)
    }

    private static let fingerprint = [UInt8](repeating: 7, count: 32)

    private func judge(
        _ authorization: String? = nil, key: String? = nil, subject: String? = nil, sha256: [UInt8] = [],
        in directory: PackagerDirectory? = nil
    ) throws(PackagerRefusal) -> Packager {
        try (directory ?? self.directory).judge(
            PackagerCredentials(
                authorization: authorization.map { [Array($0.utf8)[...]] } ?? [],
                apiKeys: key.map { [Array($0.utf8)[...]] } ?? [],
                certificate: subject.map { .init(subject: $0, sha256: sha256) }))
    }

    private func basic(_ text: String) -> String { PackagerCredentialsTests.basic(text) }

    @Test func findsAPackagerByEachWay() throws {
        #expect(try judge("Bearer secret-of-first").name == "first")
        #expect(try judge(key: "former-of-first").name == "first")
        #expect(try judge(basic("first:secret-of-first")).name == "first")
        #expect(try judge(basic("tenant:secret-of-second"), key: "secret-of-second").name == "second")
        #expect(try judge(subject: "CN=first").name == "first")
        #expect(try judge(subject: "CN=anything", sha256: Self.fingerprint).name == "third")
        // The subject and the fingerprint of this certificate belong to the same packager.
        #expect(try judge(subject: "CN=third", sha256: Self.fingerprint).name == "third")
    }

    /// A listener may demand a certificate from every client. The secret then says which packager it is.
    @Test func takesASecretBesideACertificate() throws {
        #expect(try judge(key: "secret-of-second", subject: "CN=gateway").name == "second")
        #expect(try judge(key: "secret-of-first", subject: "CN=first").name == "first")
    }

    @Test(arguments: [
        "Bearer secret-of-nobody", "Bearer secret-of-firs", "Bearer secret-of-first1", "Bearer SECRET-OF-FIRST",
        "Bearer first", "Bearer CN=first",
    ])
    func refusesAWrongSecret(authorization: String) {
        #expect(throws: PackagerRefusal.wrong) { try judge(authorization) }
        // A certificate beside it does not help.
        #expect(throws: PackagerRefusal.wrong) { try judge(authorization, subject: "CN=first") }
    }

    @Test(arguments: [
        "second:secret-of-second", "first:secret-of-second", ":secret-of-second", "Tenant:secret-of-second",
    ])
    func refusesAWrongUser(text: String) {
        #expect(throws: PackagerRefusal.wrong) { try judge(basic(text)) }
    }

    @Test func refusesTwoPackagersInOneRequest() {
        #expect(throws: PackagerRefusal.ambiguous) { try judge("Bearer secret-of-first", key: "secret-of-second") }
        #expect(throws: PackagerRefusal.ambiguous) { try judge("Bearer secret-of-first", key: "former-of-first") }
        #expect(throws: PackagerRefusal.ambiguous) { try judge(key: "secret-of-second", subject: "CN=first") }
        #expect(throws: PackagerRefusal.ambiguous) { try judge(subject: "CN=first", sha256: Self.fingerprint) }
    }

    @Test func refusesNothingAndWhatItCannotRead() {
        #expect(throws: PackagerRefusal.missing) { try judge() }
        #expect(throws: PackagerRefusal.missing) { try judge(subject: "CN=unknown") }
        #expect(throws: PackagerRefusal.malformed) { try judge("Digest username=first", subject: "CN=first") }
    }

    @Test func refusesADisabledPackagerByEachWay() {
        for (secret, subject) in [("secret-of-fourth", nil), (nil, "CN=fourth"), ("secret-of-fourth", "CN=fourth")] {
            #expect(throws: PackagerRefusal.disabled("fourth")) { try judge(key: secret, subject: subject) }
        }
    }

    @Test func refusesEverythingWithoutPackagers() {
        #expect(PackagerDirectory.empty.isEmpty && PackagerDirectory.empty.names.isEmpty)
        #expect(throws: PackagerRefusal.missing) { try judge(in: .empty) }
        #expect(throws: PackagerRefusal.wrong) { try judge(key: "secret-of-first", in: .empty) }
        #expect(throws: PackagerRefusal.missing) { try judge(subject: "CN=first", in: .empty) }
    }

    @Test func namesPackagersInOrder() {
        #expect(directory.names == ["first", "second", "third", "fourth"])
    }
}

/// The permissions of a packager.
@Suite struct PackagerTests {
    @Test func permitsItsScopesForItsContents() throws {
        let packager = Packager(name: "p", scopes: [.create], contents: ContentScope(["movie-1", "live/*"]))
        for scope in Packager.Scope.allCases {
            for (content, isOwn) in [("movie-1", true), ("live/9", true), ("movie-12", false), ("Movie-1", false)] {
                let content = try ContentID(content)
                #expect(packager.permits(scope, of: content) == (isOwn && scope == .create))
            }
        }
        let everywhere = Packager(name: "p")
        let content = try ContentID("x")
        #expect(everywhere.permits(.read, of: content) && everywhere.permits(.create, of: content))
        #expect(!everywhere.permits(.import, of: content))
        #expect(packager.actor == "packager:p")
    }

    @Test func acceptsPinnedRecipientsAlone() throws {
        let key = try RSAPrivateKey.generate(bits: 2048)
        let pinned = try Certificate.makeDevelopment(for: key, commonName: "packager", now: 1_700_000_000)
        // Another certificate with the same key has another encoding.
        let other = try Certificate.makeDevelopment(for: key, commonName: "other", now: 1_700_000_000)
        let packager = Packager(name: "p", recipients: [pinned], requiresEncryptedDelivery: true)
        let sent = try Certificate(parsing: pinned.der)
        #expect(packager.accepts(recipient: sent))
        #expect(!packager.accepts(recipient: other))
        #expect(!Packager(name: "p").accepts(recipient: pinned))
    }
}
