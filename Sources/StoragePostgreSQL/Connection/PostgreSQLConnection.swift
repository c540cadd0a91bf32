import CPostgreSQL
import ContentKeys
import Glibc
import KeyCrypto
import Telemetry

/// Owns a connection to a server.
///
/// At first its calls block, each until a deadline, for a thread that may wait. After `beginPipeline` its calls never
/// block, for a loop. All SQL is part of this program, so that text from outside never becomes SQL.
@safe
final class PostgreSQLConnection: @unchecked Sendable {
    // Safe to send: only this object has the handle, and its owner ensures that one thread at a time uses it: first the
    // thread that connects, then the loop. libpq lets different threads use a connection one after the other.
    private let handle: OpaquePointer

    @unsafe
    private init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe PQfinish(handle)
    }

    /// Connects and authenticates. Blocks while the names are resolved, and then for at most `limits.connect` for each
    /// address.
    static func connect(_ settings: PostgreSQLSettings) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        let parameters = ConnectionParameters(settings)
        latchkey_pq_clear_environment()
        // libpq also returns an object for a failed connection. Only without memory it returns none.
        guard let handle = unsafe parameters.withLists({ unsafe PQconnectdbParams($0, $1, 0) }) else {
            throw .notConnected(message: "out of memory")
        }
        let connection = unsafe PostgreSQLConnection(owning: handle)
        guard unsafe PQstatus(handle) == CONNECTION_OK else {
            // libpq has then sent nothing that the server could refuse.
            let lacksPassword = unsafe PQconnectionNeedsPassword(handle) == 1
            if lacksPassword { throw .connectionRefused(.passwordRefused, message: connection.message) }
            throw ConnectionDiagnosis.failure(of: parameters, message: connection.message)
        }
        unsafe latchkey_pq_silence_notices(handle)
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw .connectionLost }
        return connection
    }

    /// The server's version as a number: 150004 is 15.4.
    var serverVersion: Int { unsafe Int(PQserverVersion(handle)) }

    /// The descriptor that a loop watches.
    var descriptor: Int32 { unsafe PQsocket(handle) }

    var isEncrypted: Bool { unsafe PQsslInUse(handle) == 1 }

    // MARK: Blocking, before the pipeline

    /// Runs a script of statements, whose rows are ignored, as one transaction unless the script begins and ends its
    /// own.
    func execute(_ script: String, until deadline: MonotonicTime) throws(PostgreSQLFailure) {
        // libpq copies the text before the call returns.
        guard unsafe PQsendQuery(handle, script) == 1 else { throw .connectionLost }
        _ = try finishStatement(until: deadline)
    }

    /// Runs one statement with parameters.
    func query(
        _ sql: String, _ values: [PostgreSQLValue] = [], until deadline: MonotonicTime
    ) throws(PostgreSQLFailure) -> PostgreSQLResult {
        let sent = unsafe EncodedValues(values).withLists { count, pointers, sizes, formats in
            // libpq copies text and values before the call returns.
            unsafe PQsendQueryParams(handle, sql, count, nil, pointers, sizes, formats, 1)
        }
        guard sent == 1 else { throw .connectionLost }
        return try finishStatement(until: deadline)
    }

    /// Waits for the results of the sent statements and returns the last one. Throws the first failure.
    private func finishStatement(until deadline: MonotonicTime) throws(PostgreSQLFailure) -> PostgreSQLResult {
        var last: PostgreSQLResult?
        var failure: PostgreSQLFailure?
        try flushBlocking(until: deadline)
        while true {
            try waitForResult(until: deadline)
            guard let handle = unsafe PQgetResult(handle) else { break }
            switch unsafe Self.outcome(of: handle) {
            case .success(let result): last = result
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
        guard let last else { throw .connectionLost }
        return last
    }

    private func flushBlocking(until deadline: MonotonicTime) throws(PostgreSQLFailure) {
        while try flush() == .wouldBlock {
            try wait(for: POLLIN | POLLOUT, until: deadline)
            try consumeInput()
        }
    }

    private func waitForResult(until deadline: MonotonicTime) throws(PostgreSQLFailure) {
        while unsafe PQisBusy(handle) == 1 {
            try wait(for: POLLIN, until: deadline)
            try consumeInput()
        }
    }

    private func wait(for events: Int32, until deadline: MonotonicTime) throws(PostgreSQLFailure) {
        let left = (deadline - SystemMonotonicClock().monotonicTime).clampedNanoseconds
        guard left > 0 else { throw .timedOut }
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        // The entry is a local variable. A signal ends the wait early; the caller's loop then waits again.
        _ = unsafe poll(&entry, 1, Int32(min((left - 1) / 1_000_000 + 1, 3_600_000)))
    }

    // MARK: Without blocking

    /// Begins pipeline mode and prepares statements, each under its raw value as the name. From now on, statements are
    /// sent with `send` and their outcomes are read with `next`.
    ///
    /// Blocks for one round trip. A round trip for each statement would keep a node in another region from reconnecting
    /// for seconds.
    func beginPipeline(
        preparing statements: [PreparedStatement], until deadline: MonotonicTime
    ) throws(PostgreSQLFailure) {
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw .connectionLost }
        for statement in statements {
            // libpq copies the texts before the call returns.
            guard unsafe PQsendPrepare(handle, statement.rawValue, statement.sql, 0, nil) == 1 else {
                throw .connectionLost
            }
        }
        try endTransaction()
        try flushBlocking(until: deadline)
        var failure: PostgreSQLFailure?
        while true {
            try waitForResult(until: deadline)
            switch next() {
            case .nothing where isLost: throw .connectionLost
            case .nothing, .outcome(.success): break
            case .outcome(.failure(let error)): failure = failure ?? error
            case .finished:
                if let failure { throw failure }
                return
            }
        }
    }

    /// Queues a statement of the transaction that the next `endTransaction` ends.
    func send(_ statement: PreparedStatement, _ values: [PostgreSQLValue]) throws(PostgreSQLFailure) {
        let sent = unsafe EncodedValues(values).withLists { count, pointers, sizes, formats in
            // libpq copies the values before the call returns.
            unsafe PQsendQueryPrepared(handle, statement.rawValue, count, pointers, sizes, formats, 1)
        }
        guard sent == 1 else { throw .connectionLost }
    }

    /// Ends the transaction of the statements since the last call, and writes as many bytes as the socket accepts.
    func endTransaction() throws(PostgreSQLFailure) {
        guard unsafe PQpipelineSync(handle) == 1 else { throw .connectionLost }
    }

    enum FlushState {
        case done
        case wouldBlock
    }

    /// Writes queued bytes until the socket accepts no more.
    func flush() throws(PostgreSQLFailure) -> FlushState {
        switch unsafe PQflush(handle) {
        case 0: return .done
        case 1: return .wouldBlock
        default: throw .connectionLost
        }
    }

    /// Reads the bytes that the socket has received.
    func consumeInput() throws(PostgreSQLFailure) {
        guard unsafe PQconsumeInput(handle) == 1 else { throw .connectionLost }
    }

    enum PipelineEvent {
        /// More bytes must be read first, or no statement was sent.
        case nothing
        /// A statement's outcome.
        case outcome(Result<PostgreSQLResult, PostgreSQLFailure>)
        /// The transaction has ended. It is durable if all its statements succeeded.
        case finished
    }

    /// Returns the next event of the bytes that were read.
    func next() -> PipelineEvent {
        // libpq returns NULL once after each statement. Two NULLs in a row mean that no statement is in flight.
        for _ in 0..<2 {
            guard unsafe PQisBusy(handle) == 0 else { return .nothing }
            guard let result = unsafe PQgetResult(handle) else { continue }
            if unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC {
                unsafe PQclear(result)
                return .finished
            }
            return .outcome(unsafe Self.outcome(of: result))
        }
        return .nothing
    }

    /// Whether libpq regards the connection as broken.
    var isLost: Bool { unsafe PQstatus(handle) == CONNECTION_BAD }

    // MARK: Outcomes

    @unsafe
    private static func outcome(of handle: OpaquePointer) -> Result<PostgreSQLResult, PostgreSQLFailure> {
        // From here on, `result` owns the handle.
        let result = unsafe PostgreSQLResult(owning: handle)
        switch unsafe PQresultStatus(handle) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return .success(result)
        // A statement before this one failed.
        case PGRES_PIPELINE_ABORTED: return .failure(.notRun)
        default: break
        }
        // Without a code the error is libpq's own: the connection broke. The text is valid as long as the result, and
        // is copied.
        guard let code = unsafe latchkey_pq_sqlstate(handle) else { return .failure(.connectionLost) }
        return withExtendedLifetime(result) { .failure(.refused(SQLState(unsafe String(cString: code)))) }
    }

    /// libpq's message about the connection's last failure, in one line.
    private var message: String {
        // The text is valid until the next call, and is copied.
        guard let text = unsafe PQerrorMessage(handle) else { return "" }
        return unsafe String(cString: text).split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}

