import DeviceSimulation
import FairPlay
import KeyCrypto

/// Sends the SPCs of a seed to a server, one after the other in the order of the seed, and collects the results.
struct ConformanceRun {
    let seed: [UInt8]
    /// The time that SPCs state, in seconds since 1970.
    let now: UInt32
    /// Why cases of these kinds and versions are not run.
    let unavailableKinds: [ConformanceKind: String]
    let unavailableVersions: [SPCVersion: String]
    /// The same by the names of cases.
    let unavailableCases: [String: String]
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
        unavailableVersions: [SPCVersion: String] = [:], unavailableCases: [String: String] = [:],
        refusalsMayDiffer: String? = nil,
        ask: @escaping ConformanceAsk
    ) throws(CryptoError) {
        self.seed = seed
        self.now = now
        self.unavailableKinds = unavailableKinds
        self.unavailableVersions = unavailableVersions
        self.unavailableCases = unavailableCases
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
        var results: [Int: ConformanceResult] = [:]
        for index in try order() {
            let test = ConformanceCase.all[index]
            progress(results.count)
            let isSilent =
                silence > Self.silenceMaximum || counts.answered == 0 && counts.silent >= Self.silentSPCMaximum
            let silent = isSilent ? "the server did not answer \(counts.silent) SPCs before" : nil
            if let reason = unavailable(test) ?? silent {
                results[index] = .notRun(test, reason)
                continue
            }
            let question = try test.question(seed: seed, now: now, using: crypto)
            let start = ContinuousClock.now
            let answer = await ask(question)
            results[index] = judge.judge(test, question, answer)
            refusals.note(answer, to: test)
            if case .none = answer.content {
                silence += ContinuousClock.now - start
                counts.silent += 1
            } else {
                counts.answered += 1
            }
            if case .ckc(let ckc) = answer.content, ckc.count >= 24 { vectors.append(Array(ckc[8..<24])) }
        }
        report.results = ConformanceCase.all.indices.compactMap { results[$0] }
        if counts.answered > 0 { report.results += [try await repeated(), try await renewed()] }
        // What differs between two answers to one fault is an id or a time.
        while refusalsMayDiffer == nil, let test = refusals.nextToRepeat() {
            let question = try test.question(seed: seed + Array("again".utf8), now: now, using: crypto)
            let answer = await ask(question)
            if case .none = answer.content { break }
            refusals.learn(from: answer, to: test)
        }
        report.results += [fresh(vectors), refusals.result(refusalsMayDiffer)]
        report.timing = refusals.timing
        return report
    }

    /// The numbers of the cases: the first one, and then the others as the seed shuffles them.
    private func order() throws(CryptoError) -> [Int] {
        let all = ConformanceCase.all.indices
        let digests = try all.map { (index) throws(CryptoError) in
            Array(try crypto.sha256(seed + Array("order \(index)".utf8)))
        }
        return [0] + all.dropFirst().sorted { digests[$0].lexicographicallyPrecedes(digests[$1]) }
    }

    private func unavailable(_ test: ConformanceCase) -> String? {
        unavailableVersions[test.version] ?? unavailableKinds[test.kind] ?? unavailableCases[test.name]
    }

    /// Asks for a lease, and then for its renewal as the same device in the same playback session.
    private func renewed() async throws(CryptoError) -> ConformanceResult {
        let begun = ConformanceCase.license(.server, "lease of a playback session", .lease, rule: "4.1")
        let name = "renewal in the same playback session"
        if let reason = unavailable(begun) { return .notRun(.license(.server, name, rule: begun.rule), reason) }
        let question = try begun.question(seed: seed, now: now, using: crypto)
        let first = judge.judge(begun, question, await ask(question))
        guard first.verdict == .passed else { return first }
        let session = question.options.playbackState
        let renewal = ConformanceCase.license(.server, name, .lease, rule: begun.rule) {
            $0.playbackState = session?.with(.leaseExpiring)
        }
        let second = try renewal.question(seed: seed, now: now, using: crypto)
        return judge.judge(renewal, second, await ask(second))
    }

    /// Sends one SPC twice. The second answer may be the license again, or a refusal of the replay.
    private func repeated() async throws(CryptoError) -> ConformanceResult {
        let test = ConformanceCase.license(.server, "the same SPC twice", rule: "4.1")
        if let reason = unavailable(test) { return .notRun(test, reason) }
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
