import ByteCoding
import ContentKeys
package import Entitlements
package import EventLoops
import HTTPMessages
package import HTTPServing
package import Licensing
import POSIXSockets
package import Records

extension HTTPRequest {
    /// The places of the request in which tokens are looked for: header fields and query.
    var tokenCarriers: TokenCarriers {
        let fields = fields
        return TokenCarriers(fieldValues: { fields.values(of: $0) }, query: parameters)
    }

    /// The origin of the request: the client's address, and its country if a trusted proxy names it in `countryField`.
    package func origin(countryField: String?) -> RequestOrigin {
        RequestOrigin(
            address: peer.address.ip, country: country(in: countryField), listener: peer.listener, mark: playerMark)
    }

    /// The player's own names for its session and the content, as CMCD has them (CTA-5004). Both are keys of
    /// `CMCD-Session`, but some players send all keys in one header.
    private var playerMark: PlayerMark? {
        let values =
            fields.allBytes(of: "CMCD-Session") + fields.allBytes(of: "CMCD-Request")
            + parameters.values("CMCD").map { $0[...] }
        return values.isEmpty ? nil : PlayerMark(values)
    }

    /// The country that the field names. Nil if no trusted proxy sent the field, if it is repeated, or if it names no
    /// country.
    private func country(in field: String?) -> CountryCode? {
        guard let field, peer.isBehindTrustedProxy, fields.count(of: field) == 1 else { return nil }
        return fields[field].flatMap { CountryCode($0) }
    }

    /// The names that players give to the query parameter with the key (clients, section 2).
    private static let assetParameters = ["assetId", "contentId", "KID", "videoId"]

    /// The hints outside the body about which key is asked for: in the path, the query and the field `KID`.
    func assetHints(at address: LicenseAddress) -> [AssetHint] {
        var hints = address.assetHint.map { [AssetHint($0, in: .path)] } ?? []
        hints += Self.assetParameters.flatMap(parameters.values).compactMap { AssetHint($0, in: .query) }
        if let name = fields.bytes(of: "KID"), let hint = AssetHint(name, in: .headerField) { hints.append(hint) }
        return hints
    }
}

extension LicensePipelines {
    /// What is known of a request that was refused before its admission. `now` is in seconds since 1970.
    package func facts(
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
