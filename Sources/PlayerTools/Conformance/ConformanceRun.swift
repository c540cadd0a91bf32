import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// Sends the SPCs of a seed to a server, one after the other, and collects the results.
struct ConformanceRun {
    let seed: [UInt8]
    /// The time that SPCs state, in seconds since 1970.
    let now: UInt32
    /// Why cases of these kinds and versions are not run.
    let unavailableKinds: [ConformanceKind: String]
    let unavailableVersions: [SPCVersion: String]
    /// Why the refusals need not be equal; nil if they must be.
    let refusalsMayDiffer: String?
    let ask: ConformanceAsk
    /// After waiting so long for answers that do not come, the rest is not sent.
    private static let silenceMaximum = Duration.seconds(60)
    /// Nor if these SPCs have no answer.
    private static let silentSPCMaximum = 5
    private let crypto: CryptoContext
    private let judge: ConformanceJudge

    init(
        seed: [UInt8], now: UInt32, unavailableKinds: [ConformanceKind: String] = [:],
        unavailableVersions: [SPCVersion: String] = [:], refusalsMayDiffer: String? = nil,
        ask: @escaping ConformanceAsk
    ) throws(CryptoError) {
        self.seed = seed
        self.now = now
        self.unavailableKinds = unavailableKinds
        self.unavailableVersions = unavailableVersions
        self.refusalsMayDiffer = refusalsMayDiffer
        self.ask = ask
        crypto = try CryptoContext()
        judge = ConformanceJudge(crypto: crypto)
    }

    /// Runs all cases. `progress` is given the number of cases that are done.
    func run(_ progress: (Int) -> Void = { _ in }) async throws(CryptoError) -> ConformanceReport {
        var report = ConformanceReport(seed: seed)
        var refusals = ConformanceRefusals()
        var vectors: [[UInt8]] = []
        var silence = Duration.zero
        var counts = (silent: 0, answered: 0)
        for (index, test) in ConformanceCase.all.enumerated() {
            progress(index)
            let isSilent =
                silence > Self.silenceMaximum || counts.answered == 0 && counts.silent >= Self.silentSPCMaximum
            let silent = isSilent ? "the server did not answer \(counts.silent) SPCs before" : nil
            if let reason = unavailableVersions[test.version] ?? unavailableKinds[test.kind] ?? silent {
                report.results.append(.notRun(test, reason))
                continue
            }
            let question = try test.question(seed: seed, now: now, using: crypto)
            let start = ContinuousClock.now
            let answer = await ask(question)
            report.results.append(judge.judge(test, question, answer))
            refusals.note(answer, to: test)
            if case .none = answer.content {
                silence += ContinuousClock.now - start
                counts.silent += 1
            } else {
                counts.answered += 1
            }
            if case .ckc(let ckc) = answer.content, ckc.count >= 24 { vectors.append(Array(ckc[8..<24])) }
        }
        if counts.answered > 0 { report.results.append(try await repeated()) }
        report.results += [fresh(vectors), refusals.result(refusalsMayDiffer)]
        report.timing = refusals.timing
        return report
    }

    /// Sends one SPC twice. The second answer may be the license again, or a refusal of the replay.
    private func repeated() async throws(CryptoError) -> ConformanceResult {
        let test = ConformanceCase.license(.server, "the same SPC twice", rule: "4.1")
        if let reason = unavailableVersions[.v1] ?? unavailableKinds[test.kind] { return .notRun(test, reason) }
        let question = try test.question(seed: seed, now: now, using: crypto)
        let first = judge.judge(test, question, await ask(question))
        guard first.verdict == .passed else { return first }
        let tolerant = ConformanceCase.license(
            .server, test.name, rule: test.rule, tolerance: "a server may refuse an SPC that it has answered")
        return judge.judge(tolerant, question, await ask(question))
    }

    private func fresh(_ vectors: [[UInt8]]) -> ConformanceResult {
        let test = ConformanceCase.license(.server, "a fresh initialization vector for each CKC", rule: "1.3")
        guard vectors.count > 1 else { return .notRun(test, "there were not two CKCs") }
        let isFresh = Set(vectors).count == vectors.count
        return ConformanceResult(
            family: .server, name: test.name, rule: test.rule, verdict: isFresh ? .passed : .differs,
            found: isFresh ? "\(vectors.count) different ones" : "some CKCs have the same one; devices accept it")
    }
}

extension ConformanceResult {
    static func notRun(_ test: ConformanceCase, _ reason: String) -> ConformanceResult {
        ConformanceResult(
            family: test.family, name: test.name, version: test.version, rule: test.rule, verdict: .notRun,
            found: reason)
    }
}

/// The refusals of SPCs whose certificate the server knows. They must be equal, because a difference would tell a
/// stranger how far an SPC came (protocol, section 6).
struct ConformanceRefusals {
    private var casesByAnswer: [String: [String]] = [:]
    private var milliseconds: [String: [Double]] = [:]

    mutating func note(_ answer: ConformanceAnswer, to test: ConformanceCase) {
        guard case .refusal(let code, let body) = answer.content, test.fault?.answer == .rejected else { return }
        casesByAnswer["\(code) \(Self.withoutIDs(body))", default: []].append(test.name)
        let stage = test.name.hasPrefix("corrupted wrapped key") ? "a wrong wrapped key" : "every other fault"
        milliseconds["\(stage), version \(test.version.rawValue)", default: []].append(answer.milliseconds)
    }

    func result(_ mayDiffer: String?) -> ConformanceResult {
        let test = ConformanceCase.refusal(.server, "equal refusals after the certificate", rule: "6")
        if let mayDiffer { return .notRun(test, mayDiffer) }
        guard !casesByAnswer.isEmpty else { return .notRun(test, "there was no refusal") }
        let sorted = casesByAnswer.sorted { ($0.value.count, $1.key) > ($1.value.count, $0.key) }
        let examples = sorted.prefix(4).map { answer, cases in
            "\(answer.prefix { $0 != " " }) for \(cases.count) such as \"\(cases[0])\""
        }
        let isEqual = sorted.count == 1
        return ConformanceResult(
            family: .server, name: test.name, rule: test.rule, verdict: isEqual ? .passed : .failed,
            found: isEqual
                ? "one answer to \(sorted[0].value.count) SPCs"
                : "\(sorted.count) different answers: \(examples.joined(separator: "; "))")
    }

    /// The middle and the longest time of refusals, as a hint.
    var timing: [String] {
        milliseconds.sorted { $0.key < $1.key }.map { stage, times in
            let sorted = times.sorted()
            let middle = sorted[sorted.count / 2]
            return "\(stage): \(middle.oneDecimal) ms in the middle, \(sorted[sorted.count - 1].oneDecimal) ms at most"
        }
    }

    /// A body without words that look like ids and times: those of 8 characters or more with a digit.
    static func withoutIDs(_ body: [UInt8]) -> String {
        var text = ""
        var word = ""
        func end() {
            text += word.count >= 8 && word.contains(where: \.isNumber) ? "#" : word
            word = ""
        }
        for character in String(decoding: body, as: UTF8.self) {
            if character.isLetter || character.isNumber || "-_:.+".contains(character) {
                word.append(character)
            } else {
                end()
                text.append(character)
            }
        }
        end()
        return text
    }
}

extension Double {
    fileprivate var oneDecimal: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
