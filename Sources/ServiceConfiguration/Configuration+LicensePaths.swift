import ByteCoding
package import HTTPMessages
package import PlayerMessages

/// The built-in paths of the public listener. No configured path may match one of them.
package enum BuiltInPath: String, CaseIterable, Sendable {
    case license = "/fps/license"
    case licenseQuery = "/fps/licenses/query"
    case challenge = "/fps/challenge"
    case certificate = "/fps/certificate"
    case live = "/livez"
    case ready = "/readyz"
    case apiDescription = "/openapi.json"
    case expressPlayToken = "/hms/fp/token"
    case entitlementServer = "/sees/SEESServlet"
    case speke = "/speke"
    case spekeVersion1 = "/speke/v1.0/copyProtection"
    case spekeVersion20 = "/speke/v2.0/copyProtection"
    case spekeVersion21 = "/speke/v2.1/copyProtection"
    case spekeHeartbeat = "/speke/v1.0/heartbeat"
    case keys = "/v1/keys"

    /// The prefix of the paths for the keys of a content. The percent-encoded content id follows it.
    package static let keysOfContent = "/v1/keys/"

    /// A built-in path that matches a pattern; nil if none does.
    static func overlapping(_ pattern: PathPattern) -> String? {
        if let path = allCases.first(where: { pattern.fits($0.rawValue) }) { return path.rawValue }
        let ofContent = PathPattern([.literal("v1"), .literal("keys"), .parameter("contentId")])
        return pattern.overlaps(ofContent) ? keysOfContent + "{contentId}" : nil
    }
}

extension Configuration {
    /// A further path at which licenses or certificates are served (clients, section 2).
    package struct LicensePath: Equatable, Sendable {
        /// The style of the answers at a path.
        package enum Dialect: String, Sendable, CaseIterable {
            /// The same answers as at `/fps/license`.
            case standard
            /// Licenses have the member `CkcMessage`, and errors have a numeric `errorCode`.
            case nagra
            /// Licenses ignore `Accept`, and errors are ExpressPlay's HTML or JSON.
            case expressplay
        }

        package enum Service: String, Sendable, CaseIterable {
            /// Licenses, by POST.
            case license
            /// Certificates, by GET.
            case certificate
            /// Both, as FairPlay-KSM has them at one path.
            case both
        }

        package let pattern: PathPattern
        package let serves: Service
        package let dialect: Dialect
        /// The default shape of licenses, if a request names no shape; nil for the default of the dialect.
        package let answer: AnswerShape?
        /// The default form of certificates, if a request names no form.
        package let certificateFormat: CertificateFormat

        package init(
            _ pattern: PathPattern, serves: Service = .license, dialect: Dialect = .standard,
            answer: AnswerShape? = nil, certificateFormat: CertificateFormat = .raw
        ) {
            self.pattern = pattern
            self.serves = serves
            self.dialect = dialect
            self.answer = answer
            self.certificateFormat = certificateFormat
        }

        /// The names of path parameters that say which key a request is about. Other parameters have no meaning.
        package static let hintNames: Set = ["kid", "assetId", "contentId"]

        /// The paths that are served if the file lists none.
        package static let standard: [LicensePath] = {
            let service: [PathPattern.Segment] = [.literal("contentlicenseservice"), .literal("v1")]
            return [
                LicensePath(PathPattern([.literal("fps"), .literal("license"), .parameter("kid")])),
                LicensePath(PathPattern([.literal("fps"), .literal("v1"), .literal("license")])),
                LicensePath(PathPattern([.literal("fps"), .literal("v1"), .literal("license"), .parameter("kid")])),
                LicensePath(
                    PathPattern([.literal("fps"), .literal("v1"), .literal("certificate")]), serves: .certificate),
                LicensePath(
                    PathPattern(hasWildcard: true, service + [.literal("licenses")]), dialect: .nagra),
                LicensePath(
                    PathPattern(hasWildcard: true, service + [.literal("certificates")]), serves: .certificate,
                    dialect: .nagra),
            ]
        }()
    }

    /// The form in which a certificate is answered.
    package enum CertificateFormat: String, Sendable, CaseIterable {
        /// DER. A bundle is its certificates one after the other.
        case raw
        /// The Base64 of the same bytes, without a line end.
        case base64
        /// Each certificate in PEM.
        case pem
        /// `{"certificate": …}` with the same Base64.
        case json
    }

    /// The paths of the file, or the standard ones if the file lists none. Returns nil if a fault was reported.
    static func licensePaths(reading root: ConfigurationSection) -> [LicensePath]? {
        let paths = root.sections(
            "licensePaths", example: "[{ path: \"/drm/fairplay/{kid}\" }]", allowsEmpty: true, effect: .reload,
            LicensePath.init(reading:))
        guard root.contains("licensePaths") else { return LicensePath.standard }
        return paths
    }

    /// Reports every path of the file that some request path matches together with another one. Standard paths are not
    /// checked: the paths of ExpressPlay take precedence over them.
    static func checkLicensePaths(
        _ paths: [LicensePath], redeemPaths: Set<String>, in root: ConfigurationSection
    ) {
        guard root.contains("licensePaths") else { return }
        for (index, path) in paths.enumerated() {
            let field = "licensePaths[\(index)].path"
            if let other = paths.prefix(index).firstIndex(where: { $0.pattern.overlaps(path.pattern) }) {
                root.report(below: field, .pathsOverlap(with: "licensePaths[\(other)].path"))
            } else if redeemPaths.contains(where: path.pattern.fits) {
                root.report(below: field, .pathsOverlap(with: "expressPlay.redeemPaths"))
            }
        }
    }
}

extension Configuration.LicensePath {
    init?(reading section: ConfigurationSection) {
        let pattern = section.required("path", .pathPattern)
        serves = section.value("serves", .choice(Service.allCases, example: .license), default: .license)
        dialect = section.value("dialect", .choice(Dialect.allCases, example: .standard), default: .standard)
        answer = section.optional("answer", .answerShape)
        certificateFormat = section.value(
            "certificateFormat", .choice(Configuration.CertificateFormat.allCases, example: .raw), default: .raw)
        if let pattern, let other = BuiltInPath.overlapping(pattern) {
            section.report("path", .pathsOverlap(with: "the built-in path \(other)"))
        }
        switch serves {
        case .license:
            if section.contains("certificateFormat") {
                section.report("certificateFormat", .incomplete(without: "serves"))
            }
        case .certificate: if answer != nil { section.report("answer", .conflict(with: "serves")) }
        case .both: break
        }
        guard let pattern else { return nil }
        self.pattern = pattern
    }
}

extension ConfigurationForm<PathPattern> {
    fileprivate static var pathPattern: ConfigurationForm {
        .string(
            "a URL's path of at most \(PathPattern.sizeMaximum) characters, whose segments are text or {name}, with \"*\" "
                + "as the first one if any segments may come before, and with one of {kid}, {assetId} and {contentId} at "
                + "most",
            example: "/drm/fairplay/{kid}"
        ) { text in
            guard let pattern = PathPattern(text) else { return nil }
            return pattern.names.count(where: Configuration.LicensePath.hintNames.contains) <= 1 ? pattern : nil
        }
    }
}

extension ConfigurationForm<AnswerShape> {
    fileprivate static var answerShape: ConfigurationForm {
        let names = AnswerShape.names.map { "\"\($0)\"" }.joined(separator: ", ")
        return ConfigurationForm(
            expected: "one of \(names)", example: "\"raw\"",
            read: { node in
                guard let text = node.string else { return .wrongType }
                return AnswerShape(named: text).map { .value($0) } ?? .invalid
            })
    }
}
