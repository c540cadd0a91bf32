/// Every target there is; the raw value is the name of its program and of its folder in `FailCases`.
package enum FuzzTargetKind: String, Sendable, CaseIterable {
    case spcContainer = "fuzz-spc-container"
    case spcPayload = "fuzz-spc-payload"
    case ckc = "fuzz-ckc"
    case workerFraming = "fuzz-worker-framing"
    case http1Head = "fuzz-http1-head"
    case http2Session = "fuzz-http2-session"
    case json = "fuzz-json"
    case token = "fuzz-token"
    case playerMessage = "fuzz-player-message"
    case cpix = "fuzz-cpix"
    case playlist = "fuzz-playlist"

    package var name: String { rawValue }

    package func makeTarget() throws -> any FuzzTarget {
        switch self {
        case .spcContainer: try SPCContainerTarget()
        case .spcPayload: try SPCPayloadTarget()
        case .ckc: try CKCTarget()
        case .workerFraming: WorkerFramingTarget()
        case .http1Head: HTTP1HeadTarget()
        case .http2Session: HTTP2SessionTarget()
        case .json: JSONTarget()
        case .token: try TokenTarget()
        case .playerMessage: PlayerMessageTarget()
        case .cpix: try CPIXTarget()
        case .playlist: PlaylistTarget()
        }
    }
}
