import ByteCoding
import CommandLineKit
import Foundation

/// Where licences are asked for, and challenges.
enum LicenseURL {
    private static let path = "/fps/license"
    private static let challengePath = "/fps/challenge"

    /// A server's base address, to which the path of the licence route is added, or the whole address of a licence
    /// route.
    static func parse(_ text: String) throws(CommandError) -> URL {
        var components = try components(text, "--url")
        if components.path.isEmpty || components.path == "/" { components.path = path }
        guard let url = components.url else { throw .usage("--url is no address") }
        return url
    }

    /// The whole address of a challenge route.
    static func parseChallenge(_ text: String) throws(CommandError) -> URL {
        guard let url = try components(text, "--challenge-url").url else {
            throw .usage("--challenge-url is no address")
        }
        return url
    }

    /// The challenge route that goes with a licence route: beside it if that ends in "license", else where latchkeyd
    /// has it.
    static func challenge(beside license: URL) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false) else { return license }
        let suffix = "/license"
        let path = components.path.hasSuffix("/") ? String(components.path.dropLast()) : components.path
        components.path = path.hasSuffix(suffix) ? path.dropLast(suffix.count) + "/challenge" : challengePath
        components.query = nil
        return components.url ?? license
    }

    /// The certificate route that goes with a licence route, by the same rule; NAGRA's `licenses` has `certificates`.
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

    /// Where tokens in ExpressPlay's manner are redeemed: in the place of `/fps/license`. Another route stays as it is.
    static func redemption(beside license: URL) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false),
            components.path.hasSuffix(path)
        else { return license }
        components.path = components.path.dropLast(path.count) + "/hms/fp/rights/"
        return components.url ?? license
    }

    /// The same route with further values in the query, each escaped. A name that is there already stays as it is.
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

    /// Whether an address is one of this machine, for which no proxy is asked.
    static func isLoopback(_ url: URL) -> Bool {
        ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host ?? "")
    }

    /// For messages.
    static func hostAndPort(_ url: URL) -> String {
        "\(url.host ?? ""):\(url.port ?? (url.scheme == "https" ? 443 : 80))"
    }

    /// The same route with a further word in the query, which an option of that name asks for.
    static func adding(_ name: String, _ value: String, to license: URL) throws(CommandError) -> URL {
        guard var components = URLComponents(url: license, resolvingAgainstBaseURL: false) else { return license }
        let items = components.queryItems ?? []
        guard !items.contains(where: { $0.name == name }) else {
            throw .usage("--url says \"\(name)\" already; leave that or --\(name) out")
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
            throw .usage("\(option) takes no user and no password; the token goes into --token")
        }
        components.fragment = nil
        return components
    }
}
