import ContentKeys
import Entitlements
import EventLoops
import HTTPMessages
import HTTPServing
import Licensing
import POSIXSockets
import Records

extension HTTPRequest {
    /// Where tokens are looked for.
    var tokenCarriers: TokenCarriers {
        let fields = fields
        return TokenCarriers(fieldValues: { fields.values(of: $0) }, query: query)
    }

    /// Where the request comes from: the client's address, and its country if a trusted proxy names it in this field.
    func origin(countryField: String?) -> RequestOrigin {
        RequestOrigin(address: peer.address.ip, country: country(in: countryField), listener: peer.listener)
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

extension LicensePipelines {
    /// What is known of a request that was refused before its admission. `now` is in seconds since 1970.
    func facts(
        of error: LicenseError, in request: HTTPRequest, _ carriers: TokenCarriers? = nil, under rules: LicenseRules,
        now: Int64, on loop: LoopContext
    ) -> RefusalFacts {
        // Without a pipeline no request is served, and the cause says so.
        guard let control = try? pipeline(on: loop).admissionControl else { return RefusalFacts() }
        return control.facts(
            of: error, presenting: carriers ?? request.tokenCarriers,
            from: request.origin(countryField: rules.entitlement.countryField), under: rules, now: now)
    }
}
