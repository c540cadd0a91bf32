import ContentKeys
import Entitlements
import Glibc
import HTTPMessages
import Licensing
import Telemetry

// Each section reads itself: one line for each field, and below them the rules that concern several fields. A new field
// needs a new line with a default here, and one in Config/reference.json5.

extension Configuration {
    init?(reading section: ConfigurationSection) {
        let node = section.value("node", .name, default: Self.hostName, overriddenBy: .node)
        let listeners = section.section("listeners", Listeners.init(reading:))
        let publicURL = section.optional("publicURL", .publicURL, effect: .reload)
        let cors = section.section("cors", effect: .reload, CORSPolicy.init(reading:))
        let licensePaths = Self.licensePaths(reading: section)
        let assetIDs = section.list("assetIDs", .assetForm, allowsEmpty: true, effect: .reload) ?? []
        let fairplay = section.section("fairplay", effect: .reload, FairPlay.init(reading:))
        let keys = section.section("keys", Keys.init(reading:))
        let storage = section.section("storage", Storage.init(reading:))
        let ledger = section.section("ledger", Ledger.init(reading:))
        let crypto = section.section("crypto", Crypto.init(reading:))
        let entitlement = section.section("entitlement", effect: .reload, Entitlement.init(reading:))
        let expressPlay = section.section("expressPlay", effect: .reload, ExpressPlay.init(reading:))
        let packagers = Self.packagers(reading: section)
        let limits = section.section("limits", Limits.init(reading:))
        let drain = section.section("drain", effect: .reload, Drain.init(reading:))
        let logging = section.section("logging", effect: .reload, Logging.init(reading:))

        guard let listeners, let cors, let licensePaths, let fairplay, let keys, let storage, let ledger, let crypto,
            let entitlement, let expressPlay, let packagers, let limits, let drain, let logging
        else {
            return nil
        }
        if !expressPlay.customers.isEmpty, expressPlay.redeemURL(under: publicURL) == nil {
            section.report("expressPlay", .incomplete(without: "publicURL"))
        }
        if keys.skdTemplate.needsAuthority, publicURL == nil {
            section.report(below: "keys.skdTemplate", .incomplete(without: "publicURL"))
        }
        if assetIDs.count > AssetForms.countMaximum {
            let expected = "at most \(AssetForms.countMaximum) forms"
            section.report("assetIDs", .invalidValue(expected: expected, example: "[]"))
        }
        Self.checkLicensePaths(licensePaths, redeemPaths: expressPlay.redeemPaths, in: section)
        self.node = node
        self.listeners = listeners
        self.publicURL = publicURL
        self.cors = cors
        self.licensePaths = licensePaths
        self.assetIDs = assetIDs
        self.fairplay = fairplay
        self.keys = keys
        self.storage = storage
        self.ledger = ledger
        self.crypto = crypto
        self.entitlement = entitlement
        self.expressPlay = expressPlay
        self.packagers = packagers
        self.limits = limits
        self.drain = drain
        self.logging = logging
    }

    /// The host name; "latchkey" if it has other characters than letters, digits, dots, hyphens and underscores.
    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        // One byte less than the buffer has, so that a zero byte always follows the name.
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "latchkey" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let name = String(decoding: bytes.prefix(64), as: UTF8.self)
        let isName =
            !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
        return isName ? name : "latchkey"
    }
}

extension Configuration.Drain {
    init(reading section: ConfigurationSection) {
        delay = section.value("delay", .duration(.zero...(.seconds(600)), example: .seconds(15)), default: .zero)
    }
}

extension Configuration.Logging {
    init(reading section: ConfigurationSection) {
        level = section.value("level", .logLevel, default: .info, overriddenBy: .logLevel)
        linesPerEvent = section.value(
            "linesPerEvent", .integer(1...1_000_000, example: Logger.linesPerEventDefault),
            default: Logger.linesPerEventDefault)
        clientAddress = section.value(
            "clientAddress", .choice(ClientAddressForm.allCases, example: .network), default: .network)
    }
}

extension ConfigurationForm<LogLevel> {
    fileprivate static var logLevel: ConfigurationForm { .choice(LogLevel.allCases, example: .info) }
}
