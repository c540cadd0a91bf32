import Entitlements
import HTTPMessages
import HTTPServing
import POSIXSockets

/// Reads where requests come from: the client's address, and its country where a trusted proxy tells it.
struct RequestOrigins: Sendable {
    /// The field in which trusted proxies name the country; nil where none does.
    let countryField: String?

    init(countryField: String? = nil) {
        self.countryField = countryField
    }

    /// A field that comes from anybody but a trusted proxy, comes twice or names no country says nothing.
    func origin(of request: HTTPRequest) -> RequestOrigin {
        RequestOrigin(address: request.peer.address.ip, country: country(of: request))
    }

    private func country(of request: HTTPRequest) -> CountryCode? {
        guard let countryField, request.peer.isBehindTrustedProxy, request.fields.count(of: countryField) == 1 else {
            return nil
        }
        return request.fields[countryField].flatMap { CountryCode($0) }
    }
}
