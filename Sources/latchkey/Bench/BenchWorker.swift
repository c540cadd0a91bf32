import DeviceSimulation
import HTTPCalls
import KeyCrypto
import Synchronization

/// What all threads of a load use.
struct BenchPlan: Sendable {
    let schedule: LoadSchedule
    let requests: BenchRequests
    /// The tokens, which requests take in turn: all versions of an SPC with one token, then the next token.
    let tokens: [String]
    let versionCount: Int
    let start: ContinuousClock.Instant
    let threadCount: Int
    /// The number of answers so far, for the progress line.
    let answered: AnswerCount
}

/// The number of answers of all threads.
final class AnswerCount: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() { count.add(1, ordering: .relaxed) }
}

/// One thread's share of a load: gives the requests to libcurl, and counts and checks the answers.
///
/// Belongs to its thread.
final class BenchWorker: HTTPLoadSource {
    /// The load ends if this many requests have got no answer and none has got one.
    private static let failureMaximum = 100

    private struct Sent {
        let due: ContinuousClock.Instant
        let at: ContinuousClock.Instant
    }

    private let plan: BenchPlan
    private let index: Int
    private let crypto: CryptoContext
    private var nextNumber: Int
    private var underWay: [Int: Sent] = [:]
    private var tally = BenchTally()

    init(_ plan: BenchPlan, thread index: Int) throws(CryptoError) {
        self.plan = plan
        self.index = index
        crypto = try CryptoContext()
        nextNumber = index
    }

    /// What the thread has counted, after its load has ended.
    var finalTally: BenchTally {
        var tally = tally
        let due = plan.schedule.dueCount(forThread: index, of: plan.threadCount)
        tally.unsent = due.map { max(0, $0 - tally.sent) } ?? 0
        return tally
    }

    func next(at now: ContinuousClock.Instant) -> HTTPLoadStep {
        let number = nextNumber
        guard plan.schedule.contains(number, at: plan.start.duration(to: now)), !isHopeless else { return .end }
        // In a closed loop a request is due when it is sent.
        let due = plan.schedule.due(number).map { plan.start + $0 } ?? now
        guard due <= now else { return .wait(until: due) }
        nextNumber += plan.threadCount
        let request = plan.requests.all[number % plan.requests.all.count]
        underWay[number] = Sent(due: due, at: now)
        tally.sent += 1
        tally.sentBytes += request.message.count
        let token = plan.tokens[number / plan.versionCount % plan.tokens.count]
        return .send(HTTPLoadRequest(number: number, body: request.message, bearer: token))
    }

    private var isHopeless: Bool { tally.failed >= Self.failureMaximum && tally.failed == tally.sent - underWay.count }

    func take(_ answer: HTTPLoadAnswer, at now: ContinuousClock.Instant) {
        guard let sent = underWay.removeValue(forKey: answer.number) else { return }
        plan.answered.increment()
        tally.elapsed = plan.start.duration(to: now)
        tally.connections += answer.newConnections
        switch answer.outcome {
        case .failed(let text):
            tally.failed += 1
            tally.note(result: "no answer: \(LicenseProblem.printable(text))")
        case .answered(let status, let code, let version, let body):
            tally.note(version: version)
            tally.receivedBytes += body.count
            tally.note(
                result: [String(status), code.map(LicenseProblem.printable)].compactMap(\.self).joined(separator: " "))
            guard status == 200 else {
                tally.refused += 1
                return
            }
            tally.licenses += 1
            tally.latency.add(sent.due.duration(to: now))
            tally.serviceTime.add(sent.at.duration(to: now))
            check(body, of: answer.number)
        }
    }

    private func check(_ ckc: [UInt8], of number: Int) {
        guard let secrets = plan.requests.all[number % plan.requests.all.count].secrets else { return }
        tally.checked += 1
        do throws(CKCFault) {
            _ = try CKCOpener(secrets: secrets, using: crypto).open(ckc)
        } catch {
            tally.wrong += 1
            tally.firstFault = tally.firstFault ?? error.explanation(of: FileKind(ckc))
        }
    }
}
