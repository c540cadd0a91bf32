package import ByteCoding
import FairPlay
import Licensing
package import Records
package import Telemetry

/// Why a request was refused, for an operator: the cause in a sentence, what was found and expected, and what to do.
///
/// Made from the entry in a daemon's memory, from the answer of its admin listener, or from a row of the ledger. None
/// of them has a secret.
package struct RefusalReport: Equatable, Sendable {
    /// Where a refusal was found.
    package enum Source: String, Sendable {
        /// Among the last refusals of a running daemon.
        case memory
        case ledger
    }

    package let source: Source
    package let requestID: String
    /// RFC 3339.
    package let time: String
    /// The kind of request, as the log names it.
    package let event: String
    /// The stable code of the answer, or a code of ExpressPlay's.
    package let code: String
    /// The words of the log.
    package let cause: String
    /// In the order in which they are shown; the words of the log.
    package private(set) var facts: [(name: String, value: String)]

    package static func == (one: RefusalReport, other: RefusalReport) -> Bool {
        one.source == other.source && one.requestID == other.requestID && one.time == other.time
            && one.event == other.event && one.code == other.code && one.cause == other.cause
            && one.facts.elementsEqual(other.facts) { $0 == $1 }
    }

    /// From the memory of the daemon, and what does not work in it now.
    package init(_ entry: RecentRefusals.Entry, degraded: String? = nil) {
        source = .memory
        requestID = entry.requestID
        time = Self.text(entry.time.seconds, entry.time.nanoseconds)
        (event, code, cause) = (entry.event, entry.code, entry.cause)
        let known = entry.facts.filter { !Self.isEmptyForm($0.name, $0.value) }
        facts =
            (entry.traceID.map { [(Self.traceID, $0)] } ?? []) + known
            + (degraded.map { [("degraded", $0)] } ?? [])
    }

    /// From a row of the ledger; nil if it is no refusal with a request id.
    package init?(_ entry: LedgerEntry) {
        guard entry.kind == .licenseRefused, let request = entry.request else { return nil }
        source = .ledger
        requestID = request
        // A row has whole seconds.
        time = UnixTime.text(entry.at)
        event = "license_refused"
        code = entry.detail
        // A cause with its numbers, as `RefusalCause.line` has them.
        let words = (entry.facts[.cause] ?? "").split(separator: " ")
        let numbers = words.suffix(2).compactMap { word in
            ["tag", "number"].first { word.hasPrefix($0 + "=") }.map { ($0, String(word.dropFirst($0.count + 1))) }
        }
        cause = numbers.count == 2 ? words.dropLast(2).joined(separator: " ") : words.joined(separator: " ")
        var all = entry.facts
        all[.cause] = nil
        all[.content] = entry.content
        all[.keyID] = entry.keyID?.description
        all[.device] = entry.stated?.text
        all[.subject] = entry.subject.map { Hexadecimal.encode($0.firstHalf.bytes) }
        facts = (numbers.count == 2 ? numbers : []) + all.all.map { ($0.name.word, $0.text) }
    }

    /// Reads the answer of an admin listener. Returns nil if the bytes are not a refusal.
    package init?(parsing answer: [UInt8]) {
        guard let object = (try? JSONReader.parse(answer))?.object else { return nil }
        func text(_ name: String) -> String? { object[name]?.string }
        guard let requestID = text("request_id"), let time = text("time"), let event = text("event"),
            let code = text("code"), let cause = text("cause")
        else { return nil }
        source = .memory
        (self.requestID, self.time, self.event) = (requestID, time, event)
        (self.code, self.cause) = (code, cause)
        facts = object.members.compactMap { member in
            guard !Self.ownMembers.contains(member.name) else { return nil }
            guard let value = member.node.string, !Self.isEmptyForm(member.name, value) else { return nil }
            return (member.name, value)
        }
    }

    private static let traceID = "trace_id"

    private static let ownMembers: Set = [
        "source", "request_id", "time", "event", "code", "cause", "explanation", "remedy",
    ]

    /// The members of the answer and of what `--json` prints. All values are texts.
    package func write(to writer: inout JSONWriter) {
        writer.member("source", source.rawValue)
        writer.member("request_id", requestID)
        writer.member("time", time)
        writer.member("event", event)
        writer.member("code", code)
        writer.member("cause", cause)
        writer.member("explanation", explanation)
        for fact in facts { writer.member(fact.name, fact.value) }
        writer.member("remedy", remedy)
    }

    /// Lines for a person.
    package var text: String {
        var lines = [
            "refused     \(code) (\(event)), \(time)", "request id  \(requestID)", "cause       \(explanation)",
        ]
        for fact in facts where !Self.formFacts.contains(fact.name) {
            lines.append(fact.name.padded(to: 12) + fact.value)
        }
        // Clients have chosen some of these texts.
        return (lines + ["what to do  \(remedy)"]).map(VisibleText.shown).joined(separator: "\n")
    }

    /// What the log has for programs, and `explanation` says in words.
    private static let formFacts: Set = ["tag", "number", "spc_version"]

    /// Whether the log has the fact only because all of its lines have it: a refusal without an SPC has no such number.
    private static func isEmptyForm(_ name: String, _ value: String) -> Bool {
        formFacts.contains(name) && value.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
    }

    /// Adds what the ledger says of the key that was not found, or of the revocation.
    package mutating func add(history: String) {
        facts.append((Self.history, history))
    }

    /// Whether `add(history:)` was called.
    package var hasHistory: Bool { facts.contains { $0.name == Self.history } }

    private static let history = "history"

    /// Adds the keys of the content that was asked for. Its name fits all of them, so it names none.
    package mutating func add(candidates: String) {
        facts.append(("candidates", candidates))
    }

    /// Whether a key was missing, so that the ledger may say where it went.
    package var isAboutMissingKey: Bool {
        [ProblemCode.keyNotFound, .contentMismatch].contains { $0.rawValue == code }
    }

    /// The key id by which the request asked for its key, and which names no live key; nil if it asked by another name.
    package var askedKeyID: KeyID? {
        guard isAboutMissingKey, let keyID = self[.keyID].flatMap({ try? KeyID(parsing: $0) }) else { return nil }
        guard let content = self[.content] else { return keyID }
        return (try? KeyID(parsing: content)) == keyID ? keyID : nil
    }

    /// Whether something is revoked, so that the ledger may say by whom.
    package var isAboutRevocation: Bool { code == ProblemCode.subjectDisabled.rawValue }

    /// The subject, as the ledger names it; nil if none is known.
    package var subjectPseudonym: Pseudonym? {
        self[.subject].flatMap { try? Hexadecimal.decode($0) }.flatMap { Bytes16($0) }.map { Pseudonym(short: $0) }
    }

    package subscript(name: RefusalFacts.Name) -> String? { facts.first { $0.name == name.word }?.value }

    /// The cause in a sentence.
    package var explanation: String {
        if let rejection { return "the SPC was rejected: \(rejection.explanation)" }
        return cause
    }

    /// The check that a rejected SPC has failed; nil for any other refusal, and for a row of the ledger.
    var rejection: SPCRejection? {
        guard code == ProblemCode.spcRejected.rawValue else { return nil }
        func number(_ name: String, radix: Int) -> UInt64 {
            facts.first { $0.name == name }.flatMap { UInt64($0.value, radix: radix) } ?? 0
        }
        return SPCRejection(logged: cause, tag: number("tag", radix: 16), number: number("number", radix: 10))
    }

    private static func text(_ seconds: Int64, _ nanoseconds: UInt32) -> String {
        UnixTime(seconds: seconds, nanoseconds: nanoseconds).map { RFC3339.format($0, precision: .milliseconds) }
            ?? "\(seconds) seconds since 1970"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        count < width ? self + String(repeating: " ", count: width - count) : self + " "
    }
}
