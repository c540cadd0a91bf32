import ByteCoding
import Glibc
package import KeyCrypto

/// Where the database is, how to log in, and the limits of waiting for it.
package struct PostgreSQLSettings: Sendable {
    package var url: PostgreSQLURL
    /// The role's password; nil if the server asks for none.
    package var password: SharedSecret?
    package var limits: PostgreSQLLimits

    package init(url: PostgreSQLURL, password: SharedSecret?, limits: PostgreSQLLimits = PostgreSQLLimits()) {
        self.url = url
        self.password = password
        self.limits = limits
    }
}

/// The limits of everything that waits for the database.
package struct PostgreSQLLimits: Equatable, Sendable {
    /// The longest time to connect, for each host and address; whole seconds, at least 2.
    package var connect: Duration = .seconds(5)
    /// A call fails after this time, which includes its time in the queue. Its effect may have happened nevertheless.
    package var call: Duration = .seconds(3)
    /// The longest time that the server works on one statement, and the longest time that it waits for one lock of it.
    /// A statement may wait for several. Both are shorter than `idle`: if a node stops, its sessions that wait for
    /// locks must give up before the one that holds them is cut off. Otherwise each of them in turn would get the locks
    /// and hold up others. An action of a node that runs is tried once more.
    package var statement: Duration = .milliseconds(1750)
    package var lock: Duration = .milliseconds(1500)
    /// The longest time in which the server waits for the second round trip of actions. A node that stops in between
    /// holds up others for so long. `PreparedStatement.signOfLife` is for a node that stops within a round trip.
    package var idle: Duration = .milliseconds(2000)
    /// A server that sends nothing on any connection for this time is regarded as away. Longer than `statement`.
    package var silence: Duration = .seconds(3)
    /// The pause between two signs of life that the server is asked for.
    package var probeEvery: Duration = .seconds(1)
    /// A connection that owes an answer for this time is replaced, even if the server answers on others. The time is
    /// long, because the server keeps a process for each connection that waits, for example for its synchronous
    /// standby.
    package var abandon: Duration = .seconds(600)
    /// The longest time in which a new connection prepares its statements.
    package var prepare: Duration = .seconds(30)
    /// The pause before a failed connection is tried again. It starts with the first value and doubles each time, up to
    /// the second one.
    package var reconnectAfter: Duration = .milliseconds(100)
    package var reconnectAfterMaximum: Duration = .seconds(2)
    /// The number of connections for decisions. Decisions of one subject or token use the same connection, one after
    /// the other. Several connections share the database's syncs.
    package var writers = 4
    /// The number of connections for everything else.
    package var readers = 2
    /// The largest number of calls that wait for a connection, and the largest number of transactions that were sent on
    /// it and not answered. Both hold for each connection.
    package var queueLength = 1024
    package var inFlight = 128
    /// The largest number of decisions that share a transaction, and so a sync of the database's disk.
    package var groupSize = 128

    package init() {}
}

/// The parameters of a connection for libpq. They name what libpq would otherwise look for in the home folder. libpq's
/// environment variables must be removed before, because they have effects that no parameter overrides.
struct ConnectionParameters {
    private let pairs: [(name: String, value: String)]
    private let password: SharedSecret?

    init(_ settings: PostgreSQLSettings) {
        let (url, limits) = (settings.url, settings.limits)
        pairs = [
            ("host", url.hosts.map(\.name).joined(separator: ",")),
            ("port", url.hosts.map { String($0.port) }.joined(separator: ",")),
            // No file has this name. libpq prints a warning about a password file that exists and is not a plain file.
            ("user", url.user), ("dbname", url.database), ("passfile", "/dev/null/none"),
            ("target_session_attrs", "read-write"),
            // With "require", libpq verifies the authority only if the file exists.
            ("sslmode", url.tls == .require ? PostgreSQLURL.TLS.verifyCA.rawValue : url.tls.rawValue),
            ("sslrootcert", url.authorities), ("ssl_min_protocol_version", "TLSv1.2"),
            ("sslcert", "/dev/null/none"), ("sslkey", "/dev/null/none"), ("sslcrl", "/dev/null/none"),
            ("gssencmode", "disable"),
            ("client_encoding", "UTF8"), ("application_name", "latchkey"),
            ("connect_timeout", String(max(2, limits.connect.components.seconds))),
            // These notice within seconds that a server has disappeared.
            ("tcp_user_timeout", String(limits.call.milliseconds)),
            ("keepalives_idle", "10"), ("keepalives_interval", "3"), ("keepalives_count", "3"),
            ("options", Self.sessionOptions(url, limits)),
        ]
        password = settings.password
    }

    /// The settings of the session. They ask for durability, and override the database's defaults.
    ///
    /// Statements look up a few rows of large tables by their keys. The planner does not know the sizes of tables of a
    /// new database. With hash and merge joins it would read whole tables: 1,300 decisions per second against 4,700.
    private static func sessionOptions(_ url: PostgreSQLURL, _ limits: PostgreSQLLimits) -> String {
        let options = [
            "search_path=\(url.schema)", "statement_timeout=\(limits.statement.milliseconds)",
            "lock_timeout=\(limits.lock.milliseconds)", "synchronous_commit=on",
            "default_transaction_isolation=read\\ committed",
            "idle_in_transaction_session_timeout=\(limits.idle.milliseconds)",
            "enable_hashjoin=off", "enable_mergejoin=off",
        ]
        return options.map { "-c \($0)" }.joined(separator: " ")
    }

    /// Calls `body` with the names and values, each list ended by nil. They are valid during the call. libpq makes its
    /// own copies, and wipes its copy of the password.
    func withLists<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        // The text must end with a zero byte; sixteen are added.
        guard let password else { return unsafe withPairs(password: nil, body) }
        let terminated = SecretBytes(joining: password.bytes, .zero)
        return terminated.withBytes { span in
            // The address is used until `withPairs` returns, and the secret is valid longer than that.
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
        // Only `body` reads both lists, and their texts are freed after it.
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
    /// Whole milliseconds, at least 1, because PostgreSQL takes 0 as no limit.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
