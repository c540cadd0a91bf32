import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// A daemon, a device, and tokens with everything that can be revoked.
struct RevocationFixture {
    static let issuer = "latchkey-development"

    let daemon: DaemonFixture
    /// The HU in all SPCs of the device.
    let hardware: DeviceID

    init() throws {
        daemon = try DaemonFixture()
        hardware = DeviceID(Array(try CryptoContext().randomBytes(count: DeviceIdentifier.size)))
    }

    // MARK: Devices and tokens

    func spc() throws -> [UInt8] {
        let device = try daemon.folder.makeDevice(.v1, using: CryptoContext())
        var options = DeviceOptions(version: .v1, assetID: Array(DaemonFixture.content.utf8))
        options.deviceID = hardware
        return try device.makeRequest(options).message
    }

    func token(subject: String = "viewer-7", tokenID: String = "t-1") throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let payload = """
            {"iss":"\(Self.issuer)","aud":"latchkey","sub":"\(subject)","jti":"\(tokenID)","iat":\(now),"exp":\(now + 600),\
            "rights":[{"content":"\(DaemonFixture.content)"}],"device":{"id":"box-7"},"session":{"id":"s-1"}}
            """
        let header = #"{"alg":"ES256","kid":"development-1","typ":"JWT"}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        let signature = try daemon.folder.signingKey().signature(for: Array(signed.utf8))
        return signed + "." + Base64URL.encode(signature)
    }

    // MARK: Requests

    /// Requests a license. Returns the code of the refusal, or nil for a license.
    func refusal(_ token: String? = nil, isRenewal: Bool = false) throws -> String? {
        let answer = try daemon.daemon.connect().request(
            "POST", isRenewal ? "/fps/license?renew=1" : "/fps/license",
            ["Authorization": "Bearer \(try token ?? self.token())"], body: spc())
        guard answer.status != 200 else { return nil }
        return answer.code ?? "\(answer.status)"
    }

    /// Repeats the request until it gets this code or the time is up, and returns the last code.
    func refusal(until code: String?) async throws -> String? {
        let end = Date(timeIntervalSinceNow: 60)
        var last = try refusal()
        while last != code, Date() < end {
            try await Task.sleep(for: .milliseconds(20))
            last = try refusal()
        }
        return last
    }

    func admin(
        _ method: String, query: String = "", body: String = "", token: String? = nil
    ) throws -> LoopbackResponse {
        try daemon.daemon.connectAsAdmin().request(
            method, "/v1/revocations" + query,
            ["Authorization": "Bearer \(try token ?? daemon.folder.adminToken())"], body: Array(body.utf8))
    }

    func command(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["revocations", words[0], "--config", daemon.folder.configuration] + words.dropFirst())
    }

    /// The ledger's rows of this kind, the oldest first. Fails if the ledger does not verify.
    func ledger(_ kind: String) async throws -> [JSONObject] {
        let configuration = daemon.folder.configuration
        let verified = try await LatchkeyProcess("ledger", "verify", "--config", configuration, "--json")
        #expect(verified.status == 0, "\(verified.messages)")
        let run = try await LatchkeyProcess(
            "ledger", "query", "--config", configuration, "--json", "--limit", "1000")
        let entries = try #require(try run.object()["entries"]?.array).compactMap(\.object)
        return entries.reversed().filter { $0["kind"]?.string == kind }
    }
}
