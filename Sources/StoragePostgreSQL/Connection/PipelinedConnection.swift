import ContentKeys
import EventLoops
import POSIXSockets
import Records
import Telemetry

/// A connection that many calls share.
///
/// Statements are sent immediately, before the server has answered the earlier ones, and each is a transaction of its
/// own. A connection with a group size has only one transaction in flight, and also runs actions on cells.
///
/// # Actions
///
/// Actions that arrive while a transaction is in flight share the next one, so that many actions cost two round trips
/// and one sync of the database's disk. The first round trip makes the rows of all cells that are not there, locks all
/// of them in one order for all nodes, and reads them. Then `AccountRules` applies the actions one after the other, on
/// this node. The second round trip writes the cells that differ, and commits. No other node can change the cells in
/// between. A node that stops in between is cut off by the server (`PostgreSQLLimits.idle`).
///
/// If one action's cell has no meaning, only that action fails. If a statement fails, each action is sent again alone.
/// A single action is sent again if it has waited for a lock in vain (`PostgreSQLLimits.lock`).
///
/// # What happens when the database is away
///
/// When a connection breaks, calls that were sent are answered with `connectionLost`, because their effect is not
/// known. The connection is made again immediately, and calls that were not sent wait for it. If that attempt fails, no
/// call waits any more: calls fail immediately with the cause. Attempts continue with growing pauses until one
/// succeeds, on this connection or on another one to the same server (`serverIsBack`).
///
/// A call whose deadline passes is answered with `timedOut`, whether it was sent or not. This alone is not a sign of an
/// outage. `ConnectionSet` watches all connections, and reports a silent server.
///
/// All code here runs on the loop's thread.
final class PipelinedConnection: LoopChannel, @unchecked Sendable {
    // Safe to send: only tasks and closures of its own loop carry and use it.

    /// Statements that were sent together and are not finished.
    private struct Sent {
        enum Step {
            /// One statement, which is a transaction.
            case statement
            /// The first round trip of actions.
            case lock
            /// The second one, with the answers.
            case write([Result<AccountAnswer, PostgreSQLFailure>])
            /// The end of a failed transaction.
            case rollBack
        }

        let step: Step
        let calls: [DatabaseCall]
        let sentAt: MonotonicTime
        /// The indices of calls whose callers have stopped waiting.
        var answered: Set<Int> = []
        /// One result for each statement.
        var results: [Result<PostgreSQLResult, PostgreSQLFailure>] = []

        init(_ step: Step, _ calls: [DatabaseCall], at now: MonotonicTime, answered: Set<Int> = []) {
            self.step = step
            self.calls = calls
            sentAt = now
            self.answered = answered
        }

        /// The calls that still wait for an answer.
        var waiting: [DatabaseCall] {
            calls.enumerated().filter { !answered.contains($0.offset) }.map(\.element)
        }

        var firstFailure: PostgreSQLFailure? {
            for case .failure(let error) in results { return error }
            return nil
        }
    }

    private struct Link {
        let connection: PostgreSQLConnection
        let registration: RegistrationID
        /// The descriptor's number. libpq closes the descriptor, so the number is kept for unregistering it.
        let descriptor: Int32
        var isWatchedForRoom = false
        var hasAnswered = false
    }

    private enum State {
        case connecting
        case connected(Link)
        case pausing(TimerID)
        case stopped
    }

    private let loop: LoopContext
    private let limits: PostgreSQLLimits
    /// The largest number of calls that may share a transaction.
    private let groupSize: Int
    private let connect: @Sendable () async -> Result<PostgreSQLConnection, PostgreSQLFailure>
    /// Called with true when the connection becomes usable, and with false when it is lost.
    var connectedChanged: (Bool) -> Void = { _ in }
    /// The number of the current connection, if it is one for decisions. Each new one has a larger number.
    var number = 0
    /// Called when the server has sent something.
    var heard: () -> Void = {}
    /// When the server last sent something on this connection, or accepted the connection.
    private(set) var lastHeard: MonotonicTime
    /// The reason why the last attempt to connect failed.
    private var lastFailure = PostgreSQLFailure.connectionLost
    private var first: PostgreSQLConnection?
    private var state = State.connecting
    private var failures = 0
    /// Whether the server came back during an attempt. The attempt may have begun too early, so a failure is followed
    /// by another attempt immediately.
    private var isTriedAgainAtOnce = false
    private var waiting = PendingQueue<DatabaseCall>()
    private var sent = PendingQueue<Sent>()
    private var timer: TimerID?

