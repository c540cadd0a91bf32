import ByteCoding
import ContentKeys
package import Entitlements
import EventLoops
import HTTPMessages
package import HTTPServing
import Licensing
import POSIXSockets
import Records
import RouteKit

extension HTTPRequest {
    /// The places of the request in which tokens are looked for: header fields and query.
    var tokenCarriers: TokenCarriers {
        let fields = fields
        let limit = TokenFinder.fieldCountMaximum + 1
        return TokenCarriers(fieldValues: { fields.values(of: $0, limit: limit) }, query: parameters)
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
    /// The problem of a request that was refused before its admission, with the details that its head shows, and what
    /// is known of the request. `now` is in seconds since 1970.
    func refusal(
        of error: LicenseError, in request: HTTPRequest, from origin: RequestOrigin, _ carriers: TokenCarriers? = nil,
        under rules: LicenseRules, now: Int64, on loop: LoopContext
    ) -> (problem: Problem, facts: RefusalFacts) {
        let carriers = carriers ?? request.tokenCarriers
        var problem = Problem(for: error)
        var facts = RefusalFacts()
        facts[.found] = problem.tellDiagnosis(of: error, in: request.fields, carriers, under: rules)
        // Without a pipeline no request is served, and the cause says so.
        if let control = try? pipeline(on: loop).admissionControl {
            facts.add(control.facts(of: error, presenting: carriers, from: origin, under: rules, now: now))
        }
        return (problem, facts)
    }
}
