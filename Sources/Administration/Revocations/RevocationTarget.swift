package import ByteCoding
import ContentKeys
import Entitlements
import Licensing
package import Records

/// The target of a revocation, checked and in the operator's own spelling.
package struct RevocationTarget: Equatable, Sendable {
    let kind: Revocation.Kind
    /// The issuer that chose the name, for kinds with `isIssuersOwn`; nil for all others.
    let issuer: String?
    private let value: Value

    private enum Value: Equatable {
        case text(String)
        /// The pseudonym of a personal kind. Lists, the ledger and refusals show its first half, which only finds what
        /// is revoked already.
        case pseudonym(Pseudonym, isHalf: Bool)
    }

    /// The text before the digits of a pseudonym, in lists and in commands.
    static let pseudonymMark = "pseudonym:"

    /// Checks a target. `issuers` are the configured ones. If there is only one, it may be left out.
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
            if let pseudonym = bytes.flatMap({ Pseudonym($0) }) { return .pseudonym(pseudonym, isHalf: false) }
            guard let half = bytes.flatMap({ Bytes16($0) }) else { throw .pseudonymMalformed }
            return .pseudonym(Pseudonym(short: half), isHalf: true)
        }
        guard kind != .hardware || DeviceIdentifier(text: text) != nil else { throw .hardwareMalformed }
        guard kind != .session || PlaybackPosition(shown: text) == nil else { throw .playbackIsNoSession }
        return .text(text)
    }

    /// Returns the pseudonym of a personal value; nil for other kinds. Throws `cryptographyFailed`.
    func pseudonym(_ names: RevocationNames) throws(StoreError) -> Pseudonym? {
        guard kind.isPersonal else { return nil }
        switch value {
        case .pseudonym(let pseudonym, _): return pseudonym
        case .text(let text):
            guard let made = names.pseudonym(of: kind, text, issuer: issuer) else { throw .cryptographyFailed }
            return made
        }
    }

    /// Whether only a half of the pseudonym is known, so that the target can be found but not revoked.
    var isHalf: Bool {
        if case .pseudonym(_, isHalf: true) = value { true } else { false }
    }

    /// Whether this names the target of a revocation. `stored` is what `storedValue` returns.
    func names(_ revocation: Revocation, _ stored: String) -> Bool {
        revocation.kind == kind && revocation.issuer == issuer && revocation.value.hasPrefix(stored)
    }

    /// Returns the value in the form that the store has, or its first half. Throws `cryptographyFailed`.
    func storedValue(_ names: RevocationNames) throws(StoreError) -> String {
        if let pseudonym = try pseudonym(names) {
            return Hexadecimal.encode(isHalf ? pseudonym.firstHalf.bytes : pseudonym.bytes)
        }
        guard case .text(let text) = value else { preconditionFailure("only personal kinds have pseudonyms") }
        return text
    }
}

/// The reason why nothing was revoked or lifted: the operator's request cannot be understood.
package enum RevocationFault: Error, Equatable, CustomStringConvertible {
    case kindUnknown
    case valueOfWrongSize
    case hardwareMalformed
    case pseudonymMalformed
    /// The value names a slot in the list of an account's playbacks.
    case playbackIsNoSession
    /// What only a half of a pseudonym names cannot be revoked.
    case pseudonymIsHalf
    case issuerMissing
    case issuerUnknown
    case issuerNotAsked
    case untilNoTime
    case untilPast
    case reasonTooLong
    /// The body is not an object, or has a member that is not known or has the wrong type.
    case bodyMalformed

    /// One sentence without its full stop.
    package var description: String {
        switch self {
        case .kindUnknown: "kind must be one of " + Revocation.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        case .valueOfWrongSize: "value must have 1 to \(Revocation.valueSizeMaximum) bytes"
        case .hardwareMalformed: "the value of a hu must be 40 hexadecimal digits or 27 characters of base64url"
        case .pseudonymMalformed: "32 or 64 hexadecimal digits must follow \(RevocationTarget.pseudonymMark)"
        case .playbackIsNoSession:
            "the value of a session must be the session's id in tokens, or the license id of its first license: an id of"
                + " latchkey account playbacks list names no session, and latchkey account playbacks end takes it"
        case .pseudonymIsHalf:
            "the 32 digits of a list or of the ledger only lift a revocation: to revoke, give the name itself, or all 64"
                + " digits of --json"
        case .issuerMissing: "issuer is missing: several are configured, and each has names of its own"
        case .issuerUnknown: "issuer names no issuer of the configuration"
        case .issuerNotAsked: "issuer is only for jti, sub, device and session"
        case .untilNoTime: "until must be a time such as 2026-01-31T12:00:00Z"
        case .untilPast: "until is in the past"
        case .reasonTooLong: "reason must have at most \(Revocation.reasonSizeMaximum) bytes"
        case .bodyMalformed:
            "the body must be a JSON object with the texts kind and value, and optionally issuer, until and reason"
        }
    }
}

/// An operator's order to revoke something.
package struct RevocationOrder: Equatable, Sendable {
    let target: RevocationTarget
    /// When the revocation ends, in seconds since 1970; nil if it never ends.
    let until: Int64?
    let reason: String

    package init(
        _ target: RevocationTarget, until: String?, reason: String?, now: Int64
    ) throws(RevocationFault) {
        guard !target.isHalf else { throw .pseudonymIsHalf }
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
    /// Writes the members of a revocation for programs; a missing value is null.
    package func write(to writer: inout JSONWriter) {
        writer.member("kind", kind.rawValue)
        writer.member("issuer", issuer)
        writer.member("value", shownValue)
        writer.member("until", until.map(Self.time))
        writer.member("revokedAt", Self.time(revokedAt))
        writer.member("reason", reason)
    }

    /// The value in the form that commands and routes accept.
    var shownValue: String { kind.isPersonal ? RevocationTarget.pseudonymMark + value : value }

    /// The value for a person: of a pseudonym the 32 digits that the ledger and refusals show too.
    package var listedValue: String {
        kind.isPersonal ? RevocationTarget.pseudonymMark + value.prefix(32) : value
    }

    package static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? String(seconds)
    }

    /// The order of lists: the newest revocation first.
    package static func isListedBefore(_ one: Revocation, _ other: Revocation) -> Bool {
        (other.revokedAt, one.kind.rawValue, one.value) < (one.revokedAt, other.kind.rawValue, other.value)
    }
}

extension RevocationOrder {
    /// Reads the body of a request.
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
