import FairPlay
import Licensing
import PackagerAPI
import Records

/// What the rules in force say about refusals: what they show, and which names their counts may have.
struct RefusalRules: Sendable {
    /// Whether a token that proves too little gets 403.
    let hidesAuthentication: Bool
    let clientAddress: ClientAddressForm
    /// The names of the issuers whose tokens are accepted.
    let issuers: Set<String>
    let credentials: CredentialSet
    let packagers: PackagerDirectory
}
