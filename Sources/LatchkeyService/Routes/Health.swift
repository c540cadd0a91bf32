import HTTPMessages
import HTTPServing
import Synchronization

/// Whether the daemon lives, and whether it wants requests: it does while it can issue any licence
/// (architecture, "When the database or the disk fails").
final class Health: Sendable {
    private let isReady = Atomic<Bool>(false)
    private let degradations: DegradationSource

    /// `degradations` tells what does not work now.
    init(degradations: DegradationSource = DegradationSource()) {
        self.degradations = degradations
    }

    func setReady(_ ready: Bool) {
        isReady.store(ready, ordering: .releasing)
    }

    /// Given by a loop that runs, so the answer itself is the proof.
    func liveResponse(_ id: RequestID) -> HTTPResponse {
        Self.response(.ok, Self.live, id)
    }

    /// 503 before the daemon serves, while it stops, and while it can issue no licence at all.
    func readyResponse(_ id: RequestID) -> HTTPResponse {
        response(to: degradations.current, id)
    }

    private func response(to degradations: [Degradation], _ id: RequestID, names: [UInt8] = []) -> HTTPResponse {
        let isReady = isReady.load(ordering: .acquiring) && !degradations.contains(where: \.stopsLicences)
        return isReady
            ? Self.response(.ok, Self.ready + names, id)
            : Self.response(.serviceUnavailable, Self.notReady + names, id)
    }

    /// The same for operators: a daemon that serves what it can without a part of it stays ready, and names the part.
    /// Otherwise an outage of what all nodes share would take all of them out at once.
    func detailedReadyResponse(_ id: RequestID) -> HTTPResponse {
        let degradations = degradations.current
        guard !degradations.isEmpty else { return readyResponse(id) }
        let names = DegradedPart.allCases.filter { part in degradations.contains { $0.part == part } }.map(\.rawValue)
        return response(to: degradations, id, names: Array("degraded: \(names.joined(separator: " "))\n".utf8))
    }

    /// What does not work now, with the reasons; nil if everything does.
    var degradedText: String? {
        let degradations = degradations.current
        guard !degradations.isEmpty else { return nil }
        return degradations.map { "\($0.part.rawValue): \($0.cause)" }.joined(separator: "; ")
    }

    private static let live = Array("ok\n".utf8)
    private static let ready = Array("ready\n".utf8)
    private static let notReady = Array("not ready\n".utf8)
    private static let fields: HTTPFields = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]

    /// Load balancers ask often: what is the same in every answer is made once, and there is room for the fields of
    /// CORS.
    private static func response(_ status: HTTPStatus, _ text: [UInt8], _ id: RequestID) -> HTTPResponse {
        var fields = HTTPFields(roomForFields: 8, bytes: 512)
        fields.append(contentsOf: Self.fields)
        fields.append("X-Request-Id", id.text)
        return HTTPResponse(status: status, fields: fields, body: text)
    }
}
