import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import Licensing
import PlayerMessages

/// What an address says of the licence requests that are sent to it. `/fps/license` says nothing.
struct LicenseAddress: Sendable {
    /// The shape of its answers unless the query names another one; nil if it serves every player.
    var answer: AnswerShape?
    /// Whether the field `Accept` chooses the shape of a licence.
    var followsAccept: Bool = true
    /// The key that the path names. A hint only: the SPC decides.
    var assetHint: AssetID?
}

extension HTTPRequest {
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
