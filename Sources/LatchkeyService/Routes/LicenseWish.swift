import Entitlements
import HTTPMessages
import Licensing
import Records

/// What an app says of the licence that it wants, as an SPC cannot.
///
/// `?offline=1` asks for one that the device may keep, `?offline=0` for one that it may not. `?renew=true`, or the
/// field `X-License-Renew: 1`, says that it follows another one (entitlement, section 4.5), and `?previous=` which one;
/// that changes how a crowd is treated and what is written down, and never what is granted. `?format=` names the shape
/// of the answer.
struct LicenseWish: Equatable, Sendable {
    /// Nil if the app does not say it.
    var use: LicenseUse?
    var renewal = RenewalWish()
    var form: LicenseAnswerForm = .raw

    init(use: LicenseUse? = nil, isRenewal: Bool = false, form: LicenseAnswerForm = .raw) {
        self.use = use
        renewal.isRenewal = isRenewal
        self.form = form
    }

    /// Nil where a request says something twice, or in unknown words. Where the form does not follow what is accepted, only the
    /// query says it.
    init?(query: String?, fields: HTTPFields, formFollowsAccept: Bool = true) {
        let pairs = (query ?? "").split(separator: "&")
        guard let offline = Self.only("offline", in: pairs), let isOffline = Self.flag("offline", in: pairs),
            let isRenewal = Self.flag("renew", in: pairs),
            let format = Self.only("format", in: pairs), let previous = Self.only("previous", in: pairs),
            let form = LicenseAnswerForm(named: format, accepting: formFollowsAccept ? fields.values(of: "Accept") : [])
        else { return nil }
        use = offline == nil ? nil : isOffline ? .offline : .streaming
        self.form = form
        renewal.isRenewal = isRenewal || fields["X-License-Renew"] == "1"
        if let previous {
            guard let license = LicenseID(text: previous) else { return nil }
            renewal.previous = license
        }
    }

    /// False where it is absent; nil where it is there twice or unreadable.
    private static func flag(_ name: String, in pairs: [Substring]) -> Bool? {
        guard let value = only(name, in: pairs) else { return nil }
        guard let value else { return false }
        switch value {
        case "", "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }

    /// The one value of a name, which may be absent; nil where it is there twice.
    private static func only(_ name: String, in pairs: [Substring]) -> String?? {
        let values = pairs.compactMap { value(of: $0, named: name) }
        guard values.count <= 1 else { return nil }
        return .some(values.first.map { String($0) })
    }

    private static func value(of pair: Substring, named name: String) -> Substring? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.first.map({ $0 == name }) == true else { return nil }
        return parts.count == 2 ? parts[1] : ""
    }
}
