package import ContentKeys
package import PlayerMessages

/// The settings that an address has for license requests. `/fps/license` has the defaults.
package struct LicenseAddress: Sendable {
    /// The shape of the answers, unless the query names another one; nil if the address serves every player.
    package var answer: AnswerShape?
    /// Whether the field `Accept` may select the shape of the answer.
    package var followsAccept: Bool = true
    /// The key that the path names. It is only a hint, since the SPC decides.
    package var assetHint: AssetID?

    package init(answer: AnswerShape? = nil, followsAccept: Bool = true, assetHint: AssetID? = nil) {
        self.answer = answer
        self.followsAccept = followsAccept
        self.assetHint = assetHint
    }
}
