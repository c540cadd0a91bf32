import ByteCoding
import HTTPMessages
import HTTPServing
import Telemetry

/// The answer to an SPC whose device says that playback has stopped: JSON, and no CKC.
enum PlaybackEndAnswer {
    /// The value of the member `playback`.
    static let word = "ended"

    static func response(at now: WallTime, _ id: RequestID) -> HTTPResponse {
        let body = JSONWriter.object { writer in
            writer.member("playback", word)
            writer.member("server_time", Problem.format(now))
        }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
