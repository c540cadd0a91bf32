import ByteCoding
import HTTPMessages
import HTTPServing
import Telemetry

/// `GET /v1/refusals/REQUEST-ID` of the admin listener: why a request was refused, if it is among the last 10,000.
struct RefusalEndpoint: Sendable {
    static let prefix = "/v1/refusals/"

    let recent: RecentRefusals

    /// Nil if the request is not known, or not any longer.
    func response(to request: HTTPRequest, id: RequestID) -> HTTPResponse? {
        guard let entry = recent.entry(of: String(request.path.dropFirst(Self.prefix.count))) else { return nil }
        let body = JSONWriter.object { writer in
            writer.member("request_id", entry.requestID)
            writer.member("time", Problem.format(entry.time))
            writer.member("event", entry.event)
            writer.member("code", entry.code)
            writer.member("cause", entry.cause)
            for number in entry.numbers { writer.member(number.name, number.value) }
        }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
