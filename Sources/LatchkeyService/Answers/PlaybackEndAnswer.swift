import ByteCoding
import HTTPMessages
import HTTPServing
import Telemetry

/// The answer to an SPC whose device says that playback has stopped: JSON, and no CKC.
enum PlaybackEndAnswer {
    static func response(at now: WallTime, _ id: RequestID) -> HTTPResponse {
        let body = JSONWriter.object { writer in
            writer.member("playback", "ended")
            writer.member("server_time", Problem.format(now))
        }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}
