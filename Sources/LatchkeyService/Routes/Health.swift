import HTTPMessages
import HTTPServing
import Synchronization

/// Answers whether the daemon is alive and whether it is ready for requests.
///
/// It is ready while it can issue any licence (architecture, "When the database or the disk fails").
final class Health: Sendable {
    private let isReady = Atomic<Bool>(false)
    private let degradations: DegradationSource

    /// Not ready before `setReady`. `degradations` has the parts that do not work now.
    init(degradations: DegradationSource = DegradationSource()) {
        self.degradations = degradations
    }

    func setReady(_ ready: Bool) {
        isReady.store(ready, ordering: .releasing)
    }

    /// Always 200: a running loop gives the answer, so the answer itself is the proof.
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

    /// The same answer for operators, with the names of degraded parts.
    ///
    /// A daemon that can still issue licences without a part stays ready. Otherwise an outage of PostgreSQL, which all
    /// nodes share, would make all of them not ready at the same time.
    func detailedReadyResponse(_ id: RequestID) -> HTTPResponse {
        let degradations = degradations.current
        guard !degradations.isEmpty else { return readyResponse(id) }
        let names = DegradedPart.allCases.filter { part in degradations.contains { $0.part == part } }.map(\.rawValue)
        return response(to: degradations, id, names: Array("degraded: \(names.joined(separator: " "))\n".utf8))
    }

    private static let live = Array("ok\n".utf8)
    private static let ready = Array("ready\n".utf8)
    private static let notReady = Array("not ready\n".utf8)
    private static let fields: HTTPFields = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]

    /// Load balancers ask often, so the constant fields are made once, and there is room for the fields of CORS.
    private static func response(_ status: HTTPStatus, _ text: [UInt8], _ id: RequestID) -> HTTPResponse {
        var fields = HTTPFields(roomForFields: 8, bytes: 512)
        fields.append(contentsOf: Self.fields)
        fields.append("X-Request-Id", id.text)
        return HTTPResponse(status: status, fields: fields, body: text)
    }
}
