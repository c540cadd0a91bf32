import CPostgreSQL
import Glibc

/// Connections of libpq in pipeline mode, used by one thread without any code of the server: the maximum rate of the
/// database.
@safe
final class BarePostgreSQL {
    @safe
    private struct Link {
        let handle: OpaquePointer
        var inFlight = 0
    }

    private var links: [Link] = []

    /// Opens the connections. Each prepares these statements under the names "0", "1" and so on, by their indexes.
    init(
        url: String, password: [UInt8], schema: String, connections: Int, setUp: [String] = [], statements: [String]
    ) throws {
        for _ in 0..<connections {
            let handle = unsafe try Self.connect(url, password)
            links.append(unsafe Link(handle: handle))
            for sql in ["SET search_path TO \(schema)"] + setUp {
                // The result is read and freed immediately.
                let result = unsafe PQexec(handle, sql)
                defer { unsafe PQclear(result) }
                guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else {
                    throw BenchmarkError("PostgreSQL refused: \(sql)")
                }
            }
            for (place, sql) in statements.enumerated() {
                let result = unsafe PQprepare(handle, "\(place)", sql, 0, nil)
                defer { unsafe PQclear(result) }
                guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else {
                    throw BenchmarkError("PostgreSQL refused: \(sql)")
                }
            }
            guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
                throw BenchmarkError("no pipeline")
            }
        }
    }

    deinit {
        for link in links { unsafe PQfinish(link.handle) }
    }

    @unsafe
    private static func connect(_ url: String, _ password: [UInt8]) throws -> OpaquePointer {
        let words = ["dbname", url, "password", String(decoding: password, as: UTF8.self)]
        // Safe: the copies stay valid until the call returns, and both lists end with nil.
        let texts = unsafe words.map { unsafe strdup($0) }
        defer { for index in unsafe texts.indices { unsafe free(texts[index]) } }
        let names: [UnsafePointer<CChar>?] = unsafe [UnsafePointer(texts[0]), UnsafePointer(texts[2]), nil]
        let values: [UnsafePointer<CChar>?] = unsafe [UnsafePointer(texts[1]), UnsafePointer(texts[3]), nil]
        guard let handle = unsafe PQconnectdbParams(names, values, 1), unsafe PQstatus(handle) == CONNECTION_OK else {
            throw BenchmarkError("libpq made no connection")
        }
        return unsafe handle
    }

    /// Runs transactions for a duration, with `inFlight` under way on all connections together. Returns their rate per
    /// second.
    ///
    /// A transaction runs every prepared statement with the value of `value`, each with its own sync. `rowsExpected` is
    /// the number of rows that the statements return together.
    func rate(
        for duration: Duration, inFlight: Int, statementCount: Int, rowsExpected: Int, value: () -> [UInt8]
    ) throws -> Double {
        let start = ContinuousClock.now
        let each = max(1, inFlight / (links.count))
        var (finished, rows) = (0, 0)
        while true {
            let isOver = ContinuousClock.now >= start + duration
            if isOver, links.allSatisfy({ $0.inFlight == 0 }) { break }
            for index in links.indices {
                if !isOver {
                    while links[index].inFlight < each * statementCount {
                        try send(value(), index, statementCount)
                    }
                }
                guard unsafe PQflush(links[index].handle) >= 0 else { throw BenchmarkError("the connection broke") }
            }
            wait()
            for index in links.indices {
                let read = try readResults(index)
                finished += read.finished
                rows += read.rows
            }
        }
        let transactions = finished / statementCount
        guard rows == transactions * rowsExpected else {
            throw BenchmarkError("\(rows) rows for \(transactions) transactions")
        }
        return Double(transactions) / (start.duration(to: .now) / .seconds(1))
    }

    private func send(_ value: [UInt8], _ index: Int, _ statementCount: Int) throws {
        let handle = unsafe links[index].handle
        for place in 0..<statementCount {
            // libpq copies the value before the call returns.
            let sent = unsafe value.withUnsafeBytes { bytes in
                let values = unsafe [bytes.baseAddress?.assumingMemoryBound(to: CChar.self)]
                return unsafe PQsendQueryPrepared(handle, "\(place)", 1, values, [Int32(bytes.count)], [1], 1)
            }
            guard sent == 1, unsafe PQpipelineSync(handle) == 1 else { throw BenchmarkError("libpq does not send") }
            links[index].inFlight += 1
        }
    }

    private func wait() {
        var entries = links.map { unsafe pollfd(fd: PQsocket($0.handle), events: Int16(POLLIN), revents: 0) }
        // Safe: the count is the number of entries.
        _ = unsafe poll(&entries, nfds_t(entries.count), 100)
    }

    private func readResults(_ index: Int) throws -> (finished: Int, rows: Int) {
        let handle = unsafe links[index].handle
        guard unsafe PQconsumeInput(handle) == 1 else { throw BenchmarkError("the connection broke") }
        var (finished, rows, empty) = (0, 0, 0)
        while empty < 2, links[index].inFlight > 0, unsafe PQisBusy(handle) == 0 {
            guard let result = unsafe PQgetResult(handle) else {
                empty += 1
                continue
            }
            empty = 0
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                finished += 1
                links[index].inFlight -= 1
            case PGRES_TUPLES_OK: rows += Int(unsafe PQntuples(result))
            case PGRES_COMMAND_OK: break
            default: throw BenchmarkError("PostgreSQL refused a statement")
            }
        }
        return (finished, rows)
    }
}
