/// A field of an earlier version that is none any more. Its name leads to a message of its own, because the name was
/// right once. CHANGELOG.md has the reasons.
package enum RetiredField: Equatable, Sendable {
    case renamed(to: String)
    /// The value is the same everywhere now.
    case fixed(at: String)
    /// Nothing takes its place.
    case unneeded(because: String)

    /// The field of the path `path`, whose list indexes do not count; nil if no version had such a field.
    static func at(_ path: String) -> RetiredField? {
        let names = path.split(separator: ".").map { $0.prefix { $0 != "[" } }.joined(separator: ".")
        return all[names]
    }

    package static let all: [String: RetiredField] = [
        "entitlement.floor": .renamed(to: "limitsForEveryLicense"),
        "entitlement.retryWindow": .fixed(at: "2m"),
        "entitlement.revocationRefresh": .fixed(at: "2s"),
        "entitlement.callback.memory.capacity": .fixed(at: "16384"),
        "clock": .fixed(at: "{ stepTolerance: \"30s\", settleTime: \"1h\" }"),
        "cors.maximumAge": .fixed(at: "2h"),
        "fairplay.credentials.module.processorTime": .fixed(at: "2s"),
        "fairplay.credentials.sdk.processorTime": .fixed(at: "2s"),
        "ledger.checkpointEvery": .fixed(at: "5m"),
        "limits.bodyRateMinimum": .fixed(at: "1024"),
        "limits.headSizeMaximum": .fixed(at: "16384"),
        "limits.overload.waitingMaximum": .fixed(at: "8192"),
        "limits.targetSizeMaximum": .fixed(at: "8192"),
        "limits.tokenCacheCapacity": .fixed(at: "16384"),
        "limits.fieldCountMaximum": .fixed(at: "100"),
        "limits.chunkExtensionsSizeMaximum": .fixed(at: "1024"),
        "limits.trailerSizeMaximum": .fixed(at: "4096"),
        "limits.handshakeDeadline": .fixed(at: "10s"),
        "limits.bodyGrace": .fixed(at: "5s"),
        "limits.lingerDeadline": .fixed(at: "2s"),
        "limits.lingerSizeMaximum": .fixed(at: "262144"),
        "limits.smallRecordBurstMaximum": .fixed(at: "1000"),
        "limits.smallRecordRateMaximum": .fixed(at: "100"),
        "limits.requestsPerConnectionMaximum": .fixed(at: "100000"),
        "limits.http2": .unneeded(because: "the limits of HTTP/2 are always the same"),
        "keys.material": .unneeded(because: "keys are derived if there is a master secret"),
        "keys.generationFile": .unneeded(because: "derived keys can be made again"),
        "entitlement.dashIFStatus": .fixed(at: "false"),
        "fairplay.assumeOfflineKeySupport": .fixed(at: "false"),
        "listeners.admin.sessionIdle": .fixed(at: "15m"),
    ]
}
