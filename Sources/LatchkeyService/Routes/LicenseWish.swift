import Entitlements
import HTTPMessages

/// What an app says of the licence that it wants, as an SPC cannot.
///
/// `?offline=1` asks for one that the device may keep. `?renew=true`, or the field `X-License-Renew: 1`, says that it follows another one
/// (entitlement, section 4.5); that changes how a crowd is treated, and never what is granted.
struct LicenseWish: Equatable, Sendable {
    var use: LicenseUse = .streaming
    var isRenewal = false

    init(use: LicenseUse = .streaming, isRenewal: Bool = false) {
        self.use = use
        self.isRenewal = isRenewal
    }

    /// Nil where a request says something twice, or in words that nobody knows.
    init?(query: String?, fields: HTTPFields) {
        let pairs = (query ?? "").split(separator: "&")
        guard let isOffline = Self.flag("offline", in: pairs), let isRenewal = Self.flag("renew", in: pairs) else {
            return nil
        }
        use = isOffline ? .offline : .streaming
        self.isRenewal = isRenewal || fields["X-License-Renew"] == "1"
    }

    /// False where it is absent; nil where it is there twice or unreadable.
    private static func flag(_ name: String, in pairs: [Substring]) -> Bool? {
        let values = pairs.compactMap { value(of: $0, named: name) }
        guard let value = values.first else { return false }
        guard values.count == 1 else { return nil }
        switch value {
        case "", "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }

    private static func value(of pair: Substring, named name: String) -> Substring? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.first.map({ $0 == name }) == true else { return nil }
        return parts.count == 2 ? parts[1] : ""
    }
}
