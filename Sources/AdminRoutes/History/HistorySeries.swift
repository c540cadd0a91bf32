/// One line of the operator's plots. The raw values are names in the API, and never change.
package enum HistorySeries: String, CaseIterable, Sendable {
    case licensesV1 = "licenses_v1"
    case licensesV2 = "licenses_v2"
    case licensesV3 = "licenses_v3"
    /// Of these licenses, the answers to copies of a request.
    case licensesRepeated = "licenses_repeated"

    /// All refusals of license requests, then their groups.
    case refusals
    case refusalsSPC = "refusals_spc"
    case refusalsToken = "refusals_token"
    case refusalsRights = "refusals_rights"
    case refusalsKey = "refusals_key"
    case refusalsOverload = "refusals_overload"
    case refusalsFault = "refusals_fault"
    case refusalsOther = "refusals_other"
    /// Tokens whose signature proves nothing: forged, or of an issuer or key that is not known.
    case refusalsUnproven = "refusals_unproven"
    /// What is refused before a token is verified: no token, or a body that is no request.
    case refusalsAnonymous = "refusals_anonymous"

    /// The time from a whole request to its license.
    case latencyMedian = "latency_p50"
    case latency99 = "latency_p99"

    /// The share of the loops' time that RSA operations take.
    case rsaBusy = "rsa_busy"
    /// The processors that the process uses.
    case processors
    /// The longest running turn of any loop that a sample has seen.
    case loopLag = "loop_lag"
    /// The longest turn of any loop in the last 30 to 60 seconds.
    case longestTurn = "loop_longest_turn"

    case requestsInFlight = "requests_in_flight"
    case connections
    case memoryCharged = "memory_charged"
    case memoryResident = "memory_resident"

    case http2xx = "http_2xx"
    case http3xx = "http_3xx"
    case http4xx = "http_4xx"
    case http5xx = "http_5xx"

    /// Writes that wait for the disk.
    case ledgerWaiting = "ledger_waiting"
    /// Rows that the copy of the ledger in PostgreSQL lacks.
    case ledgerLag = "ledger_lag"

    /// The unit of a series.
    enum Unit: String, Sendable {
        case perSecond = "per_second"
        case seconds
        /// From 0 to 1.
        case share
        case count
        case bytes
    }

    var unit: Unit {
        switch self {
        case .licensesV1, .licensesV2, .licensesV3, .licensesRepeated, .refusals, .refusalsSPC, .refusalsToken,
            .refusalsRights, .refusalsKey, .refusalsOverload, .refusalsFault, .refusalsOther, .refusalsUnproven,
            .refusalsAnonymous,
            .http2xx, .http3xx,
            .http4xx, .http5xx:
            .perSecond
        case .latencyMedian, .latency99, .loopLag, .longestTurn: .seconds
        case .rsaBusy: .share
        case .processors, .requestsInFlight, .connections, .ledgerWaiting, .ledgerLag: .count
        case .memoryCharged, .memoryResident: .bytes
        }
    }
}
