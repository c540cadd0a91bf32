import ByteCoding
package import HTTPMessages
package import HTTPServing
package import Licensing
package import Records
package import Telemetry

/// A refusal as the client sees it: `application/problem+json` (RFC 9457) with a stable code.
///
/// The code says why. `detail`, `hint` and further members say more if that leads to the fix and does not help an
/// attacker. All rejections of an SPC have the same bytes, except for the request id and the time. Both have a fixed
/// width.
package struct Problem: Sendable {
    /// A member that only some codes have: a number or a word.
    package enum Fact: Sendable {
        case number(Int64)
        case word(String)
    }

    /// Whom a listener serves.
    package enum ListenerKind: String, Sendable {
        case admin
        case `public`
    }

    package let code: ProblemCode
    /// The shortest wait before the client may try again, in seconds.
    ///
    /// The member `retry_after` and the header `Retry-After` are this wait, lengthened by up to half, and by at most
    /// 30 s: a wait may last until a time that a token names. The request's id decides by how much, so that clients
    /// which were refused together do not come back together.
    package var retryAfterSeconds: Int64?
    /// The listeners that serve an address which this one does not, for `not_found`.
    package private(set) var otherListeners: ListenerKind?
    /// The methods that an address serves, for `method_not_allowed`.
    package var allowedMethods: String?
    /// What exactly is wrong, without a full stop. The code's title if nil.
    package var detail: String?
    /// What the client can do about it. The code's own hint if nil.
    package var hint: String?
    /// Further members, in the order in which they are written.
    package var facts: [(name: String, value: Fact)] = []

    /// A problem with this code.
    ///
    /// For `method_not_allowed`, `method` is the method of the request. If it is nil, `detail` says "another method".
    package init(
        _ code: ProblemCode, detail: String? = nil, retryAfterSeconds: Int64? = nil, method: HTTPMethod? = nil,
        allowedMethods: String? = nil
    ) {
        self.code = code
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
        self.allowedMethods = allowedMethods
        guard code == .methodNotAllowed, let allowedMethods else { return }
        let received = method.map { "the method \($0.rawValue)" } ?? "another method"
        if allowedMethods == "POST, OPTIONS" {
            self.detail = "This address takes only POST, and the request has \(received)"
            hint = "Send the request by POST; a request for licenses has the SPC as its body."
        } else {
            self.detail = "This address takes \(allowedMethods), and the request has \(received)"
        }
    }

    /// The problem for a license that was not issued.
    package init(for error: LicenseError) {
        self.init(error.code, retryAfterSeconds: error.retryAfterSeconds)
        tellParticulars(of: error)
    }

    /// The problem for an address that only listeners of another kind serve.
    package static func servedElsewhere(by kind: ListenerKind) -> Problem {
        var problem = Problem(.notFound)
        problem.otherListeners = kind
        problem.hint = "The \(kind.rawValue) listeners of this server have this address, and listen elsewhere."
        return problem
    }

    /// For the operator: the method and the path of a request whose address or method is not served, and what is.
    package func addressFacts(of request: HTTPRequest) -> RefusalFacts {
        let found = "\(request.method.rawValue) \(request.path)"
        if let allowedMethods { return RefusalFacts(found: found, expected: "one of the methods \(allowedMethods)") }
        guard code == .notFound else { return RefusalFacts() }
        if let otherListeners {
            return RefusalFacts(
                found: found,
                expected: "an address of this listener; the \(otherListeners.rawValue) listeners serve the one that was"
                    + " asked")
        }
        return RefusalFacts(
            found: found, expected: "an address that is served; licenses are at POST /fps/license of a public listener")
    }

    /// The response to the client.
    package func response(requestID: RequestID, time: WallTime) -> HTTPResponse {
        let wait = retryAfterSeconds.map { Self.spread($0, by: requestID) }
        var fields: HTTPFields = [
            "Content-Type": "application/problem+json",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Error-Code": code.rawValue,
            "X-Request-Id": requestID.text,
        ]
        if code.status == .unauthorized { fields.append("WWW-Authenticate", "Bearer") }
        if let wait { fields.append("Retry-After", String(wait)) }
        if let allowedMethods { fields.append("Allow", allowedMethods) }
        return HTTPResponse(status: code.status, fields: fields, body: body(wait, requestID: requestID, time: time))
    }

    private static let spreadMaximum: Int64 = 30

    /// Lengthens a wait by up to half and at most `spreadMaximum` seconds, depending on the request id.
    ///
    /// Successive ids are similar, so the finalizer of SplitMix64 mixes their bits first.
    private static func spread(_ seconds: Int64, by id: RequestID) -> Int64 {
        var bits = UInt64(id.text, radix: 16) ?? 0
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        bits ^= bits >> 31
        return seconds + Int64(bits % UInt64(min(max(0, seconds) / 2, spreadMaximum) + 1))
    }

    private func body(_ wait: Int64?, requestID: RequestID, time: WallTime) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("type", code.type)
            writer.member("title", code.title)
            writer.member("status", Int(code.status.code))
            writer.member("detail", (detail ?? code.title) + ".")
            writer.member("code", code.rawValue)
            writer.member("request_id", requestID.text)
            writer.member("server_time", Self.format(time))
            if let wait { writer.member("retry_after", wait) }
            for (name, value) in facts {
                switch value {
                case .number(let number): writer.member(name, number)
                case .word(let word): writer.member(name, word)
                }
            }
            writer.member("hint", hint ?? code.hint)
        }
    }

    package static func format(_ time: WallTime) -> String {
        // A time outside the years 0 to 9999 is written as the start of the year 0.
        UnixTime(seconds: time.seconds, nanoseconds: time.nanoseconds)
            .map { RFC3339.format($0, precision: .milliseconds) } ?? "0000-01-01T00:00:00.000Z"
    }
}

extension Problem {
    /// The problem for input that could not be parsed as a request.
    package init(for problem: HTTPProblem) {
        let code = Self.code(of: problem)
        self.init(code, retryAfterSeconds: code == .overloaded ? 1 : nil)
        switch problem {
        case .methodNotImplemented: detail = "The request has another method than \(Self.knownMethods)"
        case .tooManyParameters:
            detail = "The query has more than \(QueryPairs.countMaximum) parameters"
            hint = "Send at most \(QueryPairs.countMaximum) parameters, and no empty ones."
        case .contentCodingNotSupported:
            facts = [("header", .word("Content-Encoding"))]
        default: break  // The title of the code says it all.
        }
    }

    /// The methods that the server parses. The problem does not repeat the client's own method, which is free text.
    private static let knownMethods = HTTPMethod.allCases.map(\.rawValue).joined(separator: ", ")

    private static func code(of problem: HTTPProblem) -> ProblemCode {
        switch problem {
        case .malformed: .badRequest
        case .tooManyParameters: .requestInvalid
        case .contentCodingNotSupported: .contentEncodingUnsupported
        case .headTimeout, .bodyTimeout: .requestTimeout
        case .bodyTooLarge: .bodyTooLarge
        case .targetTooLong: .uriTooLong
        case .headTooLarge: .headTooLarge
        case .expectationFailed: .expectationFailed
        case .overloaded: .overloaded
        case .methodNotImplemented, .transferCodingNotImplemented: .notImplemented
        case .versionNotSupported: .versionNotSupported
        }
    }
}
