package import Administration
package import Licensing
package import ServiceConfiguration

/// The rules for operators' requests. A reload replaces them.
package struct AdminRules: Sendable {
    /// The credentials of each admin listener, in the order of the listeners. Only a loopback listener may have none.
    package let credentials: [AdminCredentials]
    /// The issuers and customers that requests about revocations and accounts may name.
    package let names: AccountNames
    /// The rules that `explain` explains.
    package let license: LicenseRules

    package init(credentials: [AdminCredentials], names: AccountNames, license: LicenseRules) {
        self.credentials = credentials
        self.names = names
        self.license = license
    }
}
