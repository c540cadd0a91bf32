import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Without a valid token the daemon does no RSA work. The daemon's own counter, which is inside the RSA backend, shows
/// that.
@Suite(.tags(.startsProcesses)) struct TokenGateTests {
    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture()
    }

    private struct BadToken {
        let name: String
        let token: String?
        let status: Int
        let code: String
    }

    private func badTokens() throws -> [BadToken] {
        let good = try fixture.token()
        let parts = good.split(separator: ".").map(String.init)
        let foreignKey = try ES256PrivateKey.generate()
        // These tokens use the public key's text as an HMAC secret. A verifier that lets a token choose its algorithm
        // accepts them.
        let publicKey = SecretBytes(copying: try fixture.folder.files.read("secrets/token-verification-key.pem"))
        let unsigned = Base64URL.encode(Array(#"{"alg":"none","kid":"development-1","typ":"JWT"}"#.utf8))
        return try [
            BadToken(name: "missing", token: nil, status: 401, code: "token_missing"),
            BadToken(name: "no JWT", token: "opaque", status: 401, code: "token_malformed"),
            BadToken(
                name: "expired", token: fixture.token(fixture.contents(issuedAgo: 600)), status: 401,
                code: "token_expired"),
            BadToken(
                name: "not yet", token: fixture.token(fixture.contents(issuedAgo: -600)), status: 401,
                code: "token_not_yet"),
            BadToken(
                name: "too long a life", token: fixture.token(fixture.contents(life: 3 * 86_400)), status: 401,
                code: "token_life"),
            BadToken(
                name: "wrongly signed", token: fixture.token(key: foreignKey), status: 401, code: "token_signature"),
            BadToken(
                name: "altered",
                token: "\(parts[0]).\(parts[1].replacing("I", with: "J", maxReplacements: 1)).\(parts[2])",
                status: 401, code: "token_signature"),
            BadToken(
                name: "wrong issuer", token: fixture.token(fixture.contents(issuer: "another")), status: 401,
                code: "token_issuer"),
            BadToken(
                name: "wrong audience", token: fixture.token(fixture.contents(audience: "another")), status: 401,
                code: "token_audience"),
            BadToken(name: "unknown key", token: fixture.token(keyID: "other"), status: 401, code: "kid_unknown"),
            BadToken(
                name: "confused: HS256 with the public key", token: confused(publicKey), status: 401, code: "token_alg"),
            BadToken(name: "confused: none", token: "\(unsigned).\(parts[1]).", status: 401, code: "token_alg"),
            BadToken(
                name: "confused: none with a signature", token: "\(unsigned).\(parts[1]).\(parts[2])", status: 401,
                code: "token_alg"),
        ]
    }

    /// A token with an HMAC whose secret is the text of a public key. The minter of the project refuses to make it.
    private func confused(_ secret: borrowing SecretBytes) throws -> String {
        let header = Base64URL.encode(Array(#"{"alg":"HS256","kid":"development-1","typ":"JWT"}"#.utf8))
        let claims = try fixture.token().split(separator: ".")[1]
        let signed = "\(header).\(claims)"
        return signed + "." + Base64URL.encode(try HMACSHA256Key(secret).code(for: Array(signed.utf8)[...]))
    }

    private func rsaOperations() throws -> Double {
        try #require(try fixture.metrics()["latchkey_rsa_operations_total"])
    }

    @Test func buysRSAOnlyWithAVerifiedToken() throws {
        let request = try fixture.deviceRequest(.v1)
        let connection = try fixture.daemon.connect()
        let good = try fixture.token()
        #expect(try rsaOperations() == 0)

        for bad in try badTokens() {
            let response = try connection.license(request.message, token: bad.token)
            #expect(response.status == bad.status, "\(bad.name)")
            #expect(response.code == bad.code, "\(bad.name)")
            #expect(response["WWW-Authenticate"] == "Bearer", "\(bad.name)")
            #expect(try rsaOperations() == 0, "\(bad.name)")
        }

        let response = try connection.license(request.message, token: good)
        #expect(response.status == 200)
        #expect(try fixture.isRight(response.body, request))
        #expect(try rsaOperations() == 1)
    }

    /// Only the opened SPC names the requested content.
    @Test func refusesOtherContentOnceTheSPCIsOpen() throws {
        let token = try fixture.token(fixture.contents(Right(.content("movie-2"))))
        let response = try fixture.daemon.connect().license(try fixture.deviceRequest(.v1).message, token: token)
        #expect(response.status == 403)
        #expect(response.code == "content_mismatch")
        #expect(try rsaOperations() == 1)
    }

    /// A container that no key can open costs no RSA operation.
    @Test(arguments: [ContainerFault.truncatedPayload, .versionFour, .unknownCertificateHash])
    func buysNoRSAForAContainerThatCannotBeOpened(fault: ContainerFault) throws {
        let response = try fixture.daemon.connect().license(
            try fixture.deviceRequest(.v1, with: .container(fault)).message, token: try fixture.token())
        #expect(response.status == (fault == .unknownCertificateHash ? 422 : 400))
        #expect(try rsaOperations() == 0)
    }
}
