import HTTPMessages
import Synchronization

/// Whether the daemon lives, and whether it wants requests.
final class Health: Sendable {
    private let isReady = Atomic<Bool>(false)

    func setReady(_ ready: Bool) {
        isReady.store(ready, ordering: .releasing)
    }

    /// Given by a loop that runs, so the answer itself is the proof.
    func liveResponse(_ id: RequestID) -> HTTPResponse {
        Self.response(.ok, "ok\n", id)
    }

    /// 503 before the daemon serves and while it stops.
    func readyResponse(_ id: RequestID) -> HTTPResponse {
        isReady.load(ordering: .acquiring)
            ? Self.response(.ok, "ready\n", id) : Self.response(.serviceUnavailable, "not ready\n", id)
    }

    private static func response(_ status: HTTPStatus, _ text: String, _ id: RequestID) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "X-Request-Id": id.text,
        ]
        return HTTPResponse(status: status, fields: fields, body: Array(text.utf8))
    }
}