    /// Makes a connection. `first` is a connection that has begun its pipeline already.
    init(
        on loop: LoopContext, limits: PostgreSQLLimits, groupSize: Int = 1, first: PostgreSQLConnection?,
        connect: @escaping @Sendable () async -> Result<PostgreSQLConnection, PostgreSQLFailure>
    ) {
        self.loop = loop
        self.limits = limits
        self.groupSize = groupSize
        self.first = first
        self.connect = connect
        lastHeard = loop.now
    }

    /// Uses the first connection, or makes one.
    func start() {
        if let first = first.take() { connected(.success(first)) } else { startConnecting() }
    }

    /// Whether calls are sent immediately.
    var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// The number of transactions that were sent and of calls that wait.
    var load: Int { sent.count + waiting.count }

    /// Since when the server owes an answer; nil if it owes none.
    var owedSince: MonotonicTime? {
        guard case .connected = state else { return nil }
        return sent.first.map { max($0.sentAt, lastHeard) }
    }

    /// The largest number of transactions in flight.
    private var inFlightMaximum: Int { groupSize > 1 ? 1 : limits.inFlight }

    // MARK: Calls

    func submit(_ call: DatabaseCall) {
        switch state {
        case .connected: enqueue(call)
        case .connecting where failures == 0: enqueue(call)
        case .connecting, .pausing: call.fail(lastFailure)
        case .stopped: call.fail(.connectionLost)
        }
    }

    private func enqueue(_ call: DatabaseCall) {
        guard waiting.count < limits.queueLength else { return call.fail(.queueFull) }
        waiting.append(call)
        sendWaiting()
        if timer == nil { setTimer() }
    }

    private func sendWaiting() {
        guard case .connected(let link) = state else { return }
        do throws(PostgreSQLFailure) {
            while sent.count < inFlightMaximum, let call = waiting.popFirst() {
                try send(call, on: link.connection)
            }
            try flush()
        } catch {
            lose()
        }
    }

    private func takeSociable(_ maximum: Int) -> [DatabaseCall] {
        var calls: [DatabaseCall] = []
        while calls.count < maximum, waiting.first?.isSociable == true, let call = waiting.popFirst() {
            calls.append(call)
        }
        return calls
    }

    private func send(_ call: DatabaseCall, on connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
        switch call.work {
        case .statement(let statement, let values, let lockBefore, _):
            sent.append(Sent(.statement, [call], at: loop.now))
            if let lockBefore { try connection.send(.takeLocks, [.integers([lockBefore])]) }
            try connection.send(statement, values)
        case .action:
            let calls = [call] + (call.isSociable ? takeSociable(groupSize - 1) : [])
            sent.append(Sent(.lock, calls, at: loop.now))
            let cells = CellParameters(calls.compactMap(\.action))
            try connection.send(.begin, [])
            try connection.send(.lockCells, cells.forLocking)
            try connection.send(.readCells, cells.forReading)
        }
        try connection.endTransaction()
    }

    private func flush() throws(PostgreSQLFailure) {
        guard case .connected(var link) = state else { return }
        let isFull = try link.connection.flush() == .wouldBlock
        guard isFull != link.isWatchedForRoom else { return }
        link.isWatchedForRoom = isFull
        state = .connected(link)
        do throws(EventLoopError) {
            try loop.modify(
                link.registration, descriptor: link.descriptor,
                interest: isFull ? [.readable, .writable] : .readable)
        } catch {
            throw .connectionLost
        }
    }

