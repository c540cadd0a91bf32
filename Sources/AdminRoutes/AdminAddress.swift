import Administration
import HTTPMessages
import RouteKit
import ServiceConfiguration

/// What is at an address of an admin listener.
///
/// `all` has every address, and nothing is served that is not in it: the description of the API is compared with it
/// (Documentation/reference/openapi.md). To add an address, add a case, its entry, and its answer in `AdminHandler`.
enum AdminAddress: Hashable, Sendable {
    /// The operator's page.
    case page
    /// One of the page's files.
    case pageFile
    /// A file of the site of the documents, whose path is the rest of the path.
    case help
    case live
    case ready
    case metrics
    /// The description of every route of both listeners.
    case apiDescription
    /// Who the sender of a request is, and what it may do.
    case whoAmI
    /// The session of an operator's browser.
    case session
    case explain
    case revocations
    /// An order that the node is not ready.
    case drain
    /// The end of such an order.
    case endOfDrain
    /// Why one request was refused, whose id is the rest of the path.
    case refusal
    case account(AccountKind)
    case data(AdminData)

    /// The path of the address, and who may use it.
    var entry: AdminAddressEntry {
        switch self {
        case .page: .init(PageFiles.path, [.get: .everyone], isForBrowsers: true)
        case .pageFile: .init(PageFiles.prefix + "{file}", [.get: .everyone], isForBrowsers: true)
        case .help: .init(HelpFiles.prefix + "{file}", [.get: .everyone], isForBrowsers: true)
        case .live: .init("/livez", [.get: .everyone], isServedAtTheEnd: true)
        case .ready: .init("/readyz", [.get: .everyone], isServedAtTheEnd: true)
        case .metrics: .init("/metrics", [.get: .permission(.scrape)], isServedAtTheEnd: true)
        case .apiDescription: .init(APIDescription.path, [.get: .everyAdministrator])
        case .whoAmI: .init("/v1/whoami", [.get: .everyAdministrator])
        case .session:
            .init(
                SessionEndpoint.path, [.post: .everyone, .delete: .everyAdministrator], readsBody: true,
                isForBrowsers: true)
        case .explain: .init("/v1/explain", [.post: .permission(.explain)], readsBody: true)
        case .revocations:
            .init(
                RevocationEndpoint.path,
                [.get: .permission(.look), .post: .permission(.revoke), .delete: .permission(.revoke)], readsBody: true)
        case .drain: .init(DrainEndpoint.drainPath, [.post: .permission(.operate)])
        case .endOfDrain: .init(DrainEndpoint.readyPath, [.post: .permission(.operate)])
        case .refusal: .init(RefusalEndpoint.prefix + "{requestId}", [.get: .permission(.look)])
        case .account(let kind):
            .init("/v1/\(kind.rawValue)", [.get: .permission(.look), .delete: .permission(.release)])
        case .data(let data):
            .init(
                data.path, [.get: .permission(data.permission)], isServedAtTheEnd: data.isServedAtTheEnd,
                isPolled: data.permission == .watch)
        }
    }

    private static let addresses: [AdminAddress] =
        [
            .page, .pageFile, .help, .live, .ready, .metrics, .apiDescription, .whoAmI, .session, .explain,
            .revocations, .drain, .endOfDrain, .refusal,
        ] + AccountKind.allCases.map { .account($0) } + AdminData.allCases.map { .data($0) }

    /// Every address with its path. A name in braces stands for one segment that is not empty, or for a file of the
    /// help with its folders.
    static let all: [(path: String, address: AdminAddress)] = addresses.map { ($0.entry.path, $0) }

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0.address) })

    /// The addresses whose paths have names in braces.
    private static let byPattern = all.filter { $0.path.contains("{") }.compactMap { path, address in
        PathPattern(path).map { (pattern: $0, address: address) }
    }

    /// Nil if nothing is there. A path is compared as it came.
    init?(path: String) {
        if let address = Self.byPath[path] ?? Self.byPattern.first(where: { $0.pattern.fits(path) })?.address {
            self = address
        } else if path.hasPrefix(HelpFiles.prefix) {
            self = .help
        } else {
            return nil
        }
    }

    /// Whether a request there has a body that is read.
    var readsBody: Bool { entry.readsBody }

    /// Who may send a request with this method; nil if the address does not serve the method.
    ///
    /// This is the one place that decides which permission a request needs.
    func access(for method: HTTPMethod) -> AdminAccess? { entry.access[method == .head ? .get : method] }
}

/// Who may send a request to an address of an admin listener.
enum AdminAccess: Hashable, Sendable {
    /// Also a sender without a credential.
    case everyone
    /// Every sender with a credential of the listener. Also every sender, if the listener has no credential.
    case everyAdministrator
    case permission(AdminPermission)
}

/// The path of an address of admin listeners, and how requests to it are treated.
struct AdminAddressEntry: Sendable {
    /// May have names in braces, each for one segment.
    let path: String
    /// Who may use each method. HEAD has the access of GET.
    let access: [HTTPMethod: AdminAccess]
    /// Whether a request has a body that is read.
    let readsBody: Bool
    /// Whether it is served while the daemon stops.
    let isServedAtTheEnd: Bool
    /// Whether only browsers ask here. The host name of a request must then be listed, numeric or `localhost`, even if
    /// the listener has credentials: a browser that has logged in sends its cookie by itself.
    let isForBrowsers: Bool
    /// Whether the operator's page asks by itself, again and again. Such requests do not keep a session alive.
    let isPolled: Bool

    init(
        _ path: String, _ access: [HTTPMethod: AdminAccess], readsBody: Bool = false, isServedAtTheEnd: Bool = false,
        isForBrowsers: Bool = false, isPolled: Bool = false
    ) {
        self.path = path
        self.access = access
        self.readsBody = readsBody
        self.isServedAtTheEnd = isServedAtTheEnd
        self.isForBrowsers = isForBrowsers
        self.isPolled = isPolled
    }

    /// The methods as the header `Allow` names them.
    var methods: String {
        HTTPMethod.allCases.filter { access[$0 == .head ? .get : $0] != nil }.map(\.rawValue).joined(separator: ", ")
    }
}
