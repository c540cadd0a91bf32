import ByteCoding
import DeviceSimulation
import FairPlay
import HTTPCalls
import KeyCrypto
import Testing

@testable import PlayerTools

/// One thread's share of a load, without a network.
@Suite struct BenchWorkerTests {
    private static let start = ContinuousClock.now

    private func plan(
        _ schedule: LoadSchedule, threads: Int = 1, versions: Int = 2, keys: Int = 1, secrets: [RequestSecrets] = []
    ) -> BenchPlan {
        var requests = BenchRequests()
        for number in 0..<3 { requests.append(BenchRequests.Request(body: [UInt8(number)], secrets: secrets)) }
        return BenchPlan(
            schedule: schedule, requests: requests, tokens: ["a", "b"], versionCount: versions, keyCount: keys,
            start: Self.start, threadCount: threads, answered: AnswerCount())
    }

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { Self.start + .milliseconds(milliseconds) }

    private func sent(_ step: HTTPLoadStep) -> HTTPLoadRequest? {
        if case .send(let request) = step { request } else { nil }
    }

    private func answer(
        _ number: Int, _ status: Int, _ code: String? = nil, body: [UInt8] = [1, 2, 3]
    ) -> HTTPLoadAnswer {
        HTTPLoadAnswer(
            number: number, outcome: .answered(status: status, errorCode: code, version: "1.1", body: body),
            newConnections: 1)
    }

    private func secrets() throws -> RequestSecrets {
        try RequestSecrets(
            wrappedKey: SharedSecret(.random(count: 16)), sessionBlock: SharedSecret(.random(count: 96)),
            antiReplaySeed: CryptoContext().randomBytes16(), expectedEchoes: [],
            abilities: DeviceAbilities(hasPlaybackState: true, capabilities: nil))
    }

    @Test func takesTokensAndSPCsInTurn() throws {
        let plan = plan(LoadSchedule(rate: nil, seconds: 1, requestMaximum: nil))
        let worker = try BenchWorker(plan, thread: 0)
        let requests = (0..<5).compactMap { _ in sent(worker.next(at: at(0))) }
        #expect(requests.map(\.bearer) == ["a", "a", "b", "b", "a"])
        #expect(requests.map(\.body) == [[0], [1], [2], [0], [1]])
        #expect(requests.map(\.number) == [0, 1, 2, 3, 4])
    }

    @Test func sendsEachSPCOnceUnlessTheyRepeat() throws {
        let worker = try BenchWorker(
            plan(LoadSchedule(rate: nil, seconds: 1, requestMaximum: 3)), thread: 0)
        let steps = (0..<5).map { _ in sent(worker.next(at: at(0))) }
        #expect(steps.map { $0 != nil } == [true, true, true, false, false])
    }

    @Test func hasOnlyItsShareOfTheRequests() throws {
        let worker = try BenchWorker(
            plan(LoadSchedule(rate: nil, seconds: 1, requestMaximum: nil), threads: 4), thread: 2)
        #expect((0..<3).compactMap { _ in sent(worker.next(at: at(0)))?.number } == [2, 6, 10])
    }

    @Test func waitsUntilARequestIsDue() throws {
        let worker = try BenchWorker(plan(LoadSchedule(rate: 10, seconds: 1, requestMaximum: nil)), thread: 0)
        #expect(sent(worker.next(at: at(0)))?.number == 0)
        guard case .wait(let time) = worker.next(at: at(1)) else {
            Issue.record("no wait")
            return
        }
        #expect(time == at(100))
        #expect(sent(worker.next(at: at(100)))?.number == 1)
    }

    /// A request that waits for a connection is late, and its latency shows it.
    @Test func countsTheLatencyFromTheTimeAtWhichARequestWasDue() throws {
        let worker = try BenchWorker(plan(LoadSchedule(rate: 10, seconds: 1, requestMaximum: nil)), thread: 0)
        _ = worker.next(at: at(0))
        worker.take(answer(0, 200), at: at(50))
        _ = worker.next(at: at(400))
        worker.take(answer(1, 200), at: at(450))
        let tally = worker.finalTally
        #expect(tally.latency.maximum == 350_000)
        #expect(tally.serviceTime.maximum == 50_000)
        #expect(tally.elapsed == .milliseconds(450))
        // Eight more requests of the second were not sent.
        #expect((tally.sent, tally.unsent, tally.licenses) == (2, 8, 2))
    }

