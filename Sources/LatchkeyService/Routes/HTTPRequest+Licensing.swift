import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import Licensing
import POSIXSockets

extension HTTPRequest {
    /// Where tokens are looked for.
    var tokenCarriers: TokenCarriers {
        let fields = fields
        return TokenCarriers(fieldValues: { fields.values(of: $0) }, query: query)
    }

    /// Where the request comes from: the client's address, and its country if a trusted proxy names it in this field.
    func origin(countryField: String?) -> RequestOrigin {
        RequestOrigin(address: peer.address.ip, country: country(in: countryField))
    }

    /// A field that does not come from a trusted proxy, comes twice or names no country says nothing.
    private func country(in field: String?) -> CountryCode? {
        guard let field, peer.isBehindTrustedProxy, fields.count(of: field) == 1 else { return nil }
        return fields[field].flatMap { CountryCode($0) }
    }

    /// The parameters of the query that name a key, as players call them (clients, section 2).
    private static let assetParameters = ["assetId", "contentId", "KID", "videoId"]

    /// What names the key of the request outside its body.
    func assetHints(at address: LicenseAddress) -> [AssetHint] {
        var hints = address.assetHint.map { [AssetHint($0, in: .path)] } ?? []
        if let query {
            let pairs = QueryPairs(query)
            hints += Self.assetParameters.flatMap(pairs.values).compactMap { AssetHint($0, in: .query) }
        }
        if let name = fields.bytes(of: "KID"), let hint = AssetHint(name, in: .headerField) { hints.append(hint) }
        return hints
    }
}
