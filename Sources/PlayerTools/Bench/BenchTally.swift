/// What the threads of a load have counted.
struct BenchTally: Equatable, Sendable {
    /// The most different results that are counted by name, because a server can send any code.
    private static let resultMaximum = 64

    /// The number of requests that were sent.
    var sent = 0
    /// The number of requests that were due and not sent, because no connection was free before the end.
    var unsent = 0
    var licenses = 0
    /// The number of keys that were refused. An answer with another status than 200 refuses all keys of its request.
    var refused = 0
    /// The number of requests without an answer.
    var failed = 0
    /// The number of checked CKCs, and of those that a device would refuse.
    var checked = 0
    var wrong = 0
    /// Why the first wrong CKC is wrong.
    var firstFault: String?
    /// The number of answers by status and code, and of failures by libcurl's text.
    private(set) var results: [String: Int] = [:]
    private(set) var versions: [String: Int] = [:]
    /// The latency of requests whose keys all have a license: from the time at which a request was due, or was sent in
    /// a closed loop.
    var latency = LatencyHistogram()
    /// The time from sending to the answer, of the same requests.
    var serviceTime = LatencyHistogram()
    var connections = 0
    /// The sizes of all bodies.
    var sentBytes = 0
    var receivedBytes = 0
    /// The time from the start to the last answer.
    var elapsed: Duration = .zero

    mutating func note(result: String) {
        let isKnown = results[result] != nil || results.count < Self.resultMaximum
        results[isKnown ? result : "others", default: 0] += 1
    }

    mutating func note(version: String) {
        versions[version, default: 0] += 1
    }

    /// Adds what another thread has counted.
    mutating func merge(_ other: BenchTally) {
        sent += other.sent
        unsent += other.unsent
        licenses += other.licenses
        refused += other.refused
        failed += other.failed
        checked += other.checked
        wrong += other.wrong
        firstFault = firstFault ?? other.firstFault
        results.merge(other.results, uniquingKeysWith: +)
        versions.merge(other.versions, uniquingKeysWith: +)
        latency.merge(other.latency)
        serviceTime.merge(other.serviceTime)
        connections += other.connections
        sentBytes += other.sentBytes
        receivedBytes += other.receivedBytes
        elapsed = max(elapsed, other.elapsed)
    }

    /// Licenses per second, rounded.
    var licensesPerSecond: Int {
        elapsed > .zero ? Int((Double(licenses) / (elapsed / .seconds(1))).rounded()) : 0
    }
}
