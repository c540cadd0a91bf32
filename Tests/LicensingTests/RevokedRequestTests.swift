import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import Licensing

/// Revoked parties get nothing. If the token alone shows the revocation, the request is refused before any RSA work.
@Suite struct RevokedRequestTests {
    private let fixture: LicensingFixture
    private let names: RevocationNames

    init() throws {
        fixture = try LicensingFixture()
        names = RevocationNames(try SampleDecisions.pseudonyms())
    }

    private func revocation(_ kind: Revocation.Kind, _ value: String, of issuer: String? = nil) throws -> Revocation {
        let pseudonym = names.pseudonym(of: kind, value, issuer: issuer)
        return Revocation(
            kind: kind, issuer: issuer, value: pseudonym.map { Hexadecimal.encode($0.bytes) } ?? value, until: nil,
            revokedAt: 0, reason: "")
    }

    private func token() throws -> [UInt8] { try fixture.token(subject: "viewer-1", tokenID: "t-1") }

    @Test(
        arguments: [
            (Revocation.Kind.tokenID, "t-1", "portal", EntitlementError.tokenRevoked),
            (.signingKey, "test", nil, .keyRevoked), (.issuer, "portal", nil, .subjectDisabled),
            (.subject, "viewer-1", "portal", .subjectDisabled),
        ] as [(Revocation.Kind, String, String?, EntitlementError)])
    func whatTheTokenSaysIsRefusedAtOnce(
        kind: Revocation.Kind, value: String, issuer: String?, error: EntitlementError
    ) async throws {
        let message = try fixture.deviceRequest(.v1).message
        #expect(await fixture.issue(message, token: try token()).failure == nil)
        let bought = fixture.operations.value
        // The same names from another issuer mean other subjects.
        if issuer != nil {
            fixture.shared.revocations.replace(with: names.view(of: [try revocation(kind, value, of: "other")]))
            #expect(await fixture.claims(of: try token()).failure == nil)
        }
        fixture.shared.revocations.replace(with: names.view(of: [try revocation(kind, value, of: issuer)]))
        #expect(await fixture.issue(message, token: try token()).failure == .entitlement(error))
        #expect(await fixture.challenge(token: try token()).failure == .entitlement(error))
        #expect(fixture.operations.value == bought)
        fixture.shared.revocations.replace(with: names.view(of: []))
        #expect(await fixture.issue(message, token: try token()).failure == nil)
    }

    /// New revocations come into force just before the tokens that were verified under the old ones are forgotten.
    @Test func namesWhatIsRevokedAlsoIfTheTokenIsForgotten() async throws {
        fixture.shared.revocations.replace(
            with: names.view(of: [try revocation(.subject, "viewer-1", of: "portal")]))
        let (token, rules, pipelines) = (try token(), fixture.rules, fixture.pipelines)
        func facts() async throws -> RefusalFacts {
            try await fixture.onLoop(0) { loop throws(LicenseError) in
                try pipelines.pipeline(on: loop).admissionControl.facts(
                    of: .entitlement(.subjectDisabled), presenting: LicensingFixture.carriers(of: token),
                    from: RequestOrigin(), under: rules, now: LicensingFixture.now)
            }.get()
        }
        #expect(await fixture.claims(of: token).failure == .entitlement(.subjectDisabled))
        let remembered = try await facts()
        rules.entitlement.tokens.removeAll()
        let forgotten = try await facts()
        #expect(remembered == forgotten)
        #expect(forgotten[.found]?.contains("the subject") == true)
    }

    @Test func contentsAndDevicesAreRefusedOnceTheSPCIsOpen() async throws {
        let request = try fixture.deviceRequest(.v1)
        let hardware = DeviceIdentifier(request.secrets.deviceID.bytes).map(\.description)
        for (kind, value, error) in [
            (Revocation.Kind.content, "movie-1", EntitlementError.contentRevoked),
            (.content, "00112233-4455-6677-8899-aabbccddeeff", .contentRevoked),
            (.hardware, try #require(hardware), .deviceRevoked),
        ] {
            fixture.shared.revocations.replace(with: names.view(of: [try revocation(kind, value)]))
            #expect(await fixture.issue(request.message, token: try token()).failure == .entitlement(error))
            let other = try fixture.deviceRequest(.v1).message
            let isRefused = await fixture.issue(other, token: try token()).failure != nil
            #expect(isRefused == (kind == .content))
        }
    }

    @Test func nobodyGetsAnythingBeforeTheStoreHasAnswered() async throws {
        let fixture = try LicensingFixture(knowsRevocations: false)
        let token = try fixture.token()
        #expect(await fixture.claims(of: token).failure == .store(.unavailable(.unreachable)))
        fixture.shared.revocations.replace(with: RevocationView())
        #expect(await fixture.issue(try fixture.deviceRequest(.v1).message, token: token).failure == nil)
    }

    @Test func aPseudonymThatNobodyMadeNamesNobody() async throws {
        var strange = try revocation(.subject, "viewer-1", of: "portal")
        strange.value = "viewer-1"
        fixture.shared.revocations.replace(with: names.view(of: [strange]))
        #expect(await fixture.claims(of: try token()).failure == nil)
        #expect(names.pseudonym(of: .hardware, "no device", issuer: nil) == nil)
        #expect(names.pseudonym(of: .content, "movie-1", issuer: nil) == nil)
    }
}
