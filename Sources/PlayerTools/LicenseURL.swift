import ByteCoding
import CommandLineKit
import Foundation

/// The addresses of licenses, challenges and certificates.
enum LicenseURL {
    private static let path = "/fps/license"
    private static let challengePath = "/fps/challenge"

    /// Parses the address of a license route, or a server's base address, to which the path of that route is added.
    static func parse(_ text: String) throws(CommandError) -> URL {
        var components = try components(text, "--url")
        if components.path.isEmpty || components.path == "/" { components.path = path }
        guard let url = components.url else { throw .usage("--url is not an address") }
        return url
    }

    /// Parses the address of a challenge route.
    static func parseChallenge(_ text: String) throws(CommandError) -> URL {
        guard let url = try components(text, "--challenge-url").url else {
            throw .usage("--challenge-url is not an address")
        }
        return url
    }

    /// The challenge route for a license route: beside it if its path ends in "license", otherwise the path of
    /// latchkeyd.
    static func challenge(beside license: URL) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false) else { return license }
        let suffix = "/license"
        let path = components.path.hasSuffix("/") ? String(components.path.dropLast()) : components.path
        components.path = path.hasSuffix(suffix) ? path.dropLast(suffix.count) + "/challenge" : challengePath
        components.query = nil
        return components.url ?? license
    }

    /// The certificate route for a license route, by the same rule. For a path that ends in NAGRA's `licenses`, it is
    /// `certificates` beside it.
    static func certificate(beside license: URL) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false) else { return license }
        let path = components.path.hasSuffix("/") ? String(components.path.dropLast()) : components.path
        if path.hasSuffix("/license") {
            components.path = path.dropLast("license".count) + "certificate"
        } else if path.hasSuffix("/licenses") {
            components.path = path.dropLast("licenses".count) + "certificates"
        } else {
            components.path = "/fps/certificate"
        }
        components.query = nil
        return components.url ?? license
    }

    /// The route that redeems ExpressPlay's tokens, in place of `/fps/license`. Any other route is returned unchanged.
    static func redemption(beside license: URL) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false),
            components.path.hasSuffix(path)
        else { return license }
        components.path = components.path.dropLast(path.count) + "/hms/fp/rights/"
        return components.url ?? license
    }

    /// The route with further values in the query, each escaped. A name that the query already has keeps its value.
    static func appending(_ items: [(name: String, value: String)], to license: URL) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false) else { return license }
        let present = Set((components.queryItems ?? []).map(\.name))
        let added = items.filter { !present.contains($0.name) }.map { item in
            "\(item.name)=\(PercentEncoding.encodeComponent(Array(item.value.utf8)))"
        }
        guard !added.isEmpty else { return license }
        let query = components.percentEncodedQuery.map { [$0] } ?? []
        components.percentEncodedQuery = (query + added).joined(separator: "&")
        return components.url ?? license
    }

    /// Whether an address is on this machine, so that no proxy is used for it.
    static func isLoopback(_ url: URL) -> Bool {
        ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host ?? "")
    }

    /// The host and the port, for messages.
    static func hostAndPort(_ url: URL) -> String {
        "\(url.host ?? ""):\(url.port ?? (url.scheme == "https" ? 443 : 80))"
    }

    /// The route with a further value in the query, for the option of the same name. Throws if the query already has
    /// it.
    static func adding(_ name: String, _ value: String, to license: URL) throws(CommandError) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false) else { return license }
        let items = components.queryItems ?? []
        guard !items.contains(where: { $0.name == name }) else {
            throw .usage("--url already has \"\(name)\"; leave out either that or --\(name)")
        }
        components.queryItems = items + [URLQueryItem(name: name, value: value)]
        return components.url ?? license
    }

    private static func components(_ text: String, _ option: String) throws(CommandError) -> URLComponents {
        guard var components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = components.host, !host.isEmpty
        else {
            throw .usage(
                "\(option) takes an address such as http://127.0.0.1:8080 or https://keys.example.com/fps/license")
        }
        guard components.user == nil, components.password == nil else {
            throw .usage("\(option) must have no user and no password; give the token by --token")
        }
        components.fragment = nil
        return components
    }
}
