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
    /// The number of SPCs in each request.
    let keyCount: Int
    let start: ContinuousClock.Instant
    let threadCount: Int
    /// The number of answers so far, for the progress line.
    let answered: AnswerCount

    func token(of number: Int) -> String {
        tokens[number * keyCount / max(keyCount, versionCount) % tokens.count]
    }
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
    /// The ids of the keys in each request.
    private let labels: [String]
    private var nextNumber: Int
    private var underWay: [Int: Sent] = [:]
    private var tally = BenchTally()

    init(_ plan: BenchPlan, thread index: Int) throws(CryptoError) {
        self.plan = plan
        self.index = index
        crypto = try CryptoContext()
        labels = (1...plan.keyCount).map(String.init)
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
        tally.sentBytes += request.body.count
        return .send(HTTPLoadRequest(number: number, body: request.body, bearer: plan.token(of: number)))
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
                tally.refused += plan.keyCount
                return
            }
            guard take(body, of: answer.number) else { return }
            tally.latency.add(sent.due.duration(to: now))
            tally.serviceTime.add(sent.at.duration(to: now))
        }
    }

    /// Counts the keys of an answer. Returns whether all of them have a CKC.
    private func take(_ body: [UInt8], of number: Int) -> Bool {
        let form = plan.keyCount == 1 ? AnswerForm.raw : .streamingKeys
        let keys: [KeyAnswer]
        do throws(AnswerNotUnderstood) {
            keys = try form.read(body, labels: labels, isOffline: false)
        } catch {
            tally.checked += plan.keyCount
            noteWrong(plan.keyCount, "a player \(error.reason)")
            return false
        }
        let secrets = plan.requests.all[number % plan.requests.all.count].secrets
        var isWhole = true
        for (index, key) in keys.enumerated() {
            switch key {
            case .ckc(let ckc):
                tally.licenses += 1
                if !secrets.isEmpty { check(ckc, secrets[index]) }
            case .denied(let reason):
                tally.refused += 1
                tally.note(result: "key with \(LicenseProblem.printable(reason))")
                isWhole = false
            }
        }
        return isWhole
    }

    private func check(_ ckc: [UInt8], _ secrets: RequestSecrets) {
        tally.checked += 1
        do throws(CKCFault) {
            _ = try CKCOpener(secrets: secrets, using: crypto).open(ckc)
        } catch {
            noteWrong(1, error.explanation(of: FileKind(ckc)))
        }
    }

    private func noteWrong(_ count: Int, _ fault: String) {
        tally.wrong += count
        tally.firstFault = tally.firstFault ?? fault
    }
}
