import ByteCoding
package import HTTPMessages
package import HTTPServing
import KeyCrypto
import Licensing
import RouteKit
package import ServiceConfiguration
package import Telemetry

/// `/v1/session` and `GET /v1/whoami` of an admin listener: who the sender is, and the session of its browser.
///
/// POST begins a session for the holder of a token, which the body has. DELETE ends the session of the request.
package struct SessionEndpoint: Sendable {
    package static let path = "/v1/session"
    /// A token has at most 1,024 characters, each of which JSON may write with six.
    package static let bodySizeMaximum = 8192
    private static let limits = JSONLimits(sizeMaximum: bodySizeMaximum, depthMaximum: 2, valueCountMaximum: 16)

    package let gate: AdminGate
    package let sessions: AdminSessions
    package let logger: Logger
    /// Where the operator's page finds the documents.
    private let help: HelpFiles

    package init(gate: AdminGate, sessions: AdminSessions, logger: Logger, help: HelpFiles = .none) {
        self.gate = gate
        self.sessions = sessions
        self.logger = logger
        self.help = help
    }

    /// Refuses a request to begin a session by its head, before its body is kept: it is open to strangers. The
    /// token is in the body.
    package func refuse(head request: HTTPRequest) throws(AdminRefusal) {
        if let fault = BrowserRequest.fault(in: request) { throw .foreignPage(fault) }
        switch request.head.transfer.framing {
        case .none: break
        case .length(let size): guard size <= Self.bodySizeMaximum else { throw Self.tooLarge }
        case .chunked, .stream: throw Self.tooLarge
        }
    }

    private static var tooLarge: AdminRefusal {
        var refusal = AdminRefusal(.bodyTooLarge, cause: "the body is too large, or does not say its length")
        refusal.problem.detail = "The body needs a declared length of at most \(bodySizeMaximum) bytes"
        return refusal
    }

    /// Begins a session. The answer has the cookie, and says the same as `GET /v1/whoami`.
    package func begin(
        _ request: HTTPRequest, among credentials: AdminCredentials, id: RequestID
    ) throws(AdminRefusal) -> HTTPResponse {
        if let fault = BrowserRequest.fault(in: request) { throw .foreignPage(fault) }
        let presented = try Self.token(in: request)
        let token = try gate.token(presenting: presented, from: request.peer, among: credentials)
        let isSecure = request.isOverHTTPS == true
        let (session, endsAt) = try wrap(AdminRefusal.cryptography, try sessions.begin(of: token, at: gate.listener))
        // The browser replaces the cookie, so an earlier session would only be left behind.
        if case .one(let earlier) = AdminCookie.presented(in: request.fields, isSecure: isSecure) {
            sessions.end(earlier)
        }
        let sender = AdminSender(proof: .session(session, of: token, endsAt: endsAt))
        var response = try whoAmI(sender, among: credentials, id: id)
        response.fields.append("Set-Cookie", AdminCookie.beginning(session, isSecure: isSecure))
        logger.info("admin_session_began", [.string("actor", sender.actor)] + id.logFields)
        return response
    }

    /// Ends the session of a request; a sender without one changes nothing.
    package func end(_ request: HTTPRequest, by sender: AdminSender, id: RequestID) -> HTTPResponse {
        var hasEnded = false
        var fields = HTTPFields.answer("application/json", id)
        if case .session(let session, _, _) = sender.proof {
            sessions.end(session)
            hasEnded = true
            fields.append("Set-Cookie", AdminCookie.removing(isSecure: request.isOverHTTPS == true))
            logger.info("admin_session_ended", [.string("actor", sender.actor)] + id.logFields)
        }
        return HTTPResponse(
            status: .ok, fields: fields, body: JSONWriter.object { $0.member("hasEnded", hasEnded) })
    }

    /// Who the sender is, and what it may do. Throws if OpenSSL cannot make the form token.
    func whoAmI(
        _ sender: AdminSender, among credentials: AdminCredentials, id: RequestID
    ) throws(AdminRefusal) -> HTTPResponse {
        var session: (formToken: String, endsAt: Int64)?
        if case .session(let sessionID, _, let endsAt) = sender.proof {
            session = (try wrap(AdminRefusal.cryptography, try sessionID.formToken()), endsAt)
        }
        return .json(id) { writer in
            sender.write(to: &writer)
            if let address = help.address { writer.member("help", address) }
            guard let session else { return }
            writer.member("formToken", session.formToken)
            writer.member("idleSeconds", credentials.sessionIdle.components.seconds)
            writer.member("endsAt", session.endsAt)
        }
    }

    /// The token in the body of a request. Only JSON is read, because a page of another site can send a form without
    /// asking this server first, but no JSON.
    private static func token(in request: HTTPRequest) throws(AdminRefusal) -> [UInt8] {
        let type = request.fields["Content-Type"]?.split(separator: ";").first?.filter { $0 != " " }.lowercased()
        guard type == "application/json" else {
            var refusal = AdminRefusal(.mediaTypeUnsupported, cause: "the body is not application/json")
            refusal.problem.detail = "The body must be JSON"
            refusal.problem.hint = #"Send {"token": "…"} as application/json."#
            throw refusal
        }
        guard request.body.count <= bodySizeMaximum else { throw tooLarge }
        guard let object = try? JSONReader.parse(request.body, limits: limits).object, object.members.count == 1,
            let token = object["token"]?.string
        else {
            var refusal = AdminRefusal(.requestInvalid, cause: "the body must be an object with token alone")
            refusal.problem.detail = "The body must be an object with the one member token"
            throw refusal
        }
        return Array(token.utf8)
    }
}

extension AdminSender {
    /// Writes the members that say who the sender is.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("kind", kind)
        writer.member("roles", roles.words)
        writer.array("permissions") { writer in
            for permission in AdminPermission.allCases where permissions.contains(permission) {
                writer.string(permission.rawValue)
            }
        }
        writer.member("actor", name == nil ? nil : actor)
    }

    /// How the sender has proved who it is, as a word.
    private var kind: String {
        switch proof {
        case .none: "none"
        case .token: "token"
        case .certificate: "certificate"
        case .session: "session"
        }
    }
}
