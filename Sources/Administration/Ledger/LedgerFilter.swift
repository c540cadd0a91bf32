import ByteCoding
import ContentKeys
import Entitlements
import KeyCrypto
package import Records

/// An operator's search in the ledger, as the query of `GET /v1/ledger` has it.
package enum LedgerFilter {
    /// The parameters of a search. An entry must match all that are given.
    package static let parameters = [
        "request", "license", "subject", "issuer", "cookie", "customer", "device", "playback", "content", "key",
        "deviceClass", "securityLevel", "osVersion",
    ]

    /// Reads a search.
    ///
    /// - Parameters:
    ///   - names: Determines what the operator may leave out about a subject.
    ///   - text: Returns the operator's value for a parameter; nil if the operator has not given it.
    package static func query(
        names: AccountNames, _ pseudonyms: Pseudonymizer, _ text: (String) throws(AccountFault) -> String?
    ) throws(LedgerFilterFault) -> LedgerQuery {
        func value<Value>(
            _ name: String, _ read: (String) throws(LedgerFilterFault) -> Value?
        ) throws(LedgerFilterFault) -> Value? {
            guard let text = try wrap(LedgerFilterFault.account, try text(name)) else { return nil }
            guard (1...200).contains(text.utf8.count), let value = try read(text) else { throw .malformed(name) }
            return value
        }
        let license = try value("license") { text in
            (try? Hexadecimal.decode(text)).flatMap { Bytes16($0) }.map { LicenseID($0) }
        }
        let query = LedgerQuery(
            license: license, content: try value("content") { $0 }, subject: try subject(names, pseudonyms, text),
            request: try value("request") { $0 })
        var narrowed = query.also(
            device: try value("device") { text in device(text, pseudonyms) },
            keyID: try value("key") { text in try? KeyID(parsing: text) }, playback: try value("playback") { $0 })
        narrowed.stated = StatedFilter(
            deviceClass: try value("deviceClass", StatedFilter.DeviceClass.init),
            securityLevel: try value("securityLevel", StatedFilter.SecurityLevel.init),
            osVersion: try value("osVersion", StatedFilter.OSVersion.init))
        return narrowed
    }

    private static func subject(
        _ names: AccountNames, _ pseudonyms: Pseudonymizer, _ text: (String) throws(AccountFault) -> String?
    ) throws(LedgerFilterFault) -> Pseudonym? {
        do throws(AccountFault) {
            let (subject, cookie) = (try text("subject"), try text("cookie"))
            if subject == nil, cookie == nil {
                let (issuer, customer) = (try text("issuer"), try text("customer"))
                if issuer != nil || customer != nil { throw .subjectMissing }
                return nil
            }
            if cookie == nil, let short = subject.flatMap(Pseudonym.init(shownShort:)) { return short }
            let account = try AccountSubject(names: names, text)
            do throws(CryptoError) {
                return try account.pseudonym(by: pseudonyms)
            } catch {
                throw AccountFault.subjectMissing
            }
        } catch {
            throw .account(error)
        }
    }

    private static func device(_ text: String, _ pseudonyms: Pseudonymizer) -> Pseudonym? {
        if let short = Pseudonym(shownShort: text) { return short }
        if text.hasPrefix(RevocationTarget.pseudonymMark) { return try? Pseudonym(shown: text) }
        return DeviceIdentifier(text: text).flatMap { try? pseudonyms.pseudonym(of: .device, $0.bytes) }
    }
}

/// Why a search cannot be understood.
package enum LedgerFilterFault: Error, Equatable, CustomStringConvertible {
    case account(AccountFault)
    /// The value of this parameter has a wrong form.
    case malformed(String)

    /// One sentence without its full stop.
    package var description: String {
        switch self {
        case .account(let fault): fault.description
        case .malformed("license"): "license takes the 32 hexadecimal digits of X-License-Id"
        case .malformed("device"):
            "device takes an HU (40 hexadecimal digits or 27 of base64url), or a pseudonym as lists and entries show it"
        case .malformed("key"): "key takes a key id as a UUID or as 32 hexadecimal digits"
        case .malformed("deviceClass"): "deviceClass takes \(StatedFilter.DeviceClass.form)"
        case .malformed("securityLevel"): "securityLevel takes \(StatedFilter.SecurityLevel.form)"
        case .malformed("osVersion"): "osVersion takes \(StatedFilter.OSVersion.form)"
        case .malformed(let name): "\(name) takes 1 to 200 bytes"
        }
    }
}

extension Pseudonym {
    /// Reads the half of a pseudonym that an entry of the ledger shows, after the mark of pseudonyms.
    package init?(shownShort text: String) {
        guard text.hasPrefix(RevocationTarget.pseudonymMark) else { return nil }
        let digits = String(text.dropFirst(RevocationTarget.pseudonymMark.count))
        guard let half = (try? Hexadecimal.decode(digits)).flatMap({ Bytes16($0) }) else { return nil }
        self.init(short: half)
    }
}
