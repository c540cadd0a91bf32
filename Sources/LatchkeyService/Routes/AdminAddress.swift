import Administration

/// What is at an address of an admin listener.
///
/// `all` has every address, and nothing is served that is not in it: the description of the API is compared with it
/// (the article "The API as OpenAPI").
enum AdminAddress: Hashable, Sendable {
    case live
    case ready
    case metrics
    /// The description of every route of both listeners.
    case apiDescription
    case explain
    case revocations
    /// An order that the node is not ready.
    case drain
    /// The end of such an order.
    case endOfDrain
    /// Why one request was refused, whose id is the rest of the path.
    case refusal
    case account(AccountKind)

    /// Every address with its path. A name in braces stands for the rest of a path.
    static let all: [(path: String, address: AdminAddress)] =
        [
            ("/livez", .live), ("/readyz", .ready), ("/metrics", .metrics), (APIDescription.path, .apiDescription),
            ("/v1/explain", .explain), (RevocationEndpoint.path, .revocations),
            (DrainEndpoint.drainPath, .drain), (DrainEndpoint.readyPath, .endOfDrain),
            (RefusalEndpoint.prefix + "{requestId}", .refusal),
        ] + AccountKind.allCases.map { ("/v1/\($0.rawValue)", .account($0)) }

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0.address) })

    /// Nil if nothing is there. A path is compared as it came.
    init?(path: String) {
        if path.hasPrefix(RefusalEndpoint.prefix) {
            self = .refusal
        } else if let address = Self.byPath[path] {
            self = address
        } else {
            return nil
        }
    }

    /// The methods of the address, as a refusal names them.
    var methods: String {
        switch self {
        case .live, .ready, .metrics, .apiDescription, .refusal: "GET, HEAD"
        case .explain, .drain, .endOfDrain: "POST"
        case .revocations: RevocationEndpoint.methods
        case .account: AccountEndpoint.methods
        }
    }

    /// Whether a request there has a body that is read.
    var readsBody: Bool {
        switch self {
        case .explain, .revocations: true
        case .live, .ready, .metrics, .apiDescription, .refusal, .account, .drain, .endOfDrain: false
        }
    }

    /// Whether the address is served while the daemon stops.
    var isServedAtTheEnd: Bool {
        switch self {
        case .live, .ready, .metrics: true
        case .explain, .revocations, .apiDescription, .refusal, .account, .drain, .endOfDrain: false
        }
    }
}
