import ByteCoding
import ContentKeys
import HTTPMessages
import ServiceConfiguration

/// A warning: the path of the template of key URIs is not served (clients, section 1b).
///
/// Some apps replace `skd:` by `https:` in the key URI and send the SPC there. A URI without a path, such as
/// `skd://{kid}`, is for other apps.
struct KeyURIWarning: Equatable, Sendable, CustomStringConvertible {
    /// The path as the template has it.
    let path: String

    /// Nil if the template has no path, or if licenses are served at its path.
    init?(_ configuration: Configuration) {
        self.init(
            template: configuration.keys.skdTemplate.template, publicURL: configuration.publicURL,
            addresses: PublicAddresses(configuration))
    }

    /// `publicURL` may have a path of its own, which a proxy removes.
    init?(template: String, publicURL: String? = nil, addresses: PublicAddresses) {
        // EZDRM's apps read only the part after the semicolon, and send the SPC to another URL.
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
        "keys.skdTemplate: no licenses are served at \(path), but apps that replace skd: by https: ask for them there."
            + " Add the path to licensePaths"
    }

    /// The path for a sample key; nil if the template gives no URL for it.
    private static func sample(of path: String) -> String? {
        guard let template = try? SKDTemplate(parsing: path), let contentID = try? ContentID("content"),
            let keyID = try? KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff")
        else { return nil }
        let names = SKDNames(
            contentID: contentID, keyID: keyID, iv: keyID.words, periodIndex: 0, trackLabel: .hd, authority: "host")
        return try? template.text(for: names)
    }

    /// The path of a URI whose scheme was removed: from the first slash after the authority to the query.
    private static func path(of rest: Substring) -> Substring? {
        let identifier = rest.drop { $0 == "/" }.prefix { $0 != "?" && $0 != "#" }
        return identifier.firstIndex(of: "/").map { identifier[$0...] }
    }
}
