import Foundation
import Synchronization

/// Measures TLS 1.3 connections per second, each with one `GET /livez`, with full handshakes and with resumed sessions.
/// The reference is nginx with the same certificate (ECDSA P-256) and the same client.
struct HandshakeBenchmark {
    private static let threadCount = 8
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let daemon = try BenchmarkDaemon(speaksTLS: true)
        let nginx = try NginxServer(certificate: daemon.tlsCertificate, privateKey: daemon.tlsPrivateKey)
        for isResuming in [false, true] {
            try compare(daemon, nginx, isResuming: isResuming)
        }
    }

    private func compare(_ daemon: BenchmarkDaemon, _ nginx: NginxServer, isResuming: Bool) throws {
        var rates: [Double] = []
        var ratios: [Double] = []
        var costs: [Double] = []
        var costRatios: [Double] = []
        for _ in 0..<plan.rounds {
            let theirs = try measure(nginx.port, isResuming, nginx.cpuSeconds)
            let ours = try measure(daemon.port, isResuming, daemon.cpuSeconds)
            rates.append(ours.rate)
            ratios.append(ours.rate / theirs.rate)
            costs.append(ours.cpu)
            costRatios.append(ours.cpu / theirs.cpu)
        }
        print(
            """
            TLS 1.3, \(isResuming ? "resumed" : "full") handshakes with one request each: \(formatted(rates.median))/s, \
            \(formatted(ratios.median, decimals: 2)) x nginx; daemon CPU \(formatted(costs.median * 1e6)) us each, \
            \(formatted(costRatios.median, decimals: 2)) x nginx
            """)
    }

    private func measure(
        _ port: UInt16, _ isResuming: Bool, _ cpuSeconds: () throws -> Double
    ) throws -> (rate: Double, cpu: Double) {
        let before = try cpuSeconds()
        let start = ContinuousClock.now
        let load = HandshakeLoad(port: port, isResuming: isResuming)
        let count = try load.run(threads: Self.threadCount, for: .seconds(plan.secondsPerRound))
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        return (Double(count) / elapsed, (try cpuSeconds() - before) / Double(count))
    }
}

/// Threads that repeatedly connect, send one request and close.
private final class HandshakeLoad: Sendable {
    private struct Outcome {
        var count = 0
        var failure: (any Error)?
    }

    private static let request = Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    private let port: UInt16
    private let isResuming: Bool
    private let outcome = Mutex(Outcome())

    init(port: UInt16, isResuming: Bool) {
        self.port = port
        self.isResuming = isResuming
    }

    /// Returns the number of connections. Throws the first failure.
    func run(threads: Int, for duration: Duration) throws -> Int {
        let deadline = ContinuousClock.now + duration
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            Thread.detachNewThread { [self] in
                work(until: deadline)
                group.leave()
            }
        }
        group.wait()
        let final = outcome.withLock { $0 }
        if let failure = final.failure { throw failure }
        return final.count
    }

    private func work(until deadline: ContinuousClock.Instant) {
        do {
            let settings = try BenchmarkTLSSettings()
            var ticket: BenchmarkTLSTicket?
            var count = 0
            while ContinuousClock.now < deadline {
                let connection = try BlockingConnection(port: port, tls: settings, resuming: ticket)
                guard connection.isResumed == (ticket != nil) else {
                    throw BenchmarkError("a session was not resumed")
                }
                _ = try connection.exchange(Self.request)
                if isResuming { ticket = try connection.ticket() }
                count += 1
            }
            outcome.withLock { $0.count += count }
        } catch {
            outcome.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
