package import ByteCoding
import ContentKeys
import Entitlements
import Licensing
package import Records

/// What an operator names to revoke it or to give it back, checked and in the operator's own spelling.
package struct RevocationTarget: Equatable, Sendable {
    let kind: Revocation.Kind
    /// Whose name the value is, for kinds that are an issuer's own; nil for all others.
    let issuer: String?
    private let value: Value

    private enum Value: Equatable {
        case text(String)
        /// Of a personal kind, as a list shows it.
        case pseudonym(Pseudonym)
    }

    /// Stands before the digits of a pseudonym, in lists and in commands.
    static let pseudonymMark = "pseudonym:"

    /// `issuers` are those that are configured: the only one of them need not be named.
    package init(kind: String, issuer: String?, value: String, issuers: Set<String>) throws(RevocationFault) {
        guard let kind = Revocation.Kind(rawValue: kind) else { throw .kindUnknown }
        guard (1...Revocation.valueSizeMaximum).contains(value.utf8.count) else { throw .valueOfWrongSize }
        self.kind = kind
        self.issuer = try Self.issuer(of: kind, issuer, issuers)
        self.value = try Self.value(of: kind, value)
    }

    private static func issuer(
        of kind: Revocation.Kind, _ issuer: String?, _ issuers: Set<String>
    ) throws(RevocationFault) -> String? {
        guard kind.isIssuersOwn else {
            if issuer != nil { throw .issuerNotAsked }
            return nil
        }
        guard let issuer = issuer ?? (issuers.count == 1 ? issuers.first : nil) else { throw .issuerMissing }
        guard issuers.contains(issuer) else { throw .issuerUnknown }
        return issuer
    }

    private static func value(of kind: Revocation.Kind, _ text: String) throws(RevocationFault) -> Value {
        if kind.isPersonal, text.hasPrefix(pseudonymMark) {
            let bytes = try? Hexadecimal.decode(String(text.dropFirst(pseudonymMark.count)))
            guard let pseudonym = bytes.flatMap({ Pseudonym($0) }) else { throw .pseudonymMalformed }
            return .pseudonym(pseudonym)
        }
        guard kind != .hardware || DeviceIdentifier(text: text) != nil else { throw .hardwareMalformed }
        return .text(text)
    }

    /// The pseudonym of a personal value. Throws `cryptographyFailed`.
    func pseudonym(_ names: RevocationNames) throws(StoreError) -> Pseudonym? {
        guard kind.isPersonal else { return nil }
        switch value {
        case .pseudonym(let pseudonym): return pseudonym
        case .text(let text):
            guard let made = names.pseudonym(of: kind, text, issuer: issuer) else { throw .cryptographyFailed }
            return made
        }
    }

    /// The value as the store has it. Throws `cryptographyFailed`.
    func storedValue(_ names: RevocationNames) throws(StoreError) -> String {
        if let pseudonym = try pseudonym(names) { return Hexadecimal.encode(pseudonym.bytes) }
        guard case .text(let text) = value else { preconditionFailure("only personal kinds have pseudonyms") }
        return text
    }
}

/// Why nothing was revoked or given back: what was named is nothing that can be.
package enum RevocationFault: Error, Equatable, CustomStringConvertible {
    case kindUnknown
    case valueOfWrongSize
    case hardwareMalformed
    case pseudonymMalformed
    case issuerMissing
    case issuerUnknown
    case issuerNotAsked
    case untilNoTime
    case untilPast
    case reasonTooLong
    /// A body that is no object, or has a member that is not known or has the wrong type.
    case bodyMalformed

    /// One sentence without its full stop.
    package var description: String {
        switch self {
        case .kindUnknown: "kind is one of " + Revocation.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        case .valueOfWrongSize: "value has 1 to \(Revocation.valueSizeMaximum) bytes"
        case .hardwareMalformed: "the value of a hu is 40 hexadecimal digits or 27 characters of base64url"
        case .pseudonymMalformed: "behind \(RevocationTarget.pseudonymMark) stand 64 hexadecimal digits"
        case .issuerMissing: "issuer is missing: several are configured, and each has names of its own"
        case .issuerUnknown: "issuer names no issuer of the configuration"
        case .issuerNotAsked: "issuer belongs to jti, sub, device and session alone"
        case .untilNoTime: "until is a time as 2026-01-31T12:00:00Z"
        case .untilPast: "until has passed"
        case .reasonTooLong: "reason has at most \(Revocation.reasonSizeMaximum) bytes"
        case .bodyMalformed:
            "the body is a JSON object with the texts kind and value, and if you like issuer, until and reason"
        }
    }
}

/// What an operator wants revoked.
package struct RevocationOrder: Equatable, Sendable {
    let target: RevocationTarget
    /// Seconds since 1970; nil for ever.
    let until: Int64?
    let reason: String

    package init(
        _ target: RevocationTarget, until: String?, reason: String?, now: Int64
    ) throws(RevocationFault) {
        self.target = target
        self.until = try until.map { text throws(RevocationFault) in
            guard let time = try? RFC3339.parse(text) else { throw .untilNoTime }
            guard time.seconds > now else { throw .untilPast }
            return time.seconds
        }
        self.reason = reason ?? ""
        guard self.reason.utf8.count <= Revocation.reasonSizeMaximum else { throw .reasonTooLong }
    }
}

extension Revocation {
    /// The members of a revocation, for programs; null if it says nothing.
    package func write(to writer: inout JSONWriter) {
        writer.member("kind", kind.rawValue)
        writer.member("issuer", issuer)
        writer.member("value", shownValue)
        writer.member("until", until.map(Self.time))
        writer.member("revokedAt", Self.time(revokedAt))
        writer.member("reason", reason)
    }

    /// The value, as commands and routes take it.
    package var shownValue: String { kind.isPersonal ? RevocationTarget.pseudonymMark + value : value }

    package static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? String(seconds)
    }

    /// The order of lists: the latest first.
    package static func isListedBefore(_ one: Revocation, _ other: Revocation) -> Bool {
        (other.revokedAt, one.kind.rawValue, one.value) < (one.revokedAt, other.kind.rawValue, other.value)
    }
}

extension RevocationOrder {
    /// Reads what a request body says.
    package init(parsing body: [UInt8], issuers: Set<String>, now: Int64) throws(RevocationFault) {
        guard let object = (try? JSONReader.parse(body))?.object else { throw .bodyMalformed }
        var texts: [String: String] = [:]
        for member in object.members {
            guard ["kind", "issuer", "value", "until", "reason"].contains(member.name) else { throw .bodyMalformed }
            if member.node.isNull { continue }
            guard let text = member.node.string else { throw .bodyMalformed }
            texts[member.name] = text
        }
        guard let kind = texts["kind"], let value = texts["value"] else { throw .bodyMalformed }
        let target = try RevocationTarget(kind: kind, issuer: texts["issuer"], value: value, issuers: issuers)
        try self.init(target, until: texts["until"], reason: texts["reason"], now: now)
    }
}
