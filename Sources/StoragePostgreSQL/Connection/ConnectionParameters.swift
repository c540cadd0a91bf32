import ByteCoding
import Glibc
import KeyCrypto

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
