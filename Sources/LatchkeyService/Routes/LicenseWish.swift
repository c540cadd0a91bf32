import Entitlements

/// What an app says of the licence that it wants, as an SPC cannot: `?offline=1` for one that the device may keep.
enum LicenseWish {
    /// The use that a query asks for; nil where it says so twice or in words that nobody knows.
    static func use(in query: String?) -> LicenseUse? {
        let values = (query ?? "").split(separator: "&").compactMap(value)
        guard let value = values.first else { return .streaming }
        guard values.count == 1 else { return nil }
        switch value {
        case "", "1", "true": return .offline
        case "0", "false": return .streaming
        default: return nil
        }
    }

    /// The value of a pair named `offline`.
    private static func value(of pair: Substring) -> Substring? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.first == "offline" else { return nil }
        return parts.count == 2 ? parts[1] : ""
    }
}
