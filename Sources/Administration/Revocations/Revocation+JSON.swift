package import ByteCoding
package import Records

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
