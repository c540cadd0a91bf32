import ByteCoding
import Glibc
package import KeyCrypto

/// How to reach the database, and for how long to wait for it.
package struct PostgreSQLSettings: Sendable {
    package var url: PostgreSQLURL
    /// Nil if the server asks for none.
    package var password: SharedSecret?
    package var limits: PostgreSQLLimits

    package init(url: PostgreSQLURL, password: SharedSecret?, limits: PostgreSQLLimits = PostgreSQLLimits()) {
        self.url = url
        self.password = password
        self.limits = limits
    }
}

/// The bounds of everything that waits for the database.
package struct PostgreSQLLimits: Equatable, Sendable {
    /// How long making a connection may take for each host and address; whole seconds, at least 2.
    package var connect: Duration = .seconds(5)
    /// A call gives up after this time, in the queue too; what it asked for may have happened all the same.
    package var call: Duration = .seconds(3)
    /// How long the server works on one statement, and how much of that it waits for locks; shorter than `call`.
    package var statement: Duration = .milliseconds(2500)
    package var lock: Duration = .milliseconds(2000)
    /// A server that answers nothing for this long, on any connection, is taken for away. Longer than `statement`.
    package var silence: Duration = .seconds(3)
    /// How often the server is asked for a sign of life.
    package var probeEvery: Duration = .seconds(1)
    /// A connection whose calls have had no answer for this long, although the server answers on others, is replaced.
    /// It is long, because the server keeps a process for each connection that waits, for example for its synchronous
    /// standby.
    package var abandon: Duration = .seconds(600)
    /// How long a new connection's statements may take to be prepared.
    package var prepare: Duration = .seconds(30)
    /// How long to wait before a failed connection is tried again: this long at first, twice as long each time, up to
    /// the second one.
    package var reconnectAfter: Duration = .milliseconds(100)
    package var reconnectAfterMaximum: Duration = .seconds(2)
    /// Connections for decisions. Those of one subject or token go to one of them, one after the other; several share
    /// the database's syncs.
    package var writers = 4
    /// Connections for everything else.
    package var readers = 2
    /// Calls that wait for a connection, and calls that it has been sent and not answered: so many of each for a
    /// connection.
    package var queueLength = 1024
    package var inFlight = 128
    /// Decisions that may share a transaction, and with it a sync of the database's disk. Each holds a few of the
    /// server's locks meanwhile (its `max_locks_per_transaction` times `max_connections` are there for all nodes).
    package var groupSize = 32

    package init() {}
}

/// What libpq is told to connect: everything that matters, so that its environment variables and its files in
/// the home folder do not.
struct ConnectionParameters {
    private let pairs: [(name: String, value: String)]
    private let password: SharedSecret?

    init(_ settings: PostgreSQLSettings) {
        let (url, limits) = (settings.url, settings.limits)
        pairs = [
            ("host", url.hosts.map(\.name).joined(separator: ",")),
            ("port", url.hosts.map { String($0.port) }.joined(separator: ",")),
            // No file has this name. libpq warns on standard error about a password file that exists and is not a plain
            // file.
            ("user", url.user), ("dbname", url.database), ("passfile", "/dev/null/none"),
            ("target_session_attrs", "read-write"),
            ("sslmode", url.tls.rawValue), ("sslrootcert", url.authorities), ("ssl_min_protocol_version", "TLSv1.2"),
            ("sslcert", "/dev/null/none"), ("sslkey", "/dev/null/none"), ("gssencmode", "disable"),
            ("client_encoding", "UTF8"), ("application_name", "latchkey"),
            ("connect_timeout", String(max(2, limits.connect.components.seconds))),
            // A server that has gone without a word is noticed within seconds.
            ("tcp_user_timeout", String(limits.call.milliseconds)),
            ("keepalives_idle", "10"), ("keepalives_interval", "3"), ("keepalives_count", "3"),
            ("options", Self.sessionOptions(url, limits)),
        ]
        password = settings.password
    }

    /// Settings of the session. Durability is asked for, with any default of the database.
    private static func sessionOptions(_ url: PostgreSQLURL, _ limits: PostgreSQLLimits) -> String {
        let options = [
            "search_path=\(url.schema)", "statement_timeout=\(limits.statement.milliseconds)",
            "lock_timeout=\(limits.lock.milliseconds)", "synchronous_commit=on",
            "default_transaction_isolation=read\\ committed", "idle_in_transaction_session_timeout=60000",
        ]
        return options.map { "-c \($0)" }.joined(separator: " ")
    }

    /// Lends the names and values, each list ended by nil, for the length of the call. libpq keeps copies of its own,
    /// and wipes that of the password.
    func withLists<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        // A zero byte must end it: sixteen do.
        guard let password else { return unsafe withPairs(password: nil, body) }
        let terminated = SecretBytes(joining: password.bytes, .zero)
        return terminated.withBytes { span in
            // The address is used until `withPairs` returns, and the secret lives longer.
            unsafe span.withUnsafeBytes { buffer in
                unsafe withPairs(password: buffer.baseAddress?.assumingMemoryBound(to: CChar.self), body)
            }
        }
    }

    private func withPairs<Result>(
        password: UnsafePointer<CChar>?,
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        let names = unsafe (pairs.map(\.name) + ["password"]).map { unsafe strdup($0) }
        let values = unsafe pairs.map { unsafe strdup($0.value) }
        // Both lists are read by `body` alone, and their texts are freed after it.
        defer {
            let texts = unsafe names + values
            for index in unsafe texts.indices { unsafe free(texts[index]) }
        }
        let nameList = unsafe names.map { unsafe UnsafePointer($0) } + [nil]
        let valueList = unsafe values.map { unsafe UnsafePointer($0) } + [password, nil]
        return unsafe nameList.withUnsafeBufferPointer { names in
            unsafe valueList.withUnsafeBufferPointer { values in unsafe body(names.baseAddress, values.baseAddress) }
        }
    }
}

extension Duration {
    /// Whole milliseconds, at least 1: what PostgreSQL takes 0 for is no limit.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
