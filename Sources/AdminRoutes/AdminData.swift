import ServiceConfiguration

/// What operators read at an admin listener beside health and metrics. All of it is JSON and is read by GET.
package enum AdminData: Hashable, Sendable, CaseIterable {
    case status
    case history
    /// What devices have stated in the last hour, and how many of them were refused.
    case deviceKinds
    case events
    /// The last refusals; one of them is at `AdminAddress.refusal`.
    case refusals
    case ledger
    case contents
    /// The keys of the content that the path names, without the keys themselves.
    case contentKeys

    private static let contentPrefix = "/v1/contents/"
    private static let keysSuffix = "/keys"

    /// A name in braces stands for a part of the path.
    var path: String {
        switch self {
        case .status: "/v1/status"
        case .history: "/v1/history"
        case .deviceKinds: "/v1/device-kinds"
        case .events: "/v1/events"
        case .refusals: "/v1/refusals"
        case .ledger: "/v1/ledger"
        case .contents: "/v1/contents"
        case .contentKeys: Self.contentPrefix + "{contentId}" + Self.keysSuffix
        }
    }

    /// Returns the content id in the path of `contentKeys`, as it was received; nil for another path.
    static func contentID(in path: String) -> Substring? {
        guard path.hasPrefix(contentPrefix), path.hasSuffix(keysSuffix),
            path.utf8.count > contentPrefix.utf8.count + keysSuffix.utf8.count
        else { return nil }
        return path.dropFirst(contentPrefix.count).dropLast(keysSuffix.count)
    }

    /// What the sender needs. The plots show nothing of single requests, keys and viewers.
    var permission: AdminPermission {
        switch self {
        case .status, .history, .deviceKinds, .events: .watch
        case .refusals, .ledger, .contents, .contentKeys: .look
        }
    }

    /// Whether it is served while the daemon stops. A page that watches the end needs no store.
    var isServedAtTheEnd: Bool { self == .status || self == .history }
}
