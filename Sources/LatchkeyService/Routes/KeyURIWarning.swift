import ByteCoding
import ContentKeys
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
            template: configuration.keys.skdTemplate.template, publicURL: configuration.publicURL,
            addresses: PublicAddresses(configuration))
    }

    /// `publicURL` may have a path of its own, which a proxy takes away.
    init?(template: String, publicURL: String? = nil, addresses: PublicAddresses) {
        // EZDRM's apps take what stands behind the semicolon, and send the SPC to another URL.
        guard let path = Self.path(of: template.dropFirst("skd:".count)), !path.hasPrefix("/;") else { return nil }
        var served = path
        if let prefix = publicURL.flatMap({ Self.path(of: $0.drop { $0 != ":" }.dropFirst()) }),
            path.hasPrefix(prefix + "/")
        {
            served = path.dropFirst(prefix.count)
        }
        if let sample = Self.sample(of: String(served)),
            case .license = addresses.address(at: sample)?.service(for: .post)
        {
            return nil
        }
        self.path = String(path)
    }

    var description: String {
        "keys.skdTemplate: no licences are served at \(path); an app that replaces skd: by https: asks for them there."
            + " Add the path to licensePaths"
    }

    /// The path for some key; nil if no key has one.
    private static func sample(of path: String) -> String? {
        guard let template = try? SKDTemplate(parsing: path), let contentID = try? ContentID("content"),
            let keyID = try? KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff")
        else { return nil }
        let names = SKDNames(
            contentID: contentID, keyID: keyID, iv: keyID.words, periodIndex: 0, trackLabel: .hd, authority: "host")
        return try? template.url(for: names)
    }

    /// The path of a URI without its scheme: from the first slash behind the authority to the query.
    private static func path(of rest: Substring) -> Substring? {
        let identifier = rest.drop { $0 == "/" }.prefix { $0 != "?" && $0 != "#" }
        return identifier.firstIndex(of: "/").map { identifier[$0...] }
    }
}
