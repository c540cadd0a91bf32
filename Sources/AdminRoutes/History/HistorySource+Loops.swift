package import EventLoops
import HTTPServing
import Licensing
import Telemetry

extension SharedLicensing {
    /// The series of the operator's plots whose numbers are counted in licensing.
    package func historySources(loopCount: Int) -> [HistorySeries: HistorySource] {
        let batches = unwrapTimes.batches
        return [.rsaBusy: .rate { batches.snapshot.sum / Double(max(1, loopCount)) }]
    }
}

extension ServerResources {
    /// The series about the public listeners, their loops, and the process.
    package func historySources(_ loops: [LoopContext]) -> [HistorySeries: HistorySource] {
        [
            .requestsInFlight: .level { [self] in Double(requestsInFlight) },
            .memoryCharged: .level { [self] in Double(memory.chargedSize) },
            .memoryResident: .level { ProcessMetrics.residentSize.map { Double($0) } },
            .processors: .rate { ProcessMetrics.processorSeconds ?? 0 },
            .loopLag: .peak { loops.reduce(0) { max($0, $1.lag / .seconds(1)) } },
            .longestTurn: .level { loops.reduce(0) { max($0, $1.longestTurn / .seconds(1)) } },
        ]
    }
}
