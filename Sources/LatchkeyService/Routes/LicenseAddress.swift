import ContentKeys
import PlayerMessages

/// The settings that an address has for licence requests. `/fps/license` has the defaults.
struct LicenseAddress: Sendable {
    /// The shape of the answers, unless the query names another one; nil if the address serves every player.
    var answer: AnswerShape?
    /// Whether the field `Accept` may select the shape of the answer.
    var followsAccept: Bool = true
    /// The key that the path names. It is only a hint, since the SPC decides.
    var assetHint: AssetID?
}
