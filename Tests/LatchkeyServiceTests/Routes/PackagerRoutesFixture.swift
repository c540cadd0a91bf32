import Administration
import ByteCoding
import ContentKeys
import Entitlements
import Foundation
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PackagerAPI
import Records
import TestSupport

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// The routes of packagers, with keys in memory.
struct PackagerRoutesFixture {
    static let secret = "a-packagers-secret"
    /// The Basic credentials of the packager `p1`.
    static let basic = "Basic " + Base64.encode(Array("p1:\(secret)".utf8))

    let store = MemoryKeyStore()
    let ledger = MemoryLedger()
    let routes: RoutesFixture

    init(
        scopes: Set<Packager.Scope> = [.read, .create, .import], contents: ContentScope? = nil, isPinned: Bool = true,
        requiresEncryptedDelivery: Bool = false, rate: Rate? = nil, isDisabled: Bool = false,
        mode: DecisionRecorder.Mode = .required, urls: SKDTemplate = .standard, hasPackager: Bool = true,
        cors: CORSPolicy = CORSPolicy(), linesPerEvent: Int = 1_000_000,
        certificates: Set<ClientCertificateName> = []
    ) throws {
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 3, count: 32)))
        let pinned = try Certificate(parsing: Array(Data(contentsOf: Self.folder.appending(path: "packager_cert.pem"))))
        let packager = Packager(
            name: "p1", scopes: scopes, contents: contents, recipients: isPinned ? [pinned] : [],
            requiresEncryptedDelivery: requiresEncryptedDelivery, rate: rate, isDisabled: isDisabled)
        let entry = PackagerDirectory.Entry(
            packager, secrets: [try AuthenticatorDigest(of: Array(Self.secret.utf8), key: key)],
            certificates: certificates)
        routes = try RoutesFixture(
            keys: store, linesPerEvent: linesPerEvent,
            desk: { [store, ledger] clock in
                KeyDesk(store: store, ledger: ledger, mode: mode, lifeInOutage: .seconds(3600), clock: clock)
            },
            packagers: hasPackager ? PackagerDirectory([entry], key: key) : .empty, urls: urls, cors: cors)
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors/speke")

    static func document(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "\(name).xml")))
    }

    /// The path and the version header for a document of the vectors.
    static func version(of name: String) -> (path: String, header: String?) {
        if name.hasPrefix("v1_") { return ("/speke/v1.0/copyProtection", nil) }
        if name.hasPrefix("v21_") { return ("/speke/v2.1/copyProtection", "2.1") }
        return ("/speke/v2.0/copyProtection", "2.0")
    }

    func post(
        _ name: String, _ path: String? = nil, authorization: String? = basic, type: String? = "application/xml",
        version: String? = nil
    ) async throws -> HTTPResponse {
        await post(
            try Self.document(name), path ?? Self.version(of: name).path, authorization: authorization, type: type,
            version: version ?? Self.version(of: name).header)
    }

    func post(
        _ body: [UInt8], _ path: String = "/speke/v2.0/copyProtection", authorization: String? = basic,
        type: String? = "application/xml", version: String? = "2.0"
    ) async -> HTTPResponse {
        var fields = HTTPFields()
        if let authorization { fields.append("Authorization", authorization) }
        if let type { fields.append("Content-Type", type) }
        if let version { fields.append("X-Speke-Version", version) }
        return await routes.ask(.post, path, fields, body: body)
    }

    func ask(
        _ method: HTTPMethod, _ path: String, query: String? = nil, body: String = "", authorization: String? = basic
    ) async -> HTTPResponse {
        var fields = HTTPFields()
        if let authorization { fields.append("Authorization", authorization) }
        return await routes.ask(method, path, query: query, fields, body: Array(body.utf8))
    }

    /// Whether the log and the ledger contain no key, in any encoding in which keys are delivered.
    func keepsSecrets(besides more: [String] = []) -> Bool {
        let places = routes.log.lines + ledger.entries.map { "\($0)" + Hexadecimal.encode($0.encoded()) }
        let secrets = store.records.flatMap { record in
            let key = record.key.bytes.revealed()
            return [Hexadecimal.encode(key), Base64.encode(key)]
        }
        return !places.isEmpty && (secrets + more).allSatisfy { secret in !places.contains { $0.contains(secret) } }
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    var json: JSONObject? { (try? JSONReader.parse(body))?.object }
}
