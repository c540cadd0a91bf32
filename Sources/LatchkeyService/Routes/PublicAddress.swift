import ByteCoding
import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import PackagerAPI
import PlayerMessages
import ServiceConfiguration

/// What is at an address of the public listener: what it serves, and in whose manner.
enum PublicAddress: Sendable {
    case license(LicenseAddress, ErrorManner)
    case certificate(Configuration.CertificateFormat, ErrorManner)
    /// Licences by POST, certificates by GET.
    case licenseAndCertificate(LicenseAddress, Configuration.CertificateFormat, ErrorManner)
    case licenseQuery
    case challenge
    case live
    case ready
    /// The description of the public listener's routes.
    case apiDescription
    case expressPlayToken
    case entitlementServer
    case speke(SPEKERoute)
    /// Keys of any content, by POST.
    case keys
    /// The keys of one content, by GET.
    case keysOfContent(ContentID)

    /// In whose manner an address tells a refusal.
    enum ErrorManner: Sendable {
        case problem
        case nagra
        case expressPlay
    }

    /// The methods of the address, as OPTIONS and a refusal name them.
    var methods: String {
        switch self {
        case .license, .licenseQuery, .challenge, .entitlementServer: "POST, OPTIONS"
        case .certificate, .live, .ready, .apiDescription: "GET, HEAD, OPTIONS"
        case .licenseAndCertificate: "GET, HEAD, POST, OPTIONS"
        case .expressPlayToken: "GET, POST, OPTIONS"
        // Addresses of packagers answer OPTIONS as any other method that they do not serve.
        case .speke(let route): route.methods
        case .keys: "POST"
        case .keysOfContent: "GET, HEAD"
        }
    }

    /// What an address has for a method; nil if the method is not served there.
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
        case .speke, .keys, .keysOfContent: .packager
        }
    }

    /// What answers a request, once its address and its method are known.
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
        /// For every method: packagers have refusals of their own.
        case packager
    }

    /// Whether the address is for packagers alone, and so for no web page.
    var isForPackagers: Bool {
        switch self {
        case .speke, .keys, .keysOfContent: true
        case .license, .certificate, .licenseAndCertificate, .licenseQuery, .challenge, .live, .ready, .apiDescription,
            .expressPlayToken, .entitlementServer:
            false
        }
    }

    var errorManner: ErrorManner {
        switch self {
        case .license(_, let manner), .certificate(_, let manner), .licenseAndCertificate(_, _, let manner): manner
        case .licenseQuery, .challenge, .live, .ready, .apiDescription, .speke, .keys, .keysOfContent: .problem
        case .expressPlayToken, .entitlementServer: .expressPlay
        }
    }
}

/// The addresses of the public listener under one configuration. Routing, the decision about a body and the answer to
/// OPTIONS all ask here.
struct PublicAddresses: Sendable {
    private let paths: [Configuration.LicensePath]
    private let redeemPaths: Set<String>
    private let servesTokens: Bool
    private let servesEntitlements: Bool

    /// Without ExpressPlay's settings none of its addresses is there.
    init(
        licensePaths: [Configuration.LicensePath] = Configuration.LicensePath.standard,
        _ expressPlay: ExpressPlaySettings? = nil
    ) {
        self.init(
            licensePaths: licensePaths, redeemPaths: expressPlay?.redeemPaths ?? [],
            servesTokens: expressPlay?.customers.isEmpty == false, servesEntitlements: expressPlay?.sees != nil)
    }

    /// The addresses that a configuration comes to, without the secrets that it names.
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

    /// What is at a path, which is compared as it came; nil if nothing is there.
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
            SPEKERoute(path: path.rawValue).map { .speke($0) }
        case .keys: .keys
        }
    }

    /// The name of a content is decoded once. It may have slashes, as they are or encoded.
    private static func keysOfContent(_ path: String) -> PublicAddress? {
        let name = path.utf8.dropFirst(BuiltInPath.keysOfContent.utf8.count)
        guard let decoded = PercentEncoding.decode(Array(name)), let contentID = try? ContentID(bytes: decoded) else {
            return nil
        }
        return .keysOfContent(contentID)
    }

    /// `values` are the segments that stand for the parameters of the path. Nil if one of them should name a key, and
    /// is too short or too long for any name.
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

/// What an address says of the licence requests that are sent to it. `/fps/license` says nothing.
struct LicenseAddress: Sendable {
    /// The shape of its answers unless the query names another one; nil if it serves every player.
    var answer: AnswerShape?
    /// Whether the field `Accept` chooses the shape of a licence.
    var followsAccept: Bool = true
    /// The key that the path names. A hint only: the SPC decides.
    var assetHint: AssetID?
}
