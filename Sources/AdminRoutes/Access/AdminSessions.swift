package import KeyCrypto
package import ServiceConfiguration
import Synchronization
package import Telemetry

/// The sessions of operators who have logged in at the page, in the memory of this process.
///
/// A session belongs to one listener and to one token. It ends after a time without requests, after `lifeMaximum`, when
/// the token is no longer configured or has another secret, and with the process. Its roles are those that the token
/// has at each request. All threads may use it at the same time.
package final class AdminSessions: Sendable {
    /// The most sessions of all listeners together. A new one ends the longest idle one.
    package static let countMaximum = 256
    /// The most sessions of one token, so that the holder of one token cannot end the sessions of all others.
    static let countMaximumOfToken = 32
    /// The longest life of a session.
    package static let lifeMaximum: Duration = .seconds(12 * 3600)

    private struct Session {
        let listener: Int
        let token: AdminCredentials.Token
        let began: MonotonicTime
        /// In seconds since 1970, for the operator. `began` decides.
        let endsAt: Int64
        var lastUse: MonotonicTime
    }

    private let clock: any MonotonicClock
    private let wallClock: any WallClock
    /// By the SHA-256 of the id.
    private let sessions = Mutex<[[UInt8]: Session]>([:])

    package init(clock: any MonotonicClock = SystemMonotonicClock(), wallClock: any WallClock = SystemWallClock()) {
        self.clock = clock
        self.wallClock = wallClock
    }

    package var count: Int { sessions.withLock { $0.count } }

    /// Begins a session of the holder of a token. Returns its id, and its end in seconds since 1970.
    ///
    /// Throws if OpenSSL has no random bytes.
    package func begin(
        of token: AdminCredentials.Token, at listener: Int
    ) throws(CryptoError) -> (id: AdminSessionID, endsAt: Int64) {
        let id = try AdminSessionID.random()
        let now = clock.monotonicTime
        let endsAt = wallClock.wallTime.seconds + Self.lifeMaximum.components.seconds
        let session = Session(listener: listener, token: token, began: now, endsAt: endsAt, lastUse: now)
        sessions.withLock { sessions in
            let own = sessions.filter { $0.value.listener == listener && $0.value.token.isSame(as: token) }
            if own.count >= Self.countMaximumOfToken { Self.removeLongestIdle(of: own, from: &sessions) }
            if sessions.count >= Self.countMaximum { Self.removeLongestIdle(of: sessions, from: &sessions) }
            sessions[id.digest] = session
        }
        return (id, endsAt)
    }

    private static func removeLongestIdle(
        of candidates: [[UInt8]: Session], from sessions: inout [[UInt8]: Session]
    ) {
        if let longest = candidates.min(by: { $0.value.lastUse < $1.value.lastUse }) { sessions[longest.key] = nil }
    }

    /// The token of a session as it is configured now, and the session's end. Returns nil if there is no session with
    /// this id at the listener. Does not count as a use of the session.
    package func holder(
        of id: AdminSessionID, at listener: Int, among credentials: AdminCredentials
    ) -> (token: AdminCredentials.Token, endsAt: Int64)? {
        let now = clock.monotonicTime
        return sessions.withLock { sessions in
            guard let session = sessions[id.digest], session.listener == listener else { return nil }
            guard now - session.lastUse < credentials.sessionIdle, now - session.began < Self.lifeMaximum,
                let token = credentials.tokens.first(where: { $0.isSame(as: session.token) })
            else {
                sessions[id.digest] = nil
                return nil
            }
            return (token, session.endsAt)
        }
    }

    /// Notes that an operator uses the session now.
    func noteUse(of id: AdminSessionID) {
        let now = clock.monotonicTime
        sessions.withLock { $0[id.digest]?.lastUse = now }
    }

    package func end(_ id: AdminSessionID) {
        sessions.withLock { $0[id.digest] = nil }
    }

    /// Ends the sessions whose tokens are not among the credentials of their listeners. A reload calls it, so that a
    /// token that is removed and later configured again does not find its old sessions.
    package func keepSessions(of credentials: [AdminCredentials]) {
        sessions.withLock { sessions in
            sessions = sessions.filter { _, session in
                credentials.indices.contains(session.listener)
                    && credentials[session.listener].tokens.contains { $0.isSame(as: session.token) }
            }
        }
    }
}
