package import ContentKeys

/// The reason why a connection or a statement failed.
package enum PostgreSQLFailure: Error, Equatable, Sendable {
    /// No connection was made. `message` is libpq's text, which has names and addresses but no secret.
    case notConnected(message: String)
    /// The server, or a pooler before it, refused the connection. `message` is libpq's text.
    case connectionRefused(SQLState, message: String)
    /// The server accepted the connection, but the database must be changed before it can serve as a store.
    case unusable
    /// The connection has ended.
    case connectionLost
    /// No answer came in time. The server may be busy, or the call may have waited in the queue of this node.
    case timedOut
    /// The server has answered nothing at all for `PostgreSQLLimits.silence`.
    case silent
    /// The queue is full.
    case queueFull
    /// The server refused a statement.
    case refused(SQLState)
    /// The statement was not run, because an earlier one of the same transaction failed.
    case notRun
    /// A stored value has no meaning.
    case recordMalformed
}

/// PostgreSQL's error code of five characters (PostgreSQL's manual, appendix A).
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ code: String) {
        description = code
    }

    /// The password is wrong or missing.
    static let passwordRefused = SQLState("28P01")
    /// A lock was not free in time, or a statement took too long, for example because it waited for several locks.
    static let tooLate: Set<SQLState> = [SQLState("55P03"), SQLState("57014")]
    /// The role lacks a right.
    static let insufficientPrivilege = SQLState("42501")

    /// The first two characters, which name the class.
    var category: Substring { description.prefix(2) }
}

extension PostgreSQLFailure {
    /// The error that the store's callers get.
    package var storeError: StoreError {
        switch self {
        case .notConnected, .connectionLost, .silent: .unavailable(.unreachable)
        // Clients can make load, so load must never look like an outage.
        case .timedOut, .queueFull, .notRun: .unavailable(.busy)
        case .connectionRefused(let state, _): .unavailable(state.mayPass ? .unreachable : .misconfigured)
        case .unusable: .unavailable(.misconfigured)
        case .refused(let state): .unavailable(StoreOutage(state))
        case .recordMalformed: .recordMalformed
        }
    }

    /// Whether the connection must be replaced, although it may still be open: for example, because the server has
    /// become read-only or shuts down.
    var endsConnection: Bool {
        switch self {
        case .notConnected, .connectionRefused, .unusable, .connectionLost, .timedOut, .silent: true
        case .queueFull, .notRun, .recordMalformed: false
        case .refused(let state):
            // Read-only; cut off between the two round trips of actions; shutting down.
            ["25006", "25P03"].contains(state.description) || state.category == "57" && state.description > "57P00"
        }
    }
}

extension StoreOutage {
    init(_ state: SQLState) {
        switch (state.category, state.description) {
        case (_, "57014"), (_, "55P03"), (_, "25P03"), ("40", _): self = .busy
        case (_, "53100"): self = .diskFull
        case (_, "25006"): self = .notWritable
        case (_, "58030"): self = .inputOutput
        case ("XX", "XX001"), ("XX", "XX002"): self = .damaged
        case ("08", _), ("57", _): self = .unreachable
        case ("53", _): self = .busy
        // A role without rights, a schema or table that does not exist, prepared statements that a pooler has lost.
        case ("28", _), ("3D", _), ("3F", _), (_, "42501"), (_, "42P01"), (_, "42883"), (_, "42P05"), ("26", _):
            self = .misconfigured
        default: self = .other(code: state.number)
        }
    }
}

extension SQLState {
    /// Whether the cause may pass without an operator: a connection problem, a lack of resources, or a server that
    /// starts or stops.
    var mayPass: Bool { ["08", "53", "57"].contains(category) && description != "08P01" }

    /// Finds the code in a message of libpq at its highest verbosity, `SEVERITY:  CODE: text`. The severity is in the
    /// server's language. Returns nil if the message has no code.
    init?(inVerboseMessage message: String) {
        for line in message.split(separator: "\n") {
            for part in line.split(separator: ":").dropFirst() {
                let code = part.drop { $0 == " " }
                let isCode =
                    code.utf8.count == 5
                    && code.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
                if isCode, part.hasPrefix("  ") {
                    self.init(String(code))
                    return
                }
            }
        }
        return nil
    }

    /// The code as a number of base 36, which fits in 26 bits.
    var number: Int32 { Int32(description.prefix(5), radix: 36) ?? -1 }
}