/// Finds out why a connection failed.
///
/// libpq gives no SQLSTATE for a failed connection, and the server's text is in the server's language. The connection
/// is therefore tried once more at libpq's highest verbosity, which includes the code in the text.
enum ConnectionDiagnosis {
    /// The time limit of the second attempt. A server that refuses a connection does so immediately.
    private static let limit: Duration = .seconds(1)

    /// Returns the failure behind libpq's `message`.
    static func failure(of parameters: ConnectionParameters, message: String) -> PostgreSQLFailure {
        guard let verbose = verboseMessage(parameters), let state = SQLState(inVerboseMessage: verbose) else {
            return .notConnected(message: message)
        }
        return .connectionRefused(state, message: message)
    }

    /// Returns libpq's message for a second attempt; nil if it has not failed within the limit.
    private static func verboseMessage(_ parameters: ConnectionParameters) -> String? {
        guard let handle = unsafe parameters.withLists({ unsafe PQconnectStartParams($0, $1, 0) }) else { return nil }
        // Only this function uses the handle.
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
            // The entry is a local variable.
            if unsafe poll(&entry, 1, Int32(left / 1_000_000 + 1)) > 0 { status = unsafe PQconnectPoll(handle) }
        }
        guard status == PGRES_POLLING_FAILED, let text = unsafe PQerrorMessage(handle) else { return nil }
        return unsafe String(cString: text)
    }
}

/// A statement's parameters as the lists that libpq takes, all in binary format.
struct EncodedValues: ~Copyable {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var sizes: [Int32] = []

    init(_ values: [PostgreSQLValue]) {
        for value in values {
            let encoded = value.encoded()
            offsets.append(encoded.map { _ in bytes.count })
            sizes.append(Int32(encoded?.count ?? 0))
            bytes.append(contentsOf: encoded ?? [])
        }
        // An empty value needs an address too, because a null address means NULL.
        bytes.append(0)
    }

    /// Calls `body` with count, addresses, sizes and formats, which are valid during the call.
    borrowing func withLists<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let formats = [Int32](repeating: 1, count: sizes.count)
        // Every address lies within `bytes`, and all buffers are valid until `body` has returned.
        return unsafe bytes.withUnsafeBytes { buffer in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = unsafe offsets.map { offset in unsafe offset.flatMap { unsafe start?.advanced(by: $0) } }
            return unsafe pointers.withUnsafeBufferPointer { pointers in
                unsafe sizes.withUnsafeBufferPointer { sizes in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(Int32(sizes.count), pointers.baseAddress, sizes.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
