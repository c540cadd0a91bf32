import DeviceSimulation
import FairPlay

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
