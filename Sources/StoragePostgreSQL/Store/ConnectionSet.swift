import ContentKeys
import EventLoops
import Synchronization

/// The connections of a store: some for decisions, some for everything else. All but `health` belongs to the loop.
final class ConnectionSet: @unchecked Sendable {
    // Safe to send: what is behind the lock may be read anywhere, the rest is used on the loop alone.

    private let loop: LoopContext
    private let opener: SessionOpener
    private let pool: BlockingWorkerPool
    private var first: PostgreSQLConnection?
    private var writers: [PipelinedConnection] = []
    private var readers: [PipelinedConnection] = []
    private let state = Mutex(PostgreSQLHealth())
    /// Set before `start`, and called on the loop, at most once.
    var whenRefused: (@Sendable (PostgreSQLOpeningError) -> Void)?

    init(on loop: LoopContext, opener: SessionOpener, pool: BlockingWorkerPool, first: PostgreSQLConnection?) {
        self.loop = loop
        self.opener = opener
        self.pool = pool
        self.first = first
    }

    var health: PostgreSQLHealth { state.withLock { $0 } }

    func start() {
        let limits = opener.settings.limits
        state.withLock { $0.expected = limits.writers + limits.readers }
        writers = (0..<limits.writers).map { _ in makeConnection(groupSize: limits.groupSize) }
        readers = (0..<limits.readers).map { _ in makeConnection(groupSize: 1) }
    }

    func stop() {
        for connection in writers + readers { connection.stop() }
    }

    func submit(_ calls: [DatabaseCall], _ route: PostgreSQLStore.Route) {
        guard let connection = connection(for: route) else {
            for call in calls { call.give(.failure(.connectionLost)) }
            return
        }
        for call in calls { connection.submit(call) }
    }

    private func connection(for route: PostgreSQLStore.Route) -> PipelinedConnection? {
        switch route {
        case .read:
            return (readers.filter(\.isConnected).min { $0.load < $1.load }) ?? readers.first
        case .write(let number):
            guard !writers.isEmpty else { return nil }
            let position = Int(number % UInt64(writers.count))
            let inOrder = writers[position...] + writers[..<position]
            return inOrder.first(where: \.isConnected) ?? inOrder.first
        }
    }

    private func makeConnection(groupSize: Int) -> PipelinedConnection {
        defer { first = nil }
        let connection = PipelinedConnection(
            on: loop, limits: opener.settings.limits, groupSize: groupSize, first: first
        ) { [self] in await connect() }
        connection.connectedChanged = { [self] isConnected in
            state.withLock { health in
                if isConnected, health.connected == 0 { health.arrivals += 1 }
                health.connected += isConnected ? 1 : -1
            }
        }
        connection.start()
        return connection
    }

    /// Makes a connection on a thread that may wait. One that comes too late is closed.
    private func connect() async -> Result<PostgreSQLConnection, PostgreSQLFailure> {
        let opener = opener
        let opened: Result<PostgreSQLConnection, PostgreSQLOpeningError>
        do throws(WorkerPoolError) {
            opened = try await pool.run(on: loop, within: .seconds(660)) {
                do throws(PostgreSQLOpeningError) {
                    return .success(try opener.open())
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            return .failure(.timedOut)
        }
        switch opened {
        case .success(let connection):
            state.withLock { $0.lastError = nil }
            return .success(connection)
        case .failure(let error):
            let arrivals = state.withLock { health in
                health.lastError = error
                return health.arrivals
            }
            // Later, it is another database behind the same name: then this node goes on without it.
            if error.isProofFailure, arrivals == 0 {
                whenRefused?(error)
                whenRefused = nil
            }
            return .failure(.connectionLost)
        }
    }
}

/// Gathers the outcomes of calls that were made together.
final class CollectedOutcomes: Sendable {
    typealias Outcome = Result<PostgreSQLResult, PostgreSQLFailure>

    private let outcomes: Mutex<(list: [Outcome], left: Int)>
    private let whenComplete: @Sendable ([Outcome]) -> Void

    init(count: Int, whenComplete: @escaping @Sendable ([Outcome]) -> Void) {
        outcomes = Mutex(([Outcome](repeating: .failure(.connectionLost), count: count), count))
        self.whenComplete = whenComplete
    }

    func set(_ outcome: Outcome, at index: Int) {
        let complete = outcomes.withLock { outcomes in
            outcomes.list[index] = outcome
            outcomes.left -= 1
            return outcomes.left == 0 ? outcomes.list : nil
        }
        if let complete { whenComplete(complete) }
    }
}
