import HTTPMessages
import Telemetry

/// A request that is being answered, as the observer will hear of it.
struct HTTPExchange: Equatable {
    let method: HTTPMethod
    /// When its last byte had arrived.
    let startedAt: MonotonicTime
    /// Known once the handler has answered.
    var status: HTTPStatus?
}
