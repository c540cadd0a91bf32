import Synchronization

/// Where a credential stands in its life. In each stage its SPCs are opened: the stage decides about its certificates
/// alone.
package enum CredentialStage: String, Sendable, CaseIterable {
    /// Apps get its certificates only if they ask for it by name.
    case staged
    /// Apps get its certificates, by name, and without a name those of the first credential in this stage.
    case serving
    /// No app gets its certificates.
    case draining
}

/// Counts the SPCs that name one credential. Any thread may use it.
package final class CredentialUse: Sendable {
    private let requests = Atomic<UInt64>(0)

    package init() {}

    /// Notes an SPC: one atomic addition.
    package func note() { requests.wrappingAdd(1, ordering: .relaxed) }

    /// How many SPCs were noted.
    package var requestCount: UInt64 { requests.load(ordering: .relaxed) }
}
