import ContentKeys
import PlayerMessages

/// What an address says of the licence requests that are sent to it. `/fps/license` says nothing.
struct LicenseAddress: Sendable {
    /// The shape of its answers unless the query names another one; nil if it serves every player.
    var answer: AnswerShape?
    /// Whether the field `Accept` chooses the shape of a licence.
    var followsAccept: Bool = true
    /// The key that the path names. A hint only: the SPC decides.
    var assetHint: AssetReference?
}
