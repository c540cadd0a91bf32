import FairPlay
import KeyCrypto
import TestSupport
import Testing

@Suite struct CredentialTests {
    /// One form of the hash: the version, what is hashed, and the size in bits of the key that it selects.
    private struct Form: Hashable {
        let version: SPCVersion
        let subject: CredentialKey.Subject
        let bits: Int

        init(_ version: SPCVersion, _ subject: CredentialKey.Subject, _ bits: Int) {
            self.version = version
            self.subject = subject
            self.bits = bits
        }
    }

    private static let pairs = Result { try (makePair(1024), makePair(2048)) }

    private static func makePair(_ bits: Int) throws -> Credential.KeyPair {
        let key = try RSAPrivateKey.generate(bits: bits)
        return try Credential.KeyPair(
            certificate: .makeDevelopment(for: key, commonName: "\(bits)", now: 1_700_000_000), privateKey: key)
    }

    private let pair1024: Credential.KeyPair
    private let pair2048: Credential.KeyPair
    private let ladder: SessionKeyLadder

    init() throws {
        (pair1024, pair2048) = try Self.pairs.get()
        ladder = .applicationSecret(try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(count: 16)))
    }

    private func forms(_ credential: Credential) -> [Form] {
        credential.keys.map { Form($0.version, $0.subject, $0.privateKey.modulusSize * 8) }
    }

    @Test func selectsVersionsOneAndTwoByThreeHashes() throws {
        let credential = try Credential(name: "both", pair1024: pair1024, pair2048: pair2048, ladder: ladder)
        let expected: Set = [
            Form(.v1, .certificate1024, 1024), Form(.v1, .bundle, 1024), Form(.v2, .certificate2048, 2048),
        ]
        #expect(credential.keys.count == 3)
        #expect(Set(forms(credential)) == expected)
    }

    @Test func selectsVersionThreeByThreeMoreOnceItIsEnabled() throws {
        let credential = try Credential(
            name: "both", pair1024: pair1024, pair2048: pair2048, ladder: ladder, servesVersion3: true)
        let expected: Set = [
            Form(.v1, .certificate1024, 1024), Form(.v1, .bundle, 1024), Form(.v2, .certificate2048, 2048),
            Form(.v3, .certificate1024, 2048), Form(.v3, .certificate2048, 2048), Form(.v3, .bundle, 2048),
        ]
        #expect(credential.keys.count == 6)
        #expect(Set(forms(credential)) == expected)
    }

    @Test func hashesWhatTheSubjectSays() throws {
        let credential = try Credential(
            name: "both", pair1024: pair1024, pair2048: pair2048, ladder: ladder, servesVersion3: true)
        let crypto = try CryptoContext()
        let der1024 = pair1024.certificate.der
        let der2048 = pair2048.certificate.der
        #expect(credential.bundle == der1024 + der2048)
        for key in credential.keys {
            let bytes =
                switch key.subject {
                case .certificate1024: der1024
                case .certificate2048: der2048
                case .bundle: der1024 + der2048
                }
            #expect(key.sha1.bytes == (try crypto.sha1(bytes, in: 0..<bytes.count)))
            #expect(key.hash.bytes == (key.version == .v3 ? try crypto.sha256(bytes) : key.sha1.bytes))
        }
    }

    @Test func onePairAloneHasNoBundle() throws {
        let small = try Credential(name: "1024", pair1024: pair1024, pair2048: nil, ladder: ladder)
        #expect(forms(small) == [Form(.v1, .certificate1024, 1024)])
        #expect(small.bundle == pair1024.certificate.der)
        let large = try Credential(
            name: "2048", pair1024: nil, pair2048: pair2048, ladder: ladder, servesVersion3: true)
        #expect(forms(large) == [Form(.v2, .certificate2048, 2048), Form(.v3, .certificate2048, 2048)])
        #expect(large.bundle == pair2048.certificate.der)
    }

    @Test func refusesWhatMakesNoCredential() throws {
        #expect(throws: CredentialError.noCertificate) {
            try Credential(name: "none", pair1024: nil, pair2048: nil, ladder: ladder)
        }
        #expect(throws: CredentialError.wrongKeySize(expected: 1024, actual: 2048)) {
            try Credential(name: "swapped", pair1024: pair2048, pair2048: pair1024, ladder: ladder)
        }
        #expect(throws: CredentialError.wrongKeySize(expected: 2048, actual: 1024)) {
            try Credential(name: "small", pair1024: nil, pair2048: pair1024, ladder: ladder)
        }
        #expect(throws: CredentialError.version3WithoutKey2048) {
            try Credential(name: "small", pair1024: pair1024, pair2048: nil, ladder: ladder, servesVersion3: true)
        }
        #expect(throws: CredentialError.keyMismatch(bits: 1024)) {
            try Credential.KeyPair(certificate: pair1024.certificate, privateKey: pair2048.privateKey)
        }
    }

    @Test func servesVersionThreeOnlyWhereACredentialEnablesIt() throws {
        let plain = try Credential(name: "plain", pair1024: pair1024, pair2048: nil, ladder: ladder)
        let newer = try Credential(
            name: "newer", pair1024: nil, pair2048: pair2048, ladder: ladder, servesVersion3: true)
        #expect(try CredentialSet([plain]).servedVersions == [.v1, .v2])
        #expect(try CredentialSet([plain, newer]).servedVersions == [.v1, .v2, .v3])
    }

    /// The version is part of the choice: a hash is unknown with another version.
    @Test func findsEachKeyByItsOwnVersionAlone() throws {
        let credential = try Credential(
            name: "both", pair1024: pair1024, pair2048: pair2048, ladder: ladder, servesVersion3: true)
        let set = try CredentialSet([credential])
        for key in credential.keys {
            for version in [SPCVersion.v1, .v2, .v3] {
                let found = set.key(version: version, hash: key.hash)
                #expect(found?.subject == (version == key.version ? key.subject : nil))
            }
        }
    }

    @Test func refusesAHashThatTwoCredentialsHave() throws {
        let one = try Credential(name: "one", pair1024: pair1024, pair2048: nil, ladder: ladder)
        let two = try Credential(name: "two", pair1024: pair1024, pair2048: pair2048, ladder: ladder)
        #expect(throws: CredentialError.duplicateHash(first: "one", second: "two")) {
            try CredentialSet([one, two])
        }
    }

    /// A module that is connected later replaces the old one in its credential and for every hash, but in no other
    /// credential.
    @Test func connectsModulesByTheNameOfTheirCredential() throws {
        let one = try Credential(
            name: "one", pair1024: nil, pair2048: pair2048, ladder: ladder, servesVersion3: true)
        let two = try Credential(name: "two", pair1024: pair1024, pair2048: nil, ladder: ladder)
        let set = try CredentialSet([one, two]).connecting([
            "one": .module(RefusingModule()), "three": .module(RefusingModule()),
        ])
        #expect(set.credentials.map(\.name) == ["one", "two"])
        #expect(set.servedVersions == [.v1, .v2, .v3])
        for credential in set.credentials {
            #expect(isModule(credential.ladder) == (credential.name == "one"))
            for key in credential.keys {
                let found = try #require(set.key(version: key.version, hash: key.hash))
                #expect(isModule(found.ladder) == (credential.name == "one"))
                #expect(isModule(key.ladder) == (credential.name == "one"))
                #expect(found.credentialName == credential.name)
            }
        }
    }

    private func isModule(_ ladder: SessionKeyLadder) -> Bool {
        switch ladder {
        case .applicationSecret: false
        case .module: true
        case .library: false
        }
    }

    // MARK: Use

    @Test func allKeysOfACredentialCountInOnePlace() throws {
        let credential = try Credential(name: "both", pair1024: pair1024, pair2048: pair2048, ladder: ladder)
        for key in credential.keys { key.use.note() }
        #expect(credential.use.requestCount == 3)
    }

    /// A reload makes new credentials, and what uses each name is counted on.
    @Test func countsOnFromTheCredentialsBefore() throws {
        let before = try CredentialSet([
            Credential(name: "old", pair1024: pair1024, pair2048: nil, ladder: ladder),
            Credential(name: "gone", pair1024: nil, pair2048: pair2048, ladder: ladder),
        ])
        for credential in before.credentials { credential.keys[0].use.note() }
        let after = try CredentialSet([
            Credential(name: "new", stage: .staged, pair1024: nil, pair2048: pair2048, ladder: ladder),
            Credential(name: "old", stage: .draining, pair1024: pair1024, pair2048: nil, ladder: ladder),
        ]).countingOn(from: before)
        #expect(after.credentials.map(\.stage) == [.staged, .draining])
        #expect(after.credentials.map(\.use.requestCount) == [0, 1])
        // What an SPC finds counts in the same place.
        let hash = try #require(after.hashes(for: .v1).first)
        let key = try #require(after.key(version: .v1, hash: hash))
        key.use.note()
        #expect(after.credentials.map(\.use.requestCount) == [0, 2])
        #expect(before.credentials.map(\.use.requestCount) == [2, 1])
    }
}

private struct RefusingModule: LadderModule {
    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        throw .unavailable
    }
}
