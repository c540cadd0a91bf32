package import ContentKeys

/// Why a connection or a statement failed.
package enum PostgreSQLFailure: Error, Equatable, Sendable {
    /// No connection was made; libpq's text, which holds names and addresses but no secret.
    case notConnected(message: String)
    /// The connection has ended.
    case connectionLost
    /// No answer came in time.
    case timedOut
    /// As many calls wait as may.
    case queueFull
    /// The server refused a statement.
    case refused(SQLState)
    /// A statement before it in the same transaction failed.
    case notRun
}

/// PostgreSQL's code of an error, five characters (PostgreSQL's manual, appendix A).
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ code: String) {
        description = code
    }

    /// The first two characters name the class.
    var category: Substring { description.prefix(2) }
}

extension PostgreSQLFailure {
    /// What the callers of the store hear.
    package var storeError: StoreError {
        switch self {
        case .notConnected, .connectionLost, .timedOut: .unavailable(.unreachable)
        case .queueFull, .notRun: .unavailable(.busy)
        case .refused(let state): .unavailable(StoreOutage(state))
        }
    }

    /// Whether the connection is of no use any more, although it may still be open: the server has become read-only or shuts down.
    var endsConnection: Bool {
        switch self {
        case .notConnected, .connectionLost, .timedOut: true
        case .queueFull, .notRun: false
        case .refused(let state): state.description == "25006" || state.category == "57" && state.description > "57P00"
        }
    }
}

extension StoreOutage {
    init(_ state: SQLState) {
        switch (state.category, state.description) {
        case (_, "57014"), (_, "55P03"), ("40", _): self = .busy
        case (_, "53100"): self = .diskFull
        case (_, "25006"), (_, "42501"): self = .notWritable
        case (_, "58030"): self = .inputOutput
        case ("XX", "XX001"), ("XX", "XX002"): self = .damaged
        case ("08", _), ("57", _), ("53", _): self = .unreachable
        default: self = .other(code: state.number)
        }
    }
}

extension SQLState {
    /// The code as a number of base 36, which has room in 26 bits.
    var number: Int32 { Int32(description.prefix(5), radix: 36) ?? -1 }
}
