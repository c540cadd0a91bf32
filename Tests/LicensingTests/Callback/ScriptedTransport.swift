import ByteCoding
import Entitlements
import EventLoops
import Licensing
import Synchronization
import Telemetry

/// An operator's service that gives the answers that a test sets, and records the questions.
final class ScriptedTransport: CallbackTransport {
    enum Answer: Sendable {
        case allowed
        case denied(error: Int64)
        /// An answer with this JSON as its member `policy`.
        case policy(String)
        case token([UInt8])
        /// These bytes, as the answer to any question.
        case bytes([UInt8])
        case outage(CallbackOutage)
    }

    private let script: Mutex<Answer>
    private let asked = Mutex<[JSONObject]>([])
    private let traces = Mutex<[TraceContext?]>([])

    init(_ answer: Answer = .allowed) {
        script = Mutex(answer)
    }

    /// Sets the answer to all later questions.
    func answer(with answer: Answer) {
        script.withLock { $0 = answer }
    }

    var questions: [JSONObject] { asked.withLock { $0 } }
    /// The trace of each question.
    var tracesOfQuestions: [TraceContext?] { traces.withLock { $0 } }

    func ask(_ asked: CallbackQuestion, on loop: LoopContext) async throws(CallbackOutage) -> [UInt8] {
        guard let question = try? JSONReader.parse(asked.body).object, let id = question["messageID"]?.string else {
            throw .status(400)
        }
        self.asked.withLock { $0.append(question) }
        traces.withLock { $0.append(asked.trace) }
        let members: String
        switch script.withLock({ $0 }) {
        case .allowed: members = #""isAllowed":true"#
        case .denied(let error): members = #""isAllowed":false,"error":\#(error)"#
        case .policy(let policy): members = #""isAllowed":true,"policy":\#(policy)"#
        case .token(let token):
            members = #""isAllowed":true,"entitlement":"\#(String(decoding: token, as: UTF8.self))""#
        case .bytes(let bytes): return bytes
        case .outage(let outage): throw outage
        }
        return Array(#"{"messageID":"\#(id)","version":1,\#(members)}"#.utf8)
    }
}
