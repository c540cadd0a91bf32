import HTTPMessages
import ServiceConfiguration

/// A template of key URIs whose path is not served (clients, section 1b).
///
/// Some apps replace `skd:` by `https:` in the key URI and send the SPC there. A URI without a path, such as
/// `skd://{kid}`, is for other apps.
struct KeyURIWarning: Equatable, Sendable, CustomStringConvertible {
    /// As the template has it.
    let path: String

    /// Nil if the template has no path, or one at which licences are served.
    init?(_ configuration: Configuration) {
        self.init(
            template: configuration.keys.skdTemplate, publicURL: configuration.publicURL,
            addresses: PublicAddresses(configuration))
    }

    /// `publicURL` may have a path of its own, which a proxy takes away.
    init?(template: String, publicURL: String? = nil, addresses: PublicAddresses) {
        guard let path = Self.path(of: template.dropFirst("skd:".count)) else { return nil }
        var served = path
        if let prefix = publicURL.flatMap({ Self.path(of: $0.drop { $0 != ":" }.dropFirst()) }),
            path.hasPrefix(prefix + "/")
        {
            served = path.dropFirst(prefix.count)
        }
        let sample = served.replacing("{kid}", with: "00112233-4455-6677-8899-aabbccddeeff")
        if case .license = addresses.address(at: String(sample))?.service(for: .post) { return nil }
        self.path = String(path)
    }

    var description: String {
        "keys.skdTemplate: no licences are served at \(path); an app that replaces skd: by https: asks for them there."
            + " Add the path to licensePaths"
    }

    /// The path of a URI without its scheme: from the first slash behind the authority to the query.
    private static func path(of rest: Substring) -> Substring? {
        let identifier = rest.drop { $0 == "/" }.prefix { $0 != "?" && $0 != "#" }
        return identifier.firstIndex(of: "/").map { identifier[$0...] }
    }
}
