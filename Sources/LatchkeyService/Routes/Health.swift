import HTTPMessages
import HTTPServing
import Synchronization

/// Whether the daemon lives, and whether it wants requests.
final class Health: Sendable {
    private let isReady = Atomic<Bool>(false)
    private let degradedParts: @Sendable () -> [String]

    /// `degradedParts` names what does not work now, while the rest is served.
    init(degradedParts: @escaping @Sendable () -> [String] = { [] }) {
        self.degradedParts = degradedParts
    }

    func setReady(_ ready: Bool) {
        isReady.store(ready, ordering: .releasing)
    }

    /// Given by a loop that runs, so the answer itself is the proof.
    func liveResponse(_ id: RequestID) -> HTTPResponse {
        Self.response(.ok, Self.live, id)
    }

    /// 503 before the daemon serves and while it stops.
    func readyResponse(_ id: RequestID) -> HTTPResponse {
        isReady.load(ordering: .acquiring)
            ? Self.response(.ok, Self.ready, id) : Self.response(.serviceUnavailable, Self.notReady, id)
    }

    /// The same for operators: a daemon that serves what it can without a part of it stays ready, and names the part. Otherwise an outage of
    /// what all nodes share would take all of them out at once.
    func detailedReadyResponse(_ id: RequestID) -> HTTPResponse {
        let parts = degradedParts()
        guard isReady.load(ordering: .acquiring), !parts.isEmpty else { return readyResponse(id) }
        return Self.response(.ok, Self.ready + Array("degraded: \(parts.joined(separator: " "))\n".utf8), id)
    }

    private static let live = Array("ok\n".utf8)
    private static let ready = Array("ready\n".utf8)
    private static let notReady = Array("not ready\n".utf8)
    private static let fields: HTTPFields = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]

    /// Load balancers ask often: what is the same in every answer is made once, and there is room for the fields of CORS.
    private static func response(_ status: HTTPStatus, _ text: [UInt8], _ id: RequestID) -> HTTPResponse {
        var fields = HTTPFields(roomForFields: 8, bytes: 512)
        fields.append(contentsOf: Self.fields)
        fields.append("X-Request-Id", id.text)
        return HTTPResponse(status: status, fields: fields, body: text)
    }
}
