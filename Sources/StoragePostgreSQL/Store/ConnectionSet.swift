import ContentKeys
import EventLoops
import Synchronization
import Telemetry

/// The connections of a store: some for decisions, some for everything else, and one that asks the server for signs of
/// life.
///
/// If the server owes an answer and has sent nothing on any connection for `PostgreSQLLimits.silence`, it is silent.
/// This counts as an outage: no call waits, and calls fail immediately, until the server sends something again. A
/// server that answers some calls and is late with others is busy, which is not an outage.
///
/// Everything but `health` runs on the loop.
final class ConnectionSet: @unchecked Sendable {
    // Safe to send: values behind locks may be read on any thread, and all others are used only on the loop.

    private let loop: LoopContext
    private let opener: SessionOpener
    private let pool: BlockingWorkerPool
    private var first: PostgreSQLConnection?
    private var writers: [PipelinedConnection] = []
    private var readers: [PipelinedConnection] = []
    private var probe: PipelinedConnection?
    private var isProbeOwed = false
    private var nextProbe: MonotonicTime
    private var lastHeard: MonotonicTime
    private var lastLook: MonotonicTime
    /// Since when the server is silent; nil if it is not.
    private var silentSince: MonotonicTime?
    /// The time at which to replace connections that have heard nothing since `heardBefore`. After a silence, some
    /// connections may lead to a server that is gone.
    private var staleCheck: (at: MonotonicTime, heardBefore: MonotonicTime)?
    private var tick: TimerID?
    private var hasConnected = false
    /// Called once with the reason if the first connection shows that the database cannot serve, and waiting does not
    /// help.
    private let onRefusal = Mutex<(@Sendable (PostgreSQLOpeningError) -> Void)?>(nil)
    private let state = Mutex(PostgreSQLHealth())
    private var lastNumber = 0
    private let newest = Atomic<Int>(0)
    private let onConnection = Mutex<@Sendable () -> Void>({})

    init(on loop: LoopContext, opener: SessionOpener, pool: BlockingWorkerPool, first: PostgreSQLConnection?) {
        self.loop = loop
        self.opener = opener
        self.pool = pool
        self.first = first
        hasConnected = first != nil
        nextProbe = loop.now
        lastHeard = loop.now
        lastLook = loop.now
    }

    /// Sets the closure that is called on a refusal. If there has been a refusal, calls it immediately.
    func tellRefusal(to body: @escaping @Sendable (PostgreSQLOpeningError) -> Void) {
        onRefusal.withLock { $0 = body }
        if let error = health.refusal { body(error) }
    }

    var health: PostgreSQLHealth { state.withLock { $0 } }

    /// As `RecountedStore` has it.
    var newestConnection: Int { newest.load(ordering: .acquiring) }

    /// Sets the closure that is called on each new connection for decisions, and calls it now.
    func tellConnection(to body: @escaping @Sendable () -> Void) {
        onConnection.withLock { $0 = body }
        body()
    }

    func start() {
        let limits = opener.settings.limits
        state.withLock { $0.expected = limits.writers + limits.readers }
        writers = (0..<limits.writers).map { _ in makeConnection(groupSize: limits.groupSize, isNumbered: true) }
        readers = (0..<limits.readers).map { _ in makeConnection(groupSize: 1) }
        probe = makeConnection(groupSize: 1, isCounted: false)
        watch()
    }

    func stop() {
        if let tick { loop.cancel(tick) }
        tick = nil
        for connection in all { connection.stop() }
    }

    private var all: [PipelinedConnection] { writers + readers + (probe.map { [$0] } ?? []) }

    func submit(_ calls: [DatabaseCall], _ route: PostgreSQLStore.Route) {
        guard silentSince == nil else {
            for call in calls { call.fail(.silent) }
            return
        }
        guard let connection = connection(for: route) else {
            for call in calls { call.fail(.connectionLost) }
            return
        }
        for call in calls { connection.submit(call) }
    }

    private func connection(for route: PostgreSQLStore.Route) -> PipelinedConnection? {
        switch route {
        case .read:
            return (readers.filter(\.isConnected).min { $0.load < $1.load }) ?? readers.first
        case .write(let number):
            let inOrder = writers(from: number)
            return inOrder.first(where: \.isConnected) ?? inOrder.first
        case .bound(let number, let numbers):
            return writers(from: number).first { $0.isConnected && numbers.contains($0.number) }
        }
    }

    /// The connections that write, beginning with the one of this number.
    private func writers(from number: UInt64) -> ArraySlice<PipelinedConnection> {
        guard !writers.isEmpty else { return [] }
        let position = Int(number % UInt64(writers.count))
        return writers[position...] + writers[..<position]
    }

