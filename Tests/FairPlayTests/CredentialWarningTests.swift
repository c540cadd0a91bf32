import FairPlay
import KeyCrypto
import TestSupport
import Testing

@Suite struct CredentialWarningTests {
    private static let keys = Result {
        (try RSAPrivateKey.generate(bits: 1024), try RSAPrivateKey.generate(bits: 2048))
    }
    private static let day: Int64 = 86_400

    /// A credential whose certificates end at these times.
    private func credential(
        ends: (Int64, Int64) = (2_000_000_000, 2_000_000_000), sdkVersion: [UInt8]? = nil,
        kind: ApplicationSecretKeyLadder.Kind = .applicationSecret, teams: (String?, String?) = (nil, nil)
    ) throws -> Credential {
        let (small, large) = try Self.keys.get()
        return try Credential(
            name: "test",
            pair1024: .init(
                certificate: CertificateSamples.make(for: small, notAfter: ends.0, team: teams.0), privateKey: small),
            pair2048: .init(
                certificate: CertificateSamples.make(
                    for: large, notAfter: ends.1, sdkVersion: sdkVersion, team: teams.1),
                privateKey: large),
            ladder: .applicationSecret(ApplicationSecretKeyLadder(kind, SecretBytes(count: 16))))
    }

    @Test func saysNothingOfAGoodCredential() throws {
        #expect(try credential().warnings(now: 1_800_000_000).isEmpty)
        #expect(try !credential().isDevelopmentMaterial)
        #expect(try credential(sdkVersion: [2, 2, 26, 255]).warnings(now: 1_800_000_000).isEmpty)
    }

    /// A warning is given from 30 days before the end on, and after the end.
    @Test(arguments: [
        (-31 * day, nil), (-30 * day - 1, nil), (-30 * day, false), (-1, false), (0, false), (1, true),
        (1_000 * day, true),
    ])
    func warnsAboutTheEnd(offset: Int64, isPast: Bool?) throws {
        let ends: (Int64, Int64) = (1_900_000_000, 2_100_000_000)
        let expected: [CredentialWarning] =
            switch isPast {
            case .none: []
            case .some(false): [.certificateExpiring(bits: 1024, notAfter: ends.0)]
            case .some(true): [.certificateExpired(bits: 1024, notAfter: ends.0)]
            }
        #expect(try credential(ends: ends).warnings(now: ends.0 + offset) == expected)
        let swapped = try credential(ends: (ends.1, ends.0)).warnings(now: ends.0 + offset)
        #expect(swapped.count == expected.count)
    }

    @Test func warnsAboutBothCertificates() throws {
        let warnings = try credential(ends: (1_900_000_000, 1_900_000_001)).warnings(now: 1_900_000_001)
        #expect(
            warnings == [
                .certificateExpired(bits: 1024, notAfter: 1_900_000_000),
                .certificateExpiring(bits: 2048, notAfter: 1_900_000_001),
            ])
    }

    @Test(arguments: [
        ([2, 2, 27, 0], CredentialWarning.sdkVersionUnknown(SDKVersion(major: 27, minor: 0))),
        ([2, 2, 255, 1], .sdkVersionUnknown(SDKVersion(major: 255, minor: 1))),
        ([2, 1, 26], .sdkVersionUnreadable), ([2, 3, 0, 26, 0], .sdkVersionUnreadable),
        ([4, 2, 26, 0], .sdkVersionUnreadable), ([2, 2, 26, 0, 0], .sdkVersionUnreadable), ([], .sdkVersionUnreadable),
    ])
    func warnsAboutTheSDKVersion(value: [UInt8], warning: CredentialWarning) throws {
        #expect(try credential(sdkVersion: value).warnings(now: 1_800_000_000) == [warning])
    }

    @Test func readsTheSDKVersion() throws {
        let certificate = try #require(try credential(sdkVersion: [2, 2, 5, 1]).certificate2048)
        #expect(certificate.sdkVersion == .version(SDKVersion(major: 5, minor: 1)))
        #expect(certificate.sdkVersion.version?.description == "5.1")
        #expect(try credential().certificate2048?.sdkVersion == .absent)
    }

    private static let singleTeams: [(String?, String?)] = [
        ("ABCDE12345", "ABCDE12345"), ("ABCDE12345", nil), (nil, "ABCDE12345"),
    ]

    /// A certificate without a team says nothing about it.
    @Test(arguments: singleTeams)
    func saysNothingOfOneTeam(small: String?, large: String?) throws {
        #expect(try credential(teams: (small, large)).warnings(now: 1_800_000_000).isEmpty)
    }

    @Test func warnsAboutTwoTeams() throws {
        let warnings = try credential(teams: ("ABCDE12345", "ZZZZZ99999")).warnings(now: 1_800_000_000)
        #expect(warnings == [.teamsDiffer("ABCDE12345", "ZZZZZ99999")])
    }

    @Test func warnsAboutDevelopmentMaterial() throws {
        #expect(try credential(kind: .fixedDASk).warnings(now: 1_800_000_000) == [.developmentMaterial])
        #expect(try TestCredential.shared.get().credential.warnings(now: 1_800_000_000) == [.developmentMaterial])
    }
}
