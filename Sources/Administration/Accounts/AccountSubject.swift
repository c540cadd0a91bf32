import ByteCoding
import Entitlements
import KeyCrypto
package import Records

/// Whose names an installation knows: what operators may leave out follows from these.
package struct AccountNames: Equatable, Sendable {
    package let issuers: Set<String>
    /// The issuer of each customer in ExpressPlay's manner, by the customer's name.
    package let customers: [String: String]
    /// The customer as whose the entitlement server makes tokens; nil if it is off.
    package let entitlementCustomer: String?

    package init(issuers: Set<String>, customers: [String: String] = [:], entitlementCustomer: String? = nil) {
        self.issuers = issuers
        self.customers = customers
        self.entitlementCustomer = entitlementCustomer
    }
}

/// A subject of an issuer, as an operator names it.
package struct AccountSubject: Equatable, Sendable {
    private enum Name: Equatable {
        case text(issuer: String, String)
        /// As rows of the ledger and lists show it.
        case pseudonym(Pseudonym)
    }

    private let name: Name

    /// Reads `subject` with `issuer`, or `cookie` with `customer`: the devices of an ExpressPlay cookie are those of
    /// one subject.
    ///
    /// - Parameters:
    ///   - names: What the operator may leave out follows from these.
    ///   - text: Gives what the operator says under a name; nil for nothing.
    package init(
        names: AccountNames, _ text: (String) throws(AccountFault) -> String?
    ) throws(AccountFault) {
        let (subject, cookie) = (try text("subject"), try text("cookie"))
        let (issuer, customer) = (try text("issuer"), try text("customer"))
        switch (subject, cookie) {
        case (let subject?, nil):
            guard customer == nil else { throw .customerNotAsked }
            name = try Self.name(subject, issuer, names)
        case (nil, let cookie?):
            guard issuer == nil else { throw .issuerNotAsked }
            guard (1...SealedTokenContents.cookieSizeMaximum).contains(cookie.utf8.count) else {
                throw .valueOfWrongSize
            }
            let customer = try Self.customer(customer, names)
            name = .text(
                issuer: customer.issuer, SealedTokenContents.subject(ofCookie: cookie, customer: customer.name))
        case (nil, nil), (.some, .some): throw .subjectMissing
        }
    }

    private static func name(
        _ subject: String, _ issuer: String?, _ names: AccountNames
    ) throws(AccountFault) -> Name {
        guard (1...200).contains(subject.utf8.count) else { throw .valueOfWrongSize }
        if let pseudonym = try Pseudonym(shown: subject) {
            guard issuer == nil else { throw .issuerNotAsked }
            return .pseudonym(pseudonym)
        }
        let only = names.issuers.count == 1 ? names.issuers.first : nil
        guard let issuer = issuer ?? only else { throw .issuerMissing }
        guard names.issuers.contains(issuer) else { throw .issuerUnknown }
        return .text(issuer: issuer, subject)
    }

    private static func customer(
        _ customer: String?, _ names: AccountNames
    ) throws(AccountFault) -> (name: String, issuer: String) {
        let only = names.customers.count == 1 ? names.customers.keys.first : nil
        guard let name = customer ?? names.entitlementCustomer ?? only, let issuer = names.customers[name] else {
            throw .customerUnknown
        }
        return (name, issuer)
    }

    func pseudonym(by pseudonyms: Pseudonymizer) throws(CryptoError) -> Pseudonym {
        switch name {
        case .text(let issuer, let subject): try pseudonyms.subject(issuer: issuer, subject)
        case .pseudonym(let pseudonym): pseudonym
        }
    }
}

