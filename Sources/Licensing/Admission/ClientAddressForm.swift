package import POSIXSockets

/// How much of a client's address is written down (`logging.clientAddress`). The raw values are the words of the
/// configuration.
package enum ClientAddressForm: String, Sendable, CaseIterable {
    /// The whole address.
    case full
    /// The network alone: the first 24 bits of an IPv4 address, 48 of an IPv6 address.
    case network
    /// Nothing.
    case none

    /// What is written of an address; nil if nothing is.
    package func text(of address: IPAddress?) -> String? {
        guard let address else { return nil }
        return switch self {
        case .full: address.unmapped.description
        case .network: IPNetwork(of: address, bits4: 24, bits6: 48).description
        case .none: nil
        }
    }
}
