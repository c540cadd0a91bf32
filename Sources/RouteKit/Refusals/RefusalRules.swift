package import FairPlay
package import Licensing
package import PackagerAPI
import Records

/// What the rules in force say about refusals: what they show, and which names their counts may have.
package struct RefusalRules: Sendable {
    /// Whether a token that proves too little gets 403.
    package let hidesAuthentication: Bool
    package let clientAddress: ClientAddressForm
    /// The names of the issuers whose tokens are accepted.
    package let issuers: Set<String>
    package let credentials: CredentialSet
    package let packagers: PackagerDirectory

    package init(
        hidesAuthentication: Bool, clientAddress: ClientAddressForm, issuers: Set<String>, credentials: CredentialSet,
        packagers: PackagerDirectory
    ) {
        self.hidesAuthentication = hidesAuthentication
        self.clientAddress = clientAddress
        self.issuers = issuers
        self.credentials = credentials
        self.packagers = packagers
    }
}
