import ByteCoding
import Entitlements
package import KeyCrypto
package import Records

/// The issuers and customers of an installation. They determine what operators may leave out.
package struct AccountNames: Equatable, Sendable {
    package let issuers: Set<String>
    /// The issuer of each customer of the ExpressPlay-style API, by the customer's name.
    package let customers: [String: String]
    /// The customer for which the entitlement server makes tokens; nil if it is off.
    package let entitlementCustomer: String?

    package init(issuers: Set<String>, customers: [String: String] = [:], entitlementCustomer: String? = nil) {
        self.issuers = issuers
        self.customers = customers
        self.entitlementCustomer = entitlementCustomer
    }
}

/// A subject of an issuer, in an operator's words.
package struct AccountSubject: Equatable, Sendable {
    private enum Name: Equatable {
        case text(issuer: String, String)
        /// The subject's pseudonym, which ledger rows and lists show.
        case pseudonym(Pseudonym)
    }

    private let name: Name

    /// Reads `subject` with `issuer`, or `cookie` with `customer`. The devices of an ExpressPlay cookie belong to one
    /// subject.
    ///
    /// - Parameters:
    ///   - names: Determines what the operator may leave out.
    ///   - text: Returns the operator's value for a name; nil if there is none.
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

    package func pseudonym(by pseudonyms: Pseudonymizer) throws(CryptoError) -> Pseudonym {
        switch name {
        case .text(let issuer, let subject): try pseudonyms.subject(issuer: issuer, subject)
        case .pseudonym(let pseudonym): pseudonym
        }
    }
}

/// The devices, playbacks or rentals of a subject that an operator selects.
package enum AccountSelection: Equatable, Sendable {
    case all
    case device(Pseudonym)
    case playback(PlaybackPosition)
    case content(String)

    /// Reads `all` or one of the kind's selectors. A device is its HU, or its pseudonym in the form of lists.
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

/// The kind of a subject's items that operators manage.
package enum AccountKind: String, Sendable, CaseIterable {
    case devices, playbacks, rentals

    package enum Selector: String, Sendable {
        case device, playback, content
    }

    /// The names by which items of the kind can be selected.
    package var selectors: [Selector] {
        switch self {
        case .devices: [.device]
        case .playbacks: [.playback, .device, .content]
        case .rentals: [.content]
        }
    }
}

/// The reason why nothing was listed or changed: the operator's request cannot be understood.
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
    /// The parameter is not known, is repeated or is not UTF-8.
    case parameterUnknown(String)

    /// One sentence without its full stop, with the names of parameters in a query.
    package var description: String { text { $0 } }

    /// The same in the words of a command, whose options have the names of the parameters.
    package var ofOptions: String { text { "--" + String($0.prefix { $0 != "=" }) } }

    private func text(_ name: (String) -> String) -> String {
        switch self {
        case .subjectMissing: "name one subject, by \(name("subject")) or by \(name("cookie"))"
        case .valueOfWrongSize:
            "a subject must have 1 to 200 bytes, and a cookie 1 to \(SealedTokenContents.cookieSizeMaximum)"
        case .issuerMissing: "\(name("issuer")) is missing: several are configured, and each has subjects of its own"
        case .issuerUnknown: "\(name("issuer")) names no issuer of the configuration"
        case .issuerNotAsked: "\(name("issuer")) is only for the name of a subject, and not for a cookie or a pseudonym"
        case .customerUnknown: "\(name("customer")) is missing, or names no customer of expressPlay.customers"
        case .customerNotAsked: "\(name("customer")) is only for a cookie"
        case .pseudonymMalformed:
            "64 hexadecimal digits must follow \(RevocationTarget.pseudonymMark), as lists with --json show them: the 32 "
                + "digits of the ledger and of latchkey why find nothing here, so give the name in the tokens"
        case .deviceMalformed: "name a device by its HU (40 hexadecimal digits or 27 of base64url) or by its pseudonym"
        case .playbackMalformed: "name a playback in the form that a list shows"
        case .selectionMissing(let kind):
            "name one of: \(kind.selectors.map { name($0.rawValue) }.joined(separator: ", ")), or \(name("all=true"))"
        case .limitMalformed: "\(name("limit")) must be a number from 1 to \(AccountDesk.pageSizeMaximum)"
        case .positionMalformed: "\(name("after")) must be the value of next in the previous page"
        case .parameterUnknown(let unknown): "the parameter \(unknown) is not known here, or is repeated"
        }
    }
}

extension Pseudonym {
    /// The pseudonym in the form of lists.
    package var shown: String { RevocationTarget.pseudonymMark + Hexadecimal.encode(bytes) }

    /// Reads the form of lists. Returns nil if the text does not begin as a pseudonym, and throws if the digits are
    /// wrong.
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
    /// The position in the form of lists: the group in 64 hexadecimal digits, a hyphen, and the number.
    package var shown: String { "\(Hexadecimal.encode(group.bytes))-\(number)" }

    init?(shown text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let group = (try? Hexadecimal.decode(String(parts[0]))).flatMap({ Pseudonym($0) }),
            let number = Int64(parts[1]), number >= 0
        else { return nil }
        self.init(group: group, number: number)
    }
}
