import ByteCoding
import CommandLineKit
import FairPlay
import Foundation
import HTTPCalls

/// The report of a load, as lines for a person and as a JSON object.
struct BenchReport {
    private static let shares: [(name: String, share: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
    ]

    let settings: BenchSettings
    let result: BenchResult

    private var tally: BenchTally { result.tally }

    /// Why the run counts as failed, in sentences. It is empty for a good run.
    var faults: [String] {
        var faults: [String] = []
        if let fault = tally.firstFault {
            faults.append(
                "a device would refuse \(tally.wrong) of \(tally.checked) checked CKCs. The first one: \(fault)")
        }
        if tally.failed > 0 { faults.append("\(tally.failed.counted("request")) got no answer") }
        if tally.licenses == 0 { faults.append("the server gave no license") }
        if let limit = settings.maximumP99, let p99 = tally.latency.percentile(0.99), p99 > limit * 1000 {
            faults.append("the 99th percentile of the latency is \(Self.milliseconds(p99)), longer than \(limit) ms")
        }
        if let limit = settings.minimumRate, tally.licensesPerSecond < limit {
            faults.append("there are \(tally.licensesPerSecond) licenses per second, fewer than \(limit)")
        }
        return faults
    }

    // MARK: Lines

    var lines: [String] {
        var lines = [
            "licenses      \(tally.licenses) in \(Self.seconds(tally.elapsed)): \(tally.licensesPerSecond) per second",
            "sent          \(tally.sent.counted("request")) over \(tally.connections.counted("connection"))"
                + (tally.unsent > 0 ? "; \(tally.unsent) more were due and not sent" : ""),
        ]
        for (name, count) in tally.results.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("answers       \(count) x \(name)")
        }
        lines.append("checked       \(tally.checked) CKCs, of which \(tally.wrong) are wrong")
        lines.append("latency       \(Self.line(of: tally.latency))")
        if settings.rate != nil { lines.append("since sent    \(Self.line(of: tally.serviceTime))") }
        lines.append("generator     \(Self.seconds(result.cpuTime)) of processor time")
        if endedEarly { lines.append("ended early   all requests were sent; make more by --count, or add --repeat") }
        return lines
    }

    /// Whether the load ended before its time, because all requests were sent.
    private var endedEarly: Bool {
        settings.rate == nil && !settings.repeats && tally.sent == settings.count
            && tally.elapsed < .seconds(settings.seconds)
    }

    private static func line(of histogram: LatencyHistogram) -> String {
        shares.compactMap { name, share in histogram.percentile(share).map { "\(name) \(milliseconds($0))" } }
            .joined(separator: ", ")
    }

    private static func milliseconds(_ microseconds: Int) -> String {
        String(format: "%.2f ms", Double(microseconds) / 1000)
    }

    private static func seconds(_ duration: Duration) -> String {
        String(format: "%.2f s", duration / .seconds(1))
    }

    // MARK: JSON

    func write(to writer: inout JSONWriter) {
        writer.member("format", "latchkey-bench-1")
        writer.object("settings") { writeSettings(to: &$0) }
        writer.member("isGood", faults.isEmpty)
        writer.member("endedEarly", endedEarly)
        writer.member("milliseconds", Int(tally.elapsed / .milliseconds(1)))
        writer.member("sent", tally.sent)
        writer.member("unsent", tally.unsent)
        writer.member("licenses", tally.licenses)
        writer.member("licensesPerSecond", tally.licensesPerSecond)
        writer.member("refused", tally.refused)
        writer.member("failed", tally.failed)
        writer.member("checked", tally.checked)
        writer.member("wrong", tally.wrong)
        Self.write("results", tally.results, to: &writer)
        Self.write("httpVersions", tally.versions, to: &writer)
        Self.write("latencyMicroseconds", tally.latency, to: &writer)
        Self.write("sinceSentMicroseconds", tally.serviceTime, to: &writer)
        writer.member("connections", tally.connections)
        writer.member("sentBytes", tally.sentBytes)
        writer.member("receivedBytes", tally.receivedBytes)
        writer.member("generatorMilliseconds", Int(result.cpuTime / .milliseconds(1)))
    }

    private func writeSettings(to writer: inout JSONWriter) {
        writer.member("url", settings.url.absoluteString)
        writer.array("spcVersions") { writer in
            for version in settings.versions { writer.integer(Int64(version.rawValue)) }
        }
        writer.member("connections", settings.load.connectionCount * settings.threadCount)
        writer.member("streamsPerConnection", settings.load.streamsPerConnection)
        writer.member("newConnections", settings.load.startsNewConnections)
        writer.member("http2", settings.load.offersHTTP2)
        writer.member("rate", settings.rate.map { Int64($0) })
        writer.member("seconds", settings.seconds)
        writer.member("spcCount", settings.count * settings.keyCount)
        writer.member("keysPerRequest", settings.keyCount)
        writer.member("repeats", settings.repeats)
        writer.member("threads", settings.threadCount)
        writer.member("checkEvery", settings.checkEvery)
    }

    private static func write(_ name: String, _ counts: [String: Int], to writer: inout JSONWriter) {
        writer.object(name) { writer in
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
        }
    }

    private static func write(_ name: String, _ histogram: LatencyHistogram, to writer: inout JSONWriter) {
        writer.object(name) { writer in
            writer.member("count", histogram.count)
            for (name, share) in shares {
                guard let value = histogram.percentile(share) else { continue }
                writer.member(name, value)
            }
        }
    }
}
