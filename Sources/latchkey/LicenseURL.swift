import Foundation
import LatchkeyService

/// Where licences are asked for.
enum LicenseURL {
    private static let path = "/fps/license"

    /// A server's base address, to which the path of the licence route is added, or the whole address of a licence route.
    static func parse(_ text: String) throws(CommandError) -> URL {
        guard var components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = components.host, !host.isEmpty
        else {
            throw .usage("--url takes an address such as http://127.0.0.1:8080 or https://keys.example.com/fps/license")
        }
        guard components.user == nil, components.password == nil else {
            throw .usage("--url takes no user and no password; the token goes into --token")
        }
        if components.path.isEmpty || components.path == "/" { components.path = path }
        components.fragment = nil
        guard let url = components.url else { throw .usage("--url is no address") }
        return url
    }
}
