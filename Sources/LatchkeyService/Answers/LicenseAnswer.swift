import ByteCoding
import ContentKeys
import HTTPMessages
import HTTPServing
import Licensing
import Records
import Telemetry

/// In what shape an app wants its licence (design, section 11; clients, section 2).
enum LicenseAnswerForm: String, CaseIterable, Sendable {
    case raw
    case base64
    case ckc
    case json
    /// NAGRA's object, for a raw SPC whose sender accepts JSON. No query asks for it by name.
    case nagra

    /// Nil for a name that nobody knows. Without one it follows from what the sender accepts: `*/*` accepts raw bytes.
    init?(named name: String?, accepting accepted: [String]) {
        guard let name else {
            self = Self.acceptsJSON(accepted) ? .nagra : .raw
            return
        }
        guard let form = LicenseAnswerForm(rawValue: name), form != .nagra else { return nil }
        self = form
    }

    private static func acceptsJSON(_ values: [String]) -> Bool {
        values.flatMap { $0.split(separator: ",") }.contains { range in
            let type = range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
            return type.lowercased() == "application/json"
        }
    }
}

/// The answer with a licence. What FairPlay does not tell an app is told by header fields, and where the shape is JSON by its members too.
enum LicenseAnswer {
    private static let commonFields: HTTPFields = ["Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"]

    static func response(
        with license: IssuedLicense, as form: LicenseAnswerForm, at now: WallTime, _ id: RequestID
    ) -> HTTPResponse {
        let (type, body) = content(of: license, as: form, at: now)
        var fields = commonFields
        fields.append("Content-Type", type)
        fields.append("X-Request-Id", id.text)
        append(license.facts, to: &fields)
        if let token = license.sessionToken { fields.append("X-Session-Token", token) }
        return HTTPResponse(status: .ok, fields: fields, body: body)
    }

    private static func content(
        of license: IssuedLicense, as form: LicenseAnswerForm, at now: WallTime
    ) -> (String, [UInt8]) {
        switch form {
        case .raw: return ("application/octet-stream", license.ckc)
        case .base64: return ("text/plain; charset=utf-8", Array(Base64.encode(license.ckc).utf8))
        case .ckc: return ("text/plain; charset=utf-8", Array("<ckc>\(Base64.encode(license.ckc))</ckc>".utf8))
        case .json: return ("application/json", object(license, ckc: "ckc", token: "session_token", at: now))
        case .nagra: return ("application/json", object(license, ckc: "CkcMessage", token: "sessionToken", at: now))
        }
    }

    private static func object(
        _ license: IssuedLicense, ckc: String, token: String, at now: WallTime
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member(ckc, Base64.encode(license.ckc))
            if let sessionToken = license.sessionToken { writer.member(token, sessionToken) }
            writer.name("license")
            writer.object { writer in license.facts.write(to: &writer) }
            writer.member("server_time", Problem.format(now))
        }
    }

    private static func append(_ facts: LicenseFacts, to fields: inout HTTPFields) {
        fields.append("X-License-Id", facts.id.description)
        fields.append("X-License-Type", facts.type)
        fields.append("X-License-Issued", String(facts.issuedAt))
        if let expiresAt = facts.expiresAt { fields.append("X-License-Expires", String(expiresAt)) }
        if let renewAfter = facts.renewAfter { fields.append("X-License-Renew-After", String(renewAfter)) }
    }
}

extension LicenseFacts {
    /// The members of a licence; null where it has no such limit.
    func write(to writer: inout JSONWriter) {
        writer.member("id", id.description)
        writer.member("type", type)
        writer.member("issued_at", issuedAt)
        let numbers: [(String, Int64?)] = [
            ("expires_at", expiresAt), ("renew_after", renewAfter), ("lease", lease.map { Int64($0) }),
            ("rental", rental.map { Int64($0) }), ("storage_expires_at", storageExpiresAt),
            ("playback", playback.map { Int64($0) }),
        ]
        for (name, number) in numbers {
            writer.name(name)
            if let number { writer.integer(number) } else { writer.null() }
        }
        writer.member("persistent", isPersistent)
    }
}
