import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// A running daemon with one content key, and a device and tokens for it.
struct DaemonFixture {
    static let content = "movie-1"

    let folder: DevelopmentFolder
    let daemon: RunningDaemon
    let key: [UInt8]
    let iv: [UInt8]
    private let crypto: CryptoContext

    /// Starts the daemon. `prepare` changes the folder before that.
    init(environment: [String: String] = [:], prepare: (DevelopmentFolder) throws -> Void = { _ in }) throws {
        folder = try DevelopmentFolder()
        crypto = try CryptoContext()
        key = Array(try crypto.randomBytes(count: 16))
        iv = Array(try crypto.randomBytes(count: 16))
        try folder.importKey(content: Self.content, key: key, iv: iv)
        try prepare(folder)
        daemon = try RunningDaemon(folder, environment: environment)
    }

    // MARK: Devices

    func deviceRequest(_ version: SPCVersion, with fault: SPCFault? = nil) throws -> DeviceRequest {
        let device = try folder.makeDevice(version, using: crypto)
        let options = DeviceOptions(version: version, assetID: Array(Self.content.utf8))
        if let fault { return try device.makeRequest(options, with: fault) }
        return try device.makeRequest(options)
    }

    func open(_ ckc: [UInt8], _ request: DeviceRequest) throws -> OpenedLicense {
        let license = try CKCOpener(secrets: request.secrets, using: crypto).open(ckc)
        #expect(license.remarks.isEmpty, "this server sends nothing unusual")
        return license
    }

    /// Whether a CKC gives the stored key to the device that requested it.
    func isRight(_ ckc: [UInt8], _ request: DeviceRequest) throws -> Bool {
        let license = try open(ckc, request)
        return license.contentKey.bytes.revealed() == key && license.contentIV.bytes == iv
    }

    // MARK: Tokens

    func contents(
        _ right: Right = Right(.content(content)), issuer: String = "latchkey-development",
        audience: String = "latchkey", issuedAgo age: Int64 = 0, life: Int64 = 300
    ) -> TokenContents {
        let now = Int64(Date().timeIntervalSince1970)
        return TokenContents(
            issuer: issuer, audience: audience, tokenID: UUID().uuidString, issuedAt: now - age,
            expiresAt: now - age + life, rights: [right])
    }

    /// A token signed with the set-up's key, or with another key.
    func token(_ contents: TokenContents? = nil, keyID: String = "development-1", key: ES256PrivateKey? = nil) throws
        -> String
    {
        try TokenMinter(keyID: keyID, es256: try key ?? folder.signingKey()).mint(contents ?? self.contents())
    }

    // MARK: The operator

    func metrics() throws -> MetricsText {
        let response = try daemon.connectAsAdmin().request(
            "GET", "/metrics", ["Authorization": "Bearer \(try folder.adminToken())"])
        return try MetricsText(parsing: response.text)
    }
}

extension LoopbackResponse {
    /// The code of a problem.
    var code: String? { (try? JSONReader.parse(body))?.object?["code"]?.string }
}
