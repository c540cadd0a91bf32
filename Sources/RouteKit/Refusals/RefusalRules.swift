package import FairPlay
package import Licensing
package import PackagerAPI

/// What the rules in force say about refusals: how much of a client is written down, and which names their counts may
/// have.
package struct RefusalRules: Sendable {
    package let clientAddress: ClientAddressForm
    /// The names of the issuers whose tokens are accepted.
    package let issuers: Set<String>
    package let credentials: CredentialSet
    package let packagers: PackagerDirectory

    package init(
        clientAddress: ClientAddressForm, issuers: Set<String>, credentials: CredentialSet,
        packagers: PackagerDirectory
    ) {
        self.clientAddress = clientAddress
        self.issuers = issuers
        self.credentials = credentials
        self.packagers = packagers
    }
}