/// Which of a subject's devices, playbacks or rentals an operator means.
package enum AccountSelection: Equatable, Sendable {
    case all
    case device(Pseudonym)
    case playback(PlaybackPosition)
    case content(String)

    /// Reads `all` and the one name that fits the kind. A device is its HU, or its pseudonym as a list shows it.
    package init(
        of kind: AccountKind, _ pseudonyms: Pseudonymizer, _ text: (String) throws(AccountFault) -> String?
    ) throws(AccountFault) {
        var found: [AccountSelection] = []
        if let word = try text("all") {
            guard word == "true" else { throw .selectionMissing(kind) }
            found.append(.all)
        }
        for name in kind.selectors {
            guard let value = try text(name.rawValue) else { continue }
            found.append(try Self.selection(name, value, pseudonyms))
        }
        guard let selection = found.first, found.count == 1 else { throw .selectionMissing(kind) }
        self = selection
    }

    private static func selection(
        _ name: AccountKind.Selector, _ value: String, _ pseudonyms: Pseudonymizer
    ) throws(AccountFault) -> AccountSelection {
        switch name {
        case .device:
            if let pseudonym = try Pseudonym(shown: value) { return .device(pseudonym) }
            guard let device = DeviceIdentifier(text: value),
                let pseudonym = try? pseudonyms.pseudonym(of: .device, device.bytes)
            else { throw .deviceMalformed }
            return .device(pseudonym)
        case .playback:
            guard let position = PlaybackPosition(shown: value) else { throw .playbackMalformed }
            return .playback(position)
        case .content: return .content(value)
        }
    }

    func selects(_ item: AccountItem) -> Bool {
        switch (self, item) {
        case (.all, _): true
        case (.device(let device), .device(let known)): known.device == device
        case (.device(let device), .playback(let known)): known.device == device
        case (.playback(let position), .playback(let known)): known.position == position
        case (.content(let content), .rental(let known)): known.content.utf8.elementsEqual(content.utf8)
        case (.content(let content), .playback(let known)): known.content?.utf8.elementsEqual(content.utf8) ?? false
        case (.device, .rental), (.playback, .device), (.playback, .rental), (.content, .device): false
        }
    }
}

/// What operators manage of a subject.
package enum AccountKind: String, Sendable, CaseIterable {
    case devices, playbacks, rentals

    package enum Selector: String, Sendable {
        case device, playback, content
    }

    /// By what one of them can be named.
    package var selectors: [Selector] {
        switch self {
        case .devices: [.device]
        case .playbacks: [.playback, .device, .content]
        case .rentals: [.content]
        }
    }
}

/// Why nothing was listed or changed: what the operator named cannot be looked for.
package enum AccountFault: Error, Equatable, CustomStringConvertible {
    case subjectMissing
    case valueOfWrongSize
    case issuerMissing
    case issuerUnknown
    case issuerNotAsked
    case customerUnknown
    case customerNotAsked
    case pseudonymMalformed
    case deviceMalformed
    case playbackMalformed
    case selectionMissing(AccountKind)
    case limitMalformed
    case positionMalformed
    /// A parameter that is not known, stands twice or is not UTF-8.
    case parameterUnknown(String)

    /// One sentence without its full stop.
    package var description: String {
        switch self {
        case .subjectMissing: "name one subject, by subject or by cookie"
        case .valueOfWrongSize:
            "a subject has 1 to 200 bytes, and a cookie 1 to \(SealedTokenContents.cookieSizeMaximum)"
        case .issuerMissing: "issuer is missing: several are configured, and each has subjects of its own"
        case .issuerUnknown: "issuer names no issuer of the configuration"
        case .issuerNotAsked: "issuer belongs to the name of a subject alone, and to no cookie or pseudonym"
        case .customerUnknown: "customer is missing, or names no customer of expressPlay.customers"
        case .customerNotAsked: "customer belongs to cookie alone"
        case .pseudonymMalformed: "behind \(RevocationTarget.pseudonymMark) stand 64 hexadecimal digits"
        case .deviceMalformed: "a device is its HU, 40 hexadecimal digits or 27 characters of base64url, or a pseudonym"
        case .playbackMalformed: "a playback is named as a list shows it"
        case .selectionMissing(let kind):
            "name one of: \(kind.selectors.map(\.rawValue).joined(separator: ", ")), or all=true"
        case .limitMalformed: "limit is a number from 1 to \(AccountDesk.pageSizeMaximum)"
        case .positionMalformed: "after is what a page before has as next"
        case .parameterUnknown(let name): "the parameter \(name) is not known here, or stands twice"
        }
    }
}

extension Pseudonym {
    /// As lists show it.
    package var shown: String { RevocationTarget.pseudonymMark + Hexadecimal.encode(bytes) }

    /// Nil for a text that is no pseudonym at all.
    init?(shown text: String) throws(AccountFault) {
        guard text.hasPrefix(RevocationTarget.pseudonymMark) else { return nil }
        let digits = String(text.dropFirst(RevocationTarget.pseudonymMark.count))
        guard let pseudonym = (try? Hexadecimal.decode(digits)).flatMap({ Pseudonym($0) }) else {
            throw .pseudonymMalformed
        }
        self = pseudonym
    }
}

extension PlaybackPosition {
    /// As lists show it: the group in 64 hexadecimal digits, a hyphen, and the number.
    package var shown: String { "\(Hexadecimal.encode(group.bytes))-\(number)" }

    init?(shown text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let group = (try? Hexadecimal.decode(String(parts[0]))).flatMap({ Pseudonym($0) }),
            let number = Int64(parts[1]), number >= 0
        else { return nil }
        self.init(group: group, number: number)
    }
}
