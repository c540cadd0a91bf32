import HTTPMessages
import HTTPServing
import RouteKit

/// Finds requests that another web page has made with the cookie or the certificate of an operator's browser (forged
/// requests across sites).
///
/// A browser adds `Sec-Fetch-Site` and `Origin`, and no page can change them. To a read it adds `Origin` only if a page
/// of another origin has asked. A program that is not a browser sends neither. A page of another site cannot read an
/// answer either, because admin listeners have no CORS.
enum BrowserRequest {
    /// Says why a request cannot come from the page of this server; nil if it may come from there.
    static func fault(in request: HTTPRequest) -> String? {
        // "none": the operator has opened the address.
        let sites = request.method.isRead ? ["same-origin", "none"] : ["same-origin"]
        guard request.fields.values(of: "Sec-Fetch-Site").allSatisfy(sites.contains) else {
            return "Sec-Fetch-Site says that another site has caused the request"
        }
        guard request.fields.values(of: "Origin").allSatisfy({ isOwn($0, in: request) }) else {
            return "Origin is not the address of this server"
        }
        return nil
    }

    /// Whether an origin has the host and port of the request, and a scheme that fits. A browser leaves out the
    /// standard port in both.
    private static func isOwn(_ origin: String, in request: HTTPRequest) -> Bool {
        guard let host = request.fields["Host"]?.lowercased(), !host.isEmpty else { return false }
        let schemes =
            switch request.isOverHTTPS {
            case true?: ["https"]
            case false?: ["http"]
            case nil: ["https", "http"]
            }
        return schemes.contains { origin.lowercased() == "\($0)://\(host)" }
    }
}

extension HTTPRequest {
    /// Whether the client uses HTTPS; nil if a proxy before this server may end TLS, and does not say it. A trusted
    /// proxy says it by `X-Forwarded-Proto`.
    var isOverHTTPS: Bool? {
        guard peer.isBehindTrustedProxy else {
            if peer.tls != nil { return true }
            return peer.hasProxyHeader ? nil : false
        }
        // A proxy that appends to the field instead of replacing it has written the last value.
        let last = fields.values(of: "X-Forwarded-Proto").last?.split(separator: ",").last
        switch last?.filter({ $0 != " " }).lowercased() {
        case "https": return true
        case "http": return false
        default: return peer.tls != nil ? true : nil  // The proxy says nothing that is known.
        }
    }
}
