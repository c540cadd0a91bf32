import ByteCoding
import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import PackagerAPI
import PackagerRoutes
import PlayerMessages
import PlayerRoutes
import RouteKit
import ServiceConfiguration

/// An address of the public listener: the service that it offers, and the form of its errors.
enum PublicAddress: Sendable {
    case license(LicenseAddress, ErrorManner)
    case certificate(Configuration.CertificateFormat, ErrorManner)
    /// Licenses by POST, certificates by GET.
    case licenseAndCertificate(LicenseAddress, Configuration.CertificateFormat, ErrorManner)
    case licenseQuery
    case challenge
    case live
    case ready
    /// The description of the public listener's routes.
    case apiDescription
    case expressPlayToken
    case entitlementServer
    case packager(PackagerAddress)

    /// The form in which an address answers refusals.
    enum ErrorManner: Sendable {
        case problem
        case nagra
        case expressPlay
    }

    /// The methods of the address, as the answer to OPTIONS and a refusal name them.
    var methods: String {
        switch self {
        case .license, .licenseQuery, .challenge, .entitlementServer: "POST, OPTIONS"
        case .certificate, .live, .ready, .apiDescription: "GET, HEAD, OPTIONS"
        case .licenseAndCertificate: "GET, HEAD, POST, OPTIONS"
        case .expressPlayToken: "GET, POST, OPTIONS"
        // These addresses refuse other methods themselves, OPTIONS too.
        case .packager(let address): address.methods
        }
    }

    /// The service for a method at this address; nil if the address does not serve the method.
    func service(for method: HTTPMethod) -> Service? {
        switch self {
        case .license(let address, _): method == .post ? .license(address) : nil
        case .certificate(let format, _): method.isRead ? .certificate(format) : nil
        case .licenseAndCertificate(let address, let format, _):
            method == .post ? .license(address) : method.isRead ? .certificate(format) : nil
        case .licenseQuery: method == .post ? .licenseQuery : nil
        case .challenge: method == .post ? .challenge : nil
        case .live: method.isRead ? .live : nil
        case .ready: method.isRead ? .ready : nil
        case .apiDescription: method.isRead ? .apiDescription : nil
        case .expressPlayToken: method == .get || method == .post ? .expressPlayToken : nil
        case .entitlementServer: method == .post ? .entitlementServer : nil
        case .packager(let address): .packager(address)
        }
    }

    /// The service that answers a request with a given address and method.
    enum Service: Sendable {
        case license(LicenseAddress)
        case certificate(Configuration.CertificateFormat)
        case licenseQuery
        case challenge
        case live
        case ready
        case apiDescription
        case expressPlayToken
        case entitlementServer
        /// Serves every method, because packagers' endpoints refuse methods themselves.
        case packager(PackagerAddress)
    }

    var errorManner: ErrorManner {
        switch self {
        case .license(_, let manner), .certificate(_, let manner), .licenseAndCertificate(_, _, let manner): manner
        case .licenseQuery, .challenge, .live, .ready, .apiDescription, .packager: .problem
        case .expressPlayToken, .entitlementServer: .expressPlay
        }
    }
}

/// The addresses of the public listener under one configuration.
///
/// Routing, the decision whether to read a body, and the answer to OPTIONS all use it.
struct PublicAddresses: Sendable {
    private let paths: [Configuration.LicensePath]
    private let redeemPaths: Set<String>
    private let servesTokens: Bool
    private let servesEntitlements: Bool

    /// The addresses of licenses, and, with ExpressPlay's settings, the addresses that these settings enable.
    init(
        licensePaths: [Configuration.LicensePath] = Configuration.LicensePath.standard,
        _ expressPlay: ExpressPlaySettings? = nil
    ) {
        self.init(
            licensePaths: licensePaths, redeemPaths: expressPlay?.redeemPaths ?? [],
            servesTokens: expressPlay?.customers.isEmpty == false, servesEntitlements: expressPlay?.sees != nil)
    }

    /// The addresses of a configuration. The secrets that it names are not read.
    init(_ configuration: Configuration) {
        let expressPlay = configuration.expressPlay
        self.init(
            licensePaths: configuration.licensePaths, redeemPaths: expressPlay.redeemPaths,
            servesTokens: !expressPlay.customers.isEmpty, servesEntitlements: expressPlay.sees != nil)
    }

    init(
        licensePaths: [Configuration.LicensePath], redeemPaths: Set<String>, servesTokens: Bool,
        servesEntitlements: Bool
    ) {
        paths = licensePaths
        self.redeemPaths = redeemPaths
        self.servesTokens = servesTokens
        self.servesEntitlements = servesEntitlements
    }

    /// The address at a path; nil if no service has the path. The path is compared without decoding.
    func address(at path: String) -> PublicAddress? {
        if let builtIn = BuiltInPath(rawValue: path) { return address(at: builtIn) }
        if path.hasPrefix(BuiltInPath.keysOfContent) { return Self.keysOfContent(path) }
        if redeemPaths.contains(path) { return .license(LicenseAddress(followsAccept: false), .expressPlay) }
        for entry in paths {
            if let values = entry.pattern.values(in: path) { return Self.address(of: entry, values) }
        }
        return nil
    }

    private func address(at path: BuiltInPath) -> PublicAddress? {
        switch path {
        case .license: .license(LicenseAddress(), .problem)
        case .licenseQuery: .licenseQuery
        case .challenge: .challenge
        case .certificate: .certificate(.raw, .problem)
        case .live: .live
        case .ready: .ready
        case .apiDescription: .apiDescription
        case .expressPlayToken: servesTokens ? .expressPlayToken : nil
        case .entitlementServer: servesEntitlements ? .entitlementServer : nil
        case .speke, .spekeVersion1, .spekeVersion20, .spekeVersion21, .spekeHeartbeat:
            SPEKERoute(path: path.rawValue).map { .packager(.speke($0)) }
        case .keys: .packager(.keys)
        }
    }

    /// The address of a content's keys. The name of the content is decoded once; it may have slashes, encoded or not.
    private static func keysOfContent(_ path: String) -> PublicAddress? {
        let name = path.utf8.dropFirst(BuiltInPath.keysOfContent.utf8.count)
        guard let decoded = PercentEncoding.decode(Array(name)), let contentID = try? ContentID(bytes: decoded) else {
            return nil
        }
        return .packager(.keysOfContent(contentID))
    }

    /// The address of a configured path. `values` are the segments in place of the path's parameters.
    ///
    /// Nil if a segment should name a key, but is too short or too long for an asset id.
    private static func address(of entry: Configuration.LicensePath, _ values: [Substring]) -> PublicAddress? {
        var license = LicenseAddress(answer: entry.answer)
        let manner: PublicAddress.ErrorManner
        switch entry.dialect {
        case .standard: manner = .problem
        case .nagra:
            manner = .nagra
            license.answer = entry.answer ?? .nagra
        case .expressplay:
            manner = .expressPlay
            license.followsAccept = false
        }
        for (name, value) in zip(entry.pattern.names, values) where Configuration.LicensePath.hintNames.contains(name) {
            guard let assetID = try? AssetID(bytes: Array(value.utf8)) else { return nil }
            license.assetHint = assetID
        }
        return switch entry.serves {
        case .license: .license(license, manner)
        case .certificate: .certificate(entry.certificateFormat, manner)
        case .both: .licenseAndCertificate(license, entry.certificateFormat, manner)
        }
    }
}
