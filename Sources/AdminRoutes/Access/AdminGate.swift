import HTTPMessages
package import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import RouteKit
package import ServiceConfiguration
package import Telemetry

/// Decides who sends a request to an admin listener, by the host name and by a token, a session or a client
/// certificate.
///
/// A `GuessLimiter` answers most of many wrong tokens with a wait. What the sender may do is decided by `AdminAddress`.
package final class AdminGate: Sendable {
    /// Why a presented token was refused; the labels of a metric.
    package enum TokenRefusal: String, MetricLabels {
        /// The token is not an administrator's.
        case wrong
        /// The token is wrong too, but was answered with a wait: its network has sent too many wrong ones.
        case slowed

        package static let labelNames = ["reason"]
    }

    /// The index of the admin listener.
    package let listener: Int
    /// The host names that requests may have, besides numeric addresses and `localhost`.
    ///
    /// If empty, a listener with a credential accepts any name from clients that are not browsers.
    private let hosts: Set<String>
    private let sessions: AdminSessions
    private let guesses: GuessLimiter
    private let refusedTokens: MetricFamily<TokenRefusal, Counter>

    /// - Parameter refusedTokens: Counts refused tokens, for all admin listeners together.
    package init(
        listener: Int = 0, hosts: Set<String> = [], sessions: AdminSessions = AdminSessions(),
        countingIn refusedTokens: MetricFamily<TokenRefusal, Counter>,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.listener = listener
        self.hosts = hosts
        self.sessions = sessions
        self.refusedTokens = refusedTokens
        guesses = GuessLimiter(clock: clock)
    }

    /// The counts of refused tokens, for all admin listeners together.
    package static func refusedTokens(in registry: MetricsRegistry) -> MetricFamily<TokenRefusal, Counter> {
        registry.counters(
            "latchkey_admin_tokens_refused_total",
            help: "Wrong tokens of admin listeners; those over the limit of their network are slowed.",
            by: TokenRefusal.self)
    }

    // MARK: Names

    /// Refuses a request whose host name is not allowed.
    ///
    /// A web page can make its own host name point to this machine (DNS rebinding), and requests from it then have that
    /// name. So a listener without a credential accepts only numeric addresses, `localhost` and listed names. A
    /// listener with one does so for requests of browsers.
    func checkHost(of request: HTTPRequest, isForBrowsers: Bool, among credentials: AdminCredentials)
        throws(AdminRefusal)
    {
        let host = request.fields["Host"] ?? ""
        let name = Self.name(in: host)
        if name == "localhost" || IPAddress(name) != nil || hosts.contains(name) { return }
        if !isForBrowsers, host.isEmpty || (hosts.isEmpty && !credentials.isEmpty) { return }
        var refusal = AdminRefusal(.requestInvalid, cause: "the name in Host is not in listeners.admin[].hosts")
        refusal.problem.detail = "The listener has no host of this name"
        refusal.problem.hint = "Use its address, localhost, or a name of listeners.admin[].hosts."
        throw refusal
    }

    /// The host without its port and brackets, in lower case.
    private static func name(in host: String) -> String {
        var name = host.lowercased()[...]
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
            name = name[..<end].dropFirst()
        } else if let colon = name.lastIndex(of: ":") {
            name = name[..<colon]
        }
        return String(name)
    }

    // MARK: Senders

    /// The sender of a request. Throws if it has no credential of the listener.
    ///
    /// A token decides before a session, and a session before a certificate: a client chooses to send a token, and an
    /// operator to log in, but a browser sends its certificate always.
    ///
    /// - Parameter isPolled: Whether the request does not keep a session alive.
    package func sender(
        of request: HTTPRequest, among credentials: AdminCredentials, isPolled: Bool = false
    ) throws(AdminRefusal) -> AdminSender {
        if credentials.isEmpty { return AdminSender(proof: .none) }
        switch BearerToken.presented(in: request.fields) {
        case .one(let presented):
            let token = try token(presenting: presented, from: request.peer, among: credentials)
            return AdminSender(proof: .token(token))
        case .ambiguous: throw missing("more than one token", credentials)
        case .none: break
        }
        var cause = "no token, no session and no known client certificate"
        switch AdminCookie.presented(in: request.fields, isSecure: request.isOverHTTPS == true) {
        case .one(let id):
            if let sender = try sender(of: request, in: id, among: credentials, isPolled: isPolled) { return sender }
            cause = "the session has ended, or is not known"
        case .unusable: cause = "the cookie is not one session's"
        case .nothing: break
        }
        if let client = Self.client(of: request, among: credentials) {
            if let fault = BrowserRequest.fault(in: request) { throw .foreignPage(fault) }
            return AdminSender(proof: .certificate(client))
        }
        throw missing(cause, credentials)
    }

    /// The token with this secret. Throws if no token has it.
    ///
    /// A right token is found whatever its network has sent before.
    package func token(
        presenting presented: [UInt8], from peer: HTTPPeer, among credentials: AdminCredentials
    ) throws(AdminRefusal) -> AdminCredentials.Token {
        // Compares with every token, each in constant time, so that the time does not show how much is right. A secret
        // has at least one byte.
        var found: AdminCredentials.Token?
        if !presented.isEmpty {
            let secret = SecretBytes(copying: presented)
            for token in credentials.tokens where token.secret.bytes.isEqual(to: secret) { found = found ?? token }
        }
        if let found { return found }
        if let seconds = guesses.waitSeconds(afterWrongSecretOf: peer) {
            refusedTokens[.slowed].increment()
            throw AdminRefusal(
                .rateLimited, cause: "too many wrong tokens of this network", retryAfterSeconds: seconds)
        }
        refusedTokens[.wrong].increment()
        throw missing("a wrong token", credentials)
    }

    /// The holder of a session; nil if the session has ended, or never was.
    ///
    /// A browser sends the cookie by itself. So the request must have the name of this server, must not come from
    /// another page, and must have the form token if it changes something.
    private func sender(
        of request: HTTPRequest, in id: AdminSessionID, among credentials: AdminCredentials, isPolled: Bool
    ) throws(AdminRefusal) -> AdminSender? {
        guard let session = sessions.holder(of: id, at: listener, among: credentials) else { return nil }
        try checkHost(of: request, isForBrowsers: true, among: credentials)
        if let fault = BrowserRequest.fault(in: request) { throw .foreignPage(fault) }
        if !request.method.isRead {
            guard let presented = request.fields.bytes(of: "X-Latchkey-Form"), id.isFormToken(presented) else {
                throw .foreignPage("X-Latchkey-Form is missing, or is not the form token of the session")
            }
        }
        if !isPolled { sessions.noteUse(of: id) }
        return AdminSender(proof: .session(id, of: session.token, endsAt: session.endsAt))
    }

    /// The client whose certificate the connection has. The certificate on a proxy's connection is the proxy's own.
    private static func client(
        of request: HTTPRequest, among credentials: AdminCredentials
    ) -> AdminCredentials.Client? {
        guard !request.peer.isBehindTrustedProxy, let certificate = request.peer.tls?.clientCertificate else {
            return nil
        }
        return credentials.holder(subject: certificate.subject, sha256: certificate.sha256)
    }

    private func missing(_ cause: String, _ credentials: AdminCredentials) -> AdminRefusal {
        let clients = credentials.clients.map(\.name)
        let expected =
            "one of this listener's tokens: " + credentials.tokens.map(\.name).joined(separator: ", ")
            + (clients.isEmpty ? "" : "; or a certificate of: " + clients.joined(separator: ", "))
        return AdminRefusal(.adminTokenInvalid, cause: cause, expected: expected)
    }

    /// Whether a sender still has a permission, for an answer that takes long. Does not keep a session alive.
    func allows(_ sender: AdminSender, _ permission: AdminPermission, under credentials: AdminCredentials) -> Bool {
        guard sender.isAllowed(permission, under: credentials) else { return false }
        switch sender.proof {
        case .none, .token, .certificate: return true
        case .session(let id, _, _): return sessions.holder(of: id, at: listener, among: credentials) != nil
        }
    }
}
