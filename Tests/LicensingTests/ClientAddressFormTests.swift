import POSIXSockets
import Records
import Testing

@testable import Licensing

@Suite struct ClientAddressFormTests {
    @Test(arguments: [
        ("192.0.2.77", "192.0.2.77", "192.0.2.0/24"), ("::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1234:5678::9", "2001:db8:1234:5678::9", "2001:db8:1234::/48"), ("::1", "::1", "::/48"),
    ])
    func writesAsMuchOfAnAddressAsTheOperatorWants(text: String, full: String, network: String) throws {
        let address = try #require(IPAddress(text))
        #expect(ClientAddressForm.full.text(of: address) == full)
        #expect(ClientAddressForm.network.text(of: address) == network)
        #expect(ClientAddressForm.none.text(of: address) == nil)
        #expect(RefusalFacts(listener: "public", client: address, .none).all.map(\.text) == ["public"])
    }

    /// A client of a unix socket has none.
    @Test(arguments: ClientAddressForm.allCases)
    func writesNothingOfNoAddress(form: ClientAddressForm) {
        #expect(form.text(of: nil) == nil)
    }
}