    @Test func countsRefusalsByStatusAndCodeAndNotTheirLatency() throws {
        let worker = try BenchWorker(plan(LoadSchedule(rate: nil, seconds: 1, requestMaximum: nil)), thread: 0)
        for _ in 0..<4 { _ = worker.next(at: at(0)) }
        worker.take(answer(0, 200), at: at(1))
        worker.take(answer(1, 429, "overloaded"), at: at(1))
        worker.take(answer(2, 429, "overloaded"), at: at(1))
        worker.take(HTTPLoadAnswer(number: 3, outcome: .failed("Timed out"), newConnections: 2), at: at(1))
        let tally = worker.finalTally
        #expect(tally.results == ["200": 1, "429 overloaded": 2, "no answer: Timed out": 1])
        #expect((tally.licenses, tally.refused, tally.failed, tally.latency.count) == (1, 2, 1, 1))
        #expect((tally.connections, tally.receivedBytes, tally.sentBytes) == (5, 9, 4))
        #expect(tally.versions == ["1.1": 3])
    }

    @Test func givesUpIfNoRequestGetsAnAnswer() throws {
        let worker = try BenchWorker(plan(LoadSchedule(rate: nil, seconds: 1, requestMaximum: nil)), thread: 0)
        var sentCount = 0
        while let request = sent(worker.next(at: at(0))), sentCount < 1_000 {
            sentCount += 1
            worker.take(HTTPLoadAnswer(number: request.number, outcome: .failed("x"), newConnections: 0), at: at(0))
        }
        #expect(sentCount == 100)
    }

    @Test func findsACKCThatADeviceRefuses() throws {
        let plan = plan(LoadSchedule(rate: nil, seconds: 1, requestMaximum: 1), secrets: [try secrets()])
        let worker = try BenchWorker(plan, thread: 0)
        _ = worker.next(at: at(0))
        worker.take(answer(0, 200), at: at(1))
        #expect((worker.finalTally.checked, worker.finalTally.wrong) == (1, 1))
        #expect(worker.finalTally.firstFault != nil)
    }

    @Test func givesEachRequestOfSeveralKeysTheNextToken() throws {
        for versions in [1, 2, 3] {
            let plan = plan(
                LoadSchedule(rate: nil, seconds: 1, requestMaximum: nil), versions: versions, keys: 3)
            let worker = try BenchWorker(plan, thread: 0)
            #expect((0..<4).compactMap { _ in sent(worker.next(at: at(0)))?.bearer } == ["a", "b", "a", "b"])
        }
    }

    @Test func countsEachKeyOfAnAnswer() throws {
        let plan = plan(
            LoadSchedule(rate: nil, seconds: 1, requestMaximum: nil), versions: 1, keys: 2,
            secrets: [try secrets(), try secrets()])
        let worker = try BenchWorker(plan, thread: 0)
        for _ in 0..<4 { _ = worker.next(at: at(0)) }
        func keys(_ entries: String) -> [UInt8] {
            Array(#"{"fairplay-streaming-response":{"streaming-keys":[\#(entries)]}}"#.utf8)
        }
        worker.take(answer(0, 200, body: keys(#"{"id":2,"ckc":"AQID"},{"id":1,"ckc":"AQID","status":0}"#)), at: at(1))
        // Only the first key has a license, so the latency does not count.
        worker.take(answer(1, 200, body: keys(#"{"id":1,"ckc":"AQID"},{"id":2,"status":-42604}"#)), at: at(1))
        // The answer to this request has no result for the second key.
        worker.take(answer(2, 200, body: keys(#"{"id":1,"ckc":"AQID"}"#)), at: at(1))
        worker.take(answer(3, 401, "token_expired"), at: at(1))
        let tally = worker.finalTally
        #expect((tally.licenses, tally.refused, tally.latency.count) == (3, 3, 1))
        #expect(tally.results == ["200": 3, "401 token_expired": 1, "key with status -42604": 1])
        #expect((tally.checked, tally.wrong) == (5, 5))
        #expect(tally.firstFault != nil)
    }

    @Test func boundsTheNumberOfDifferentResults() {
        var tally = BenchTally()
        for number in 0..<1_000 { tally.note(result: "400 code-\(number)") }
        tally.note(result: "400 code-0")
        #expect(tally.results.count == 65)
        #expect(tally.results["400 code-0"] == 2)
        #expect(tally.results["others"] == 1_000 - 64)
    }

    @Test func addsUpTheThreads() {
        var first = BenchTally()
        first.licenses = 3
        first.elapsed = .seconds(2)
        first.note(result: "200")
        first.latency.add(microseconds: 5)
        var second = BenchTally()
        second.licenses = 5
        second.elapsed = .seconds(4)
        second.note(result: "200")
        second.firstFault = "wrong"
        second.latency.add(microseconds: 9)
        first.merge(second)
        #expect((first.licenses, first.elapsed, first.licensesPerSecond) == (8, .seconds(4), 2))
        #expect(first.results == ["200": 2])
        #expect((first.firstFault, first.latency.count, first.latency.maximum) == ("wrong", 2, 9))
    }
}
