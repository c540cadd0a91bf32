import ByteCoding
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

/// The refusals of SPCs whose certificate the server knows. They must be equal, because a difference would tell a
/// stranger how far an SPC came (protocol, section 6).
struct ConformanceRefusals {
    private var refusals: [(test: ConformanceCase, words: RefusalWords)] = []
    private var mask = RefusalMask()
    private var repeated: Set<String> = []
    /// So many SPCs are sent again at most.
    private static let repeatMaximum = 8
    private var milliseconds: [String: [Double]] = [:]

    mutating func note(_ answer: ConformanceAnswer, to test: ConformanceCase) {
        guard let words = RefusalWords(answer), test.fault?.answer == .rejected else { return }
        refusals.append((test, words))
        let stage = test.name.hasPrefix("corrupted wrapped key") ? "a wrong wrapped key" : "every other fault"
        milliseconds["\(stage), version \(test.version.rawValue)", default: []].append(answer.milliseconds)
    }

    /// A case whose SPC is sent again to learn what varies: any, and then those with rare answers.
    mutating func nextToRepeat() -> ConformanceCase? {
        let groups = groups
        let isDone = repeated.count >= Self.repeatMaximum || !repeated.isEmpty && groups.count < 2
        let cases = groups.reversed().flatMap { $0.map(\.test) }
        guard !isDone, let next = cases.first(where: { !repeated.contains($0.name) }) else { return nil }
        repeated.insert(next.name)
        return next
    }

    /// Learns from a second answer to an SPC with the same fault.
    mutating func learn(from answer: ConformanceAnswer, to test: ConformanceCase) {
        guard let second = RefusalWords(answer),
            let first = refusals.first(where: { $0.test.name == test.name })?.words,
            second.code == first.code
        else { return }
        mask.add(first, second)
    }

    /// The refusals by what they say, the most frequent ones first.
    private var groups: [[(test: ConformanceCase, words: RefusalWords)]] {
        Dictionary(grouping: refusals) { mask.text(of: $0.words) }.sorted {
            ($0.value.count, $1.key) > ($1.value.count, $0.key)
        }.map(\.value)
    }

    func result(_ mayDiffer: String?) -> ConformanceResult {
        let test = ConformanceCase.refusal(.server, "equal refusals after the certificate", rule: "6")
        if let mayDiffer { return .notRun(test, mayDiffer) }
        guard !refusals.isEmpty else { return .notRun(test, "there was no refusal") }
        let groups = groups
        let examples = groups.prefix(4).map { "\($0[0].words.code) for \($0.count) such as \"\($0[0].test.name)\"" }
        let isEqual = groups.count == 1
        return ConformanceResult(
            family: .server, name: test.name, rule: test.rule, verdict: isEqual ? .passed : .failed,
            found: isEqual
                ? "one answer to \(refusals.count) SPCs"
                : "\(groups.count) different answers: \(examples.joined(separator: "; "))")
    }

    /// The middle and the longest time of refusals, as a hint.
    var timing: [String] {
        milliseconds.sorted { $0.key < $1.key }.map { stage, times in
            let sorted = times.sorted()
            let middle = sorted[sorted.count / 2]
            return "\(stage): \(middle.oneDecimal) ms in the middle, \(sorted[sorted.count - 1].oneDecimal) ms at most"
        }
    }
}

/// A refusal in words, by where they stand: the status, each header field, and the body.
struct RefusalWords {
    let code: String
    fileprivate var parts: [String: [String]] = [:]

    /// Nil for what is no refusal.
    init?(_ answer: ConformanceAnswer) {
        guard case .refusal(let code, let body) = answer.content else { return nil }
        self.code = code
        parts["body"] = Self.words(String(decoding: body, as: UTF8.self))
        // Every server sends this time.
        for field in answer.fields where field.name.lowercased() != "date" {
            parts["\(field.name):", default: []] += Self.words(field.value) + ["\n"]
        }
    }

    /// The words of a text, and each character between them.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isWord = false
        for character in text {
            let continues = character.isLetter || character.isNumber || "-_:.+/=".contains(character)
            if continues && isWord { words[words.count - 1].append(character) } else { words.append(String(character)) }
            isWord = continues
        }
        return words
    }
}

/// What may vary between two refusals, as two answers to the same fault have shown.
struct RefusalMask {
    private var parts: Set<String> = []
    private var words: Set<String> = []
    private var lengths: Set<String> = []

    mutating func add(_ one: RefusalWords, _ other: RefusalWords) {
        for part in Set(one.parts.keys).union(other.parts.keys) {
            guard let left = one.parts[part], let right = other.parts[part], left.count == right.count else {
                parts.insert(part)
                continue
            }
            for index in left.indices where left[index] != right[index] {
                words.insert("\(part) \(index)")
                if left[index].count != right[index].count { lengths.insert("\(part) \(index)") }
            }
        }
    }

    /// The refusal with the lengths of words that may vary, and without the parts and lengths that may.
    func text(of refusal: RefusalWords) -> String {
        let kept = refusal.parts.filter { !parts.contains($0.key) }.sorted { $0.key < $1.key }
        let texts = kept.map { part, all in
            let masked = all.indices.map { index in
                let place = "\(part) \(index)"
                return !words.contains(place) ? all[index] : lengths.contains(place) ? "#" : "#\(all[index].count)"
            }
            return part + masked.joined(separator: "\u{1}")
        }
        return ([refusal.code] + texts).joined(separator: "\u{2}")
    }
}

extension Double {
    fileprivate var oneDecimal: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