    // MARK: Answers

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        guard case .connected(let link) = state else { return }
        do throws(PostgreSQLFailure) {
            try link.connection.consumeInput()
            lastHeard = loop.now
            heard()
            try takeEvents(of: link.connection)
            try flush()
        } catch {
            return lose()
        }
        if link.connection.isLost { return lose() }
        sendWaiting()
    }

    func resume(on loop: LoopContext) {}

    private func takeEvents(of connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
        while true {
            switch connection.next() {
            case .nothing: return
            case .outcome(let result): sent.first?.results.append(result)
            case .finished: try finishFirst()
            }
        }
    }

    private func finishFirst() throws(PostgreSQLFailure) {
        guard case .connected(var link) = state, let first = sent.popFirst() else { return }
        if !link.hasAnswered {
            link.hasAnswered = true
            state = .connected(link)
            failures = 0
        }
        if let failure = first.firstFailure { return try end(first, with: failure, on: link.connection) }
        switch first.step {
        case .statement: give(first)
        case .lock: try write(first, on: link.connection)
        case .write(let answers): give(answers, to: first)
        case .rollBack: break
        }
    }

    /// Ends statements of which one has failed. Actions that another attempt may help are sent again, each alone.
    private func end(
        _ failed: Sent, with failure: PostgreSQLFailure, on connection: PostgreSQLConnection
    ) throws(PostgreSQLFailure) {
        let isTooLate = if case .refused(let state) = failure { SQLState.tooLate.contains(state) } else { false }
        if failed.calls.count > 1 || isTooLate, !failure.endsConnection, failed.calls.allSatisfy(\.isSociable) {
            waiting.putBack(failed.waiting.map(Self.alone))
        } else {
            for call in failed.waiting { call.fail(failure) }
        }
        if failure.endsConnection { throw failure }
        switch failed.step {
        case .lock, .write: try rollBack(on: connection)
        case .statement, .rollBack: break
        }
    }

    private func rollBack(on connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
        sent.append(Sent(.rollBack, [], at: loop.now))
        try connection.send(.rollBack, [])
        try connection.endTransaction()
    }

    /// Applies actions to the cells that the first round trip has read, and sends the second one.
    private func write(_ locked: Sent, on connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
        guard let read = try? locked.results[2].get(), let reading = try? LockedCells(read) else {
            for call in locked.waiting { call.fail(.recordMalformed) }
            return try rollBack(on: connection)
        }
        var cells = reading.cells
        let answers = locked.calls.enumerated().map { index, call in
            // An action whose caller has stopped waiting is not applied, because it may come again.
            locked.answered.contains(index) ? .failure(.timedOut) : call.answer(in: &cells, at: reading.time)
        }
        sent.append(Sent(.write(answers), locked.calls, at: loop.now, answered: locked.answered))
        let changes = CellChanges(cells.changes, madeRows: reading.madeRows)
        if let values = changes.forWriting { try connection.send(.writeCells, values) }
        if let values = changes.forDeleting { try connection.send(.deleteCells, values) }
        try connection.send(.commit, [])
        try connection.endTransaction()
    }

    private func give(_ answers: [Result<AccountAnswer, PostgreSQLFailure>], to group: Sent) {
        for (index, call) in group.calls.enumerated() where !group.answered.contains(index) {
            if case .action(_, let give) = call.work { give(answers[index]) }
        }
    }

    private func give(_ one: Sent) {
        guard let result = one.results.last, let call = one.waiting.first,
            case .statement(_, _, _, let give) = call.work
        else { return }
        give(result)
    }

    private static func alone(_ call: DatabaseCall) -> DatabaseCall {
        var call = call
        call.mustBeAlone = true
        return call
    }

    // MARK: Deadlines

    private func setTimer() {
        // The deadlines of calls are in the order of their arrival.
        let nextOfSent = sent.first(where: { !$0.waiting.isEmpty })?.waiting.first?.deadline
        timer = [nextOfSent, waiting.first?.deadline].compactMap { $0 }.min().map { deadline in
            loop.schedule(at: deadline) { [weak self] in self?.deadlineCame() }
        }
    }

    private func deadlineCame() {
        timer = nil
        let now = loop.now
        while let first = waiting.first, first.deadline <= now {
            waiting.popFirst()?.fail(.timedOut)
        }
        sent.updatePrefix { entry in
            for (index, call) in entry.calls.enumerated() where call.deadline <= now {
                if entry.answered.insert(index).inserted { call.fail(.timedOut) }
            }
            return entry.waiting.isEmpty
        }
        setTimer()
    }

    /// Answers all waiting calls with `failure`. The connection stays, in case the server continues.
    func giveUpWaiting(with failure: PostgreSQLFailure) {
        for call in waiting.takeAll() { call.fail(failure) }
        sent.updatePrefix { entry in
            for (index, call) in entry.calls.enumerated() where entry.answered.insert(index).inserted {
                call.fail(failure)
            }
            return true
        }
    }

    /// Replaces a connection that the server will not answer any more.
    func replace() { lose() }

    // MARK: Connecting

    private func startConnecting() {
        state = .connecting
        loop.spawn { [self] in connected(await connect()) }
    }

    /// Connects immediately, because another connection to the server has just succeeded, and lets calls wait.
    ///
    /// Otherwise calls would fail until the end of the pause, although the server answers.
    func serverIsBack() {
        switch state {
        case .pausing(let timer):
            loop.cancel(timer)
            failures = 0
            startConnecting()
        case .connecting where failures > 0:
            failures = 0
            isTriedAgainAtOnce = true
        case .connecting, .connected, .stopped: break
        }
    }

    private func connected(_ result: Result<PostgreSQLConnection, PostgreSQLFailure>) {
        guard case .connecting = state else { return }
        let isTriedAgainAtOnce = isTriedAgainAtOnce
        self.isTriedAgainAtOnce = false
        switch result {
        case .success(let connection): adopt(connection)
        case .failure where isTriedAgainAtOnce: startConnecting()
        case .failure(let failure):
            lastFailure = failure
            pause()
        }
    }

    private func adopt(_ connection: PostgreSQLConnection) {
        let descriptor = connection.descriptor
        do throws(EventLoopError) {
            let registration = try loop.register(self, descriptor: descriptor, interest: .readable)
            state = .connected(Link(connection: connection, registration: registration, descriptor: descriptor))
            lastHeard = loop.now
            lastFailure = .connectionLost
            heard()
            connectedChanged(true)
        } catch {
            return pause()
        }
        sendWaiting()
    }

    /// Waits before the next attempt. Answers waiting calls with the failure, because no call may wait here in the
    /// meantime.
    private func pause() {
        for call in waiting.takeAll() { call.fail(lastFailure) }
        let longest = limits.reconnectAfterMaximum
        let delay = min(limits.reconnectAfter * Double(1 << min(failures, 10)), longest)
        failures += 1
        state = .pausing(loop.schedule(after: delay) { [weak self] in self?.startConnecting() })
    }

    /// Closes a broken connection and connects again.
    private func lose() {
        guard case .connected(let link) = state else { return }
        state = .connecting
        let isYoung = !link.hasAnswered
        unregister(link)
        if isYoung { pause() } else { startConnecting() }
    }

    private func unregister(_ link: Link) {
        loop.unregister(link.registration, descriptor: link.descriptor)
        connectedChanged(false)
        for entry in sent.takeAll() {
            for call in entry.waiting { call.fail(.connectionLost) }
        }
        let waiters = waiting.takeAll()
        for call in waiters {
            if call.isBound { call.fail(.connectionLost) } else { waiting.append(call) }
        }
    }

    func loopStops(_ loop: LoopContext) { stop() }

    /// Answers all calls and closes the connection.
    func stop() {
        switch state {
        case .connected(let link): unregister(link)
        case .pausing(let timer): loop.cancel(timer)
        case .connecting, .stopped: break
        }
        state = .stopped
        if let timer { loop.cancel(timer) }
        timer = nil
        for call in waiting.takeAll() { call.fail(.connectionLost) }
    }
}