    // MARK: Signs of life

    private func watch() {
        tick = loop.schedule(after: .milliseconds(250)) { [weak self] in
            guard let self else { return }
            look()
            watch()
        }
    }

    private func look() {
        let now = loop.now
        let limits = opener.settings.limits
        // This node has stood still, and has not read yet what the server has sent meanwhile.
        if now - lastLook > .seconds(1) { lastHeard = now }
        lastLook = now
        if silentSince == nil, let owed = all.compactMap(\.owedSince).min(),
            now - max(owed, lastHeard) >= limits.silence
        {
            becomeSilent(now)
        }
        if let check = staleCheck, now >= check.at {
            staleCheck = nil
            for connection in all where connection.owedSince.map({ $0 < check.heardBefore }) == true {
                connection.replace()
            }
        }
        for connection in all where connection.owedSince.map({ now - $0 >= limits.abandon }) == true {
            connection.replace()
        }
        if now >= nextProbe { ask(now) }
    }

    private func becomeSilent(_ now: MonotonicTime) {
        silentSince = now
        state.withLock { $0.isSilent = true }
        for connection in all { connection.giveUpWaiting(with: .silent) }
        // The old connections stay in case the server continues. If another server has taken over the name, the new
        // connection finds it.
        probe?.replace()
        isProbeOwed = false
    }

    private func heard() {
        let now = loop.now
        lastHeard = now
        guard let since = silentSince else { return }
        silentSince = nil
        state.withLock { $0.isSilent = false }
        staleCheck = (at: now + .seconds(1), heardBefore: since)
    }

    private func ask(_ now: MonotonicTime) {
        guard !isProbeOwed, let connection = connectionForSignOfLife else { return }
        nextProbe = now + opener.settings.limits.probeEvery
        isProbeOwed = true
        // `look` notices whether the server answers. The deadline only ends the call.
        connection.submit(
            DatabaseCall(
                .statement(.signOfLife, [], lockBefore: nil) { [weak self] _ in self?.isProbeOwed = false },
                deadline: now + .seconds(60)))
    }

    /// The connection that asks for signs of life: the probe's own, or any other one while the probe connects. Without
    /// the others, a server that stops at that moment would not be noticed.
    ///
    /// During a silence only a new connection asks, because the old ones may lead to a server that is gone.
    private var connectionForSignOfLife: PipelinedConnection? {
        if let probe, probe.isConnected { return probe }
        guard silentSince == nil else { return nil }
        return readers.first(where: \.isConnected) ?? writers.first(where: \.isConnected)
    }

    // MARK: Connecting

    private func makeConnection(
        groupSize: Int, isCounted: Bool = true, isNumbered: Bool = false
    ) -> PipelinedConnection {
        defer { first = nil }
        let connection = PipelinedConnection(
            on: loop, limits: opener.settings.limits, groupSize: groupSize, first: first
        ) { [self] in await connect() }
        if isCounted {
            connection.connectedChanged = { [self, unowned connection] isConnected in
                if isNumbered { number(connection, isConnected) }
                state.withLock { health in
                    if isConnected, health.connected == 0 { health.arrivals += 1 }
                    health.connected += isConnected ? 1 : -1
                }
                if isConnected { for connection in all { connection.serverIsBack() } }
            }
        }
        connection.heard = { [self] in heard() }
        connection.start()
        return connection
    }

    /// Gives a new connection its number, before any call is sent on it.
    private func number(_ connection: PipelinedConnection, _ isConnected: Bool) {
        lastNumber += 1
        connection.number = isConnected ? lastNumber : 0
        // The set is not complete while it makes its connections.
        let numbers = writers.map(\.number) + [connection.number]
        newest.store(numbers.max() ?? 0, ordering: .releasing)
        if isConnected { onConnection.withLock { $0 }() }
    }

    /// Makes a connection on a thread that may block. A connection that comes too late is closed.
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
            hasConnected = true
            state.withLock { $0.lastError = nil }
            return .success(connection)
        case .failure(let error):
            state.withLock { $0.lastError = error }
            if !hasConnected, !error.mayPass { tellRefusal(error) }
            return .failure(error.failure)
        }
    }

    private func tellRefusal(_ error: PostgreSQLOpeningError) {
        let isFirst = state.withLock { state in
            defer { state.refusal = error }
            return state.refusal == nil
        }
        if isFirst, let body = onRefusal.withLock({ $0 }) { body(error) }
    }
}

/// Collects the outcomes of calls that were made together.
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
