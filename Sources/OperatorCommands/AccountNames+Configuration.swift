import Administration
import ServiceConfiguration

extension Configuration {
    /// Whose subjects and cookies operators may name.
    var accountNames: AccountNames {
        AccountNames(
            issuers: issuerNames,
            customers: Dictionary(expressPlay.customers.map { ($0.name, $0.issuer) }) { first, _ in first },
            entitlementCustomer: expressPlay.sees?.customer)
    }
}
