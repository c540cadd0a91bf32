import EventLoops
import Synchronization
import Telemetry
import Testing

@testable import StoragePostgreSQL

/// Tests of the calls on a connection that cannot be made.
@Suite(.timeLimit(.minutes(1))) struct PipelinedConnectionTests {
    private static func failure(_ number: Int) -> PostgreSQLFailure { .notConnected(message: "attempt \(number)") }

    @Test func endsItsPauseWhenTheServerIsBack() async throws {
        let connection = try ConnectionWithoutServer(pause: .seconds(3600))
        var attempts = connection.attempts.makeAsyncIterator()
        let first = connection.call()
        try #require(await attempts.next()).resume(returning: .failure(Self.failure(1)))
        #expect(await first.failure == Self.failure(1))
        #expect(connection.call().isAnswered, "in a pause, calls fail immediately")

        connection.serverIsBack()
        let second = try #require(await attempts.next())
        let waiting = connection.call()
        #expect(!waiting.isAnswered)
        second.resume(returning: .failure(Self.failure(2)))
        #expect(await waiting.failure == Self.failure(2))
        await connection.stop()
    }

    /// An attempt that was running when the server came back may have begun too early. If it fails, another one
    /// follows, and calls wait for it.
    @Test func triesAgainIfItsAttemptBeganTooEarly() async throws {
        let connection = try ConnectionWithoutServer(pause: .milliseconds(1))
        var attempts = connection.attempts.makeAsyncIterator()
        try #require(await attempts.next()).resume(returning: .failure(Self.failure(1)))
        let early = try #require(await attempts.next())
        #expect(connection.call().isAnswered, "after a failed attempt, calls do not wait")

        connection.serverIsBack()
        let waiting = connection.call()
        early.resume(returning: .failure(Self.failure(2)))
        let late = try #require(await attempts.next())
        #expect(!waiting.isAnswered)
        late.resume(returning: .failure(Self.failure(3)))
        #expect(await waiting.failure == Self.failure(3))
        await connection.stop()
    }
}

/// A connection on a loop of its own. The test decides the outcomes of its attempts to connect.
private struct ConnectionWithoutServer {
    typealias Attempt = CheckedContinuation<Result<PostgreSQLConnection, PostgreSQLFailure>, Never>

    let attempts: AsyncStream<Attempt>
    private let begun: AsyncStream<Attempt>.Continuation
    private let group: EventLoopGroup
    private let connection: PipelinedConnection

    /// Makes a connection. `pause` is the time between two attempts.
    init(pause: Duration) throws {
        var limits = PostgreSQLLimits()
        limits.reconnectAfter = pause
        limits.reconnectAfterMaximum = pause
        let chosen = limits
        let (attempts, begun) = AsyncStream.makeStream(of: Attempt.self)
        let group = try EventLoopGroup(count: 1, name: "connection")
        let loop = group.loops[0]
        let connection = loop.runAndWait {
            let connection = PipelinedConnection(on: loop, limits: chosen, first: nil) {
                await withCheckedContinuation { attempt in
                    if case .terminated = begun.yield(attempt) { attempt.resume(returning: .failure(.connectionLost)) }
                }
            }
            connection.start()
            return connection
        }
        (self.attempts, self.begun, self.group) = (attempts, begun, group)
        self.connection = try #require(connection)
    }

    func call() -> ObservedCall {
        let call = ObservedCall()
        let deadline = SystemMonotonicClock().monotonicTime + .seconds(3600)
        onLoop {
            $0.submit(DatabaseCall(.statement(.signOfLife, [], lockBefore: nil) { call.note($0) }, deadline: deadline))
        }
        return call
    }

    func serverIsBack() {
        onLoop { $0.serverIsBack() }
    }

    /// Ends the connection and its open attempts.
    func stop() async {
        onLoop { $0.stop() }
        begun.finish()
        for await attempt in attempts { attempt.resume(returning: .failure(.connectionLost)) }
        group.stop(within: .seconds(60))
    }

    private func onLoop(_ body: @escaping @Sendable (PipelinedConnection) -> Void) {
        _ = group.loops[0].runAndWait { [connection] in body(connection) }
    }
}

/// A call that is expected to fail.
private final class ObservedCall: Sendable {
    private let (failures, answer) = AsyncStream.makeStream(of: PostgreSQLFailure?.self)
    private let answered = Atomic(false)

    var isAnswered: Bool { answered.load(ordering: .acquiring) }

    /// Waits for the answer; nil if it is not a failure.
    var failure: PostgreSQLFailure? {
        get async { await failures.first { _ in true } ?? nil }
    }

    func note(_ outcome: Result<PostgreSQLResult, PostgreSQLFailure>) {
        answered.store(true, ordering: .releasing)
        if case .failure(let error) = outcome { answer.yield(error) } else { answer.yield(nil) }
    }
}
