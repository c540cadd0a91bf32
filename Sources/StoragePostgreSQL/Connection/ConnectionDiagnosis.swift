import CPostgreSQL
import Glibc
import Telemetry

/// Finds out why no connection was made.
///
/// libpq tells no SQLSTATE of a connection that failed, and the server's text is in the server's language. So the
/// connection is tried once more at libpq's highest verbosity, which puts the code into the text.
enum ConnectionDiagnosis {
    /// A server that refuses a connection does so at once.
    private static let limit: Duration = .seconds(1)

    /// The failure that `message` tells of.
    static func failure(of parameters: ConnectionParameters, message: String) -> PostgreSQLFailure {
        guard let verbose = verboseMessage(parameters), let state = SQLState(inVerboseMessage: verbose) else {
            return .notConnected(message: message)
        }
        return .connectionRefused(state, message: message)
    }

    /// What libpq says of an attempt that has failed; nil if it has not failed within the limit.
    private static func verboseMessage(_ parameters: ConnectionParameters) -> String? {
        guard let handle = unsafe parameters.withLists({ unsafe PQconnectStartParams($0, $1, 0) }) else { return nil }
        // The handle is used in this function alone.
        defer { unsafe PQfinish(handle) }
        unsafe latchkey_pq_silence_notices(handle)
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let deadline = SystemMonotonicClock().monotonicTime + limit
        var status = PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let left = (deadline - SystemMonotonicClock().monotonicTime).clampedNanoseconds
            guard left > 0 else { return nil }
            let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
            var entry = pollfd(fd: unsafe PQsocket(handle), events: Int16(events), revents: 0)
            // One entry in a local variable.
            if unsafe poll(&entry, 1, Int32(left / 1_000_000 + 1)) > 0 { status = unsafe PQconnectPoll(handle) }
        }
        guard status == PGRES_POLLING_FAILED, let text = unsafe PQerrorMessage(handle) else { return nil }
        return unsafe String(cString: text)
    }
}
