import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import Synchronization

/// A daemon with a key and tokens, from which licenses are requested.
struct LicenseTarget {
    let daemon: BenchmarkDaemon
    private let tokens: [String]

    /// Registers the key and mints the tokens.
    init(_ daemon: BenchmarkDaemon) throws {
        self.daemon = daemon
        try BenchmarkDaemon.tool([
            "keys", "import", "--config", daemon.configuration, "--content", "movie-1", "--key",
            Hexadecimal.encode(BenchmarkLicensing.contentKey), "--iv", Hexadecimal.encode(BenchmarkLicensing.contentIV),
        ])
        tokens = try (0..<8).map { index in
            try BenchmarkDaemon.tool([
                "token", "mint", "--config", daemon.configuration, "--content", "movie-1", "--lease", "300",
                "--subject", "viewer-\(index)",
            ])
        }
    }

    func load(_ version: SPCVersion, in shape: LoadShape = .raw) throws -> LicenseLoad {
        try LicenseLoad(RequestMaker(version, in: daemon.folder), tokens: tokens, shape: shape)
    }

    /// Returns the licenses per second, and the daemon's CPU seconds for each license.
    func run(_ load: LicenseLoad, connections: Int, seconds: Int) throws -> (rate: Double, cpuPerLicense: Double) {
        try run(load, over: try connect(connections), seconds: seconds)
    }

    /// Measures the same over open connections. The kernel distributes connections over the loops at random, so loads
    /// that are compared take turns on the same connections.
    func run(
        _ load: LicenseLoad, over connections: [BlockingConnection], seconds: Int
    ) throws -> (rate: Double, cpuPerLicense: Double) {
        try load.refill(forSeconds: seconds)
        let cpuBefore = try daemon.cpuSeconds()
        let (count, elapsed) = try load.run(over: connections, for: .seconds(seconds))
        return (
            Double(count) / (elapsed / .seconds(1)), (try daemon.cpuSeconds() - cpuBefore) / Double(count)
        )
    }

    func connect(_ count: Int) throws -> [BlockingConnection] {
        try (0..<count).map { _ in try BlockingConnection(port: daemon.port) }
    }

    /// Measures the same with `latchkey bench`, whose connections stay open, over the daemon's own transport. Each of
    /// the `count` SPCs is sent once.
    func bench(
        _ version: SPCVersion, connections: Int, count: Int, seconds: Int
    ) throws -> (rate: Double, cpuPerLicense: Double) {
        let tokens = daemon.folder.appending(path: "tokens")
        try self.tokens.joined(separator: "\n").write(to: tokens, atomically: false, encoding: .utf8)
        let fairplay = daemon.folder.appending(path: "fairplay")
        let before = try daemon.cpuSeconds()
        let output = try BenchmarkDaemon.tool(
            [
                "bench", "--url", daemon.url, "--asset-id", "movie-1", "--token", "@\(tokens.path)", "--certificate",
                fairplay.appending(path: "bundle.bin").path, "--application-secret",
                fairplay.appending(path: "application-secret.hex").path, "--spc-version", "\(version.rawValue)",
                "--connections", "\(connections)", "--count", "\(count)", "--seconds", "\(seconds)", "--json",
            ] + (daemon.speaksTLS ? ["--ca", daemon.tlsCertificate.path] : []))
        let report = try JSONReader.parse(Array(output.utf8)).object
        guard let licenses = report?["licenses"]?.number?.double,
            let milliseconds = report?["milliseconds"]?.number?.double, licenses > 0
        else { throw BenchmarkError("latchkey bench reported no license: \(output)") }
        return (licenses * 1000 / milliseconds, (try daemon.cpuSeconds() - before) / licenses)
    }
}

/// Makes SPCs for a daemon's certificate, on all cores.
struct RequestMaker: Sendable {
    private let certificate: Certificate
    private let ladder: ApplicationSecretKeyLadder
    private let options: DeviceOptions

    init(_ version: SPCVersion, in folder: URL) throws {
        let fairplay = folder.appending(path: "fairplay")
        let bits = version == .v1 ? "1024" : "2048"
        certificate = try Certificate(
            parsing: [UInt8](Data(contentsOf: fairplay.appending(path: "certificate-\(bits).der"))))
        let secret = try String(contentsOf: fairplay.appending(path: "application-secret.hex"), encoding: .utf8)
        ladder = try ApplicationSecretKeyLadder(
            .applicationSecret,
            SecretBytes(copying: Hexadecimal.decode(secret.trimmingCharacters(in: .whitespacesAndNewlines))))
        options = BenchmarkLicensing.deviceOptions(version)
    }

    func make(_ count: Int) throws -> [DeviceRequest] {
        let made = Mutex<Result<[DeviceRequest], any Error>>(.success([]))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        DispatchQueue.concurrentPerform(iterations: cores) { core in
            let part = Result {
                let device = SimulatedDevice(certificate: certificate, ladder: ladder, using: try CryptoContext())
                return try (0..<(count + core) / cores).map { _ in try device.makeRequest(options) }
            }
            made.withLock { made in made = made.flatMap { others in part.map { others + $0 } } }
        }
        return try made.withLock { try $0.get() }
    }
}

/// The form of a request with its SPC, and of the answer with the CKC.
enum LoadShape: String, CaseIterable {
    case raw
    /// The request is `spc=` and percent-encoded Base64, as in Shaka's tutorial. The answer is `<ckc>` around Base64.
    case form
    /// The request is `{"spc": …}`, the answer `{"ckc": …}`.
    case json = "JSON"

    var contentType: String {
        switch self {
        case .raw: "application/octet-stream"
        case .form: "application/x-www-form-urlencoded"
        case .json: "application/json"
        }
    }

    func body(_ spc: [UInt8]) -> [UInt8] {
        let text = Base64.encode(spc)
        switch self {
        case .raw: return spc
        case .form:
            let escaped = text.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
            return Array("spc=\(escaped)&assetId=movie-1".utf8)
        case .json: return Array(#"{"spc":"\#(text)","assetId":"movie-1"}"#.utf8)
        }
    }

    /// Returns the CKC of an answer. Throws if the answer has another shape.
    func ckc(_ answer: [UInt8]) throws -> [UInt8] {
        switch self {
        case .raw: return answer
        case .form:
            let text = String(decoding: answer, as: UTF8.self)
            guard text.hasPrefix("<ckc>"), text.hasSuffix("</ckc>") else { throw BenchmarkError("no <ckc> in \(text)") }
            return try Base64.decode(String(text.dropFirst(5).dropLast(6)))
        case .json:
            guard let text = try JSONReader.parse(answer).object?["ckc"]?.string else {
                throw BenchmarkError("no member ckc in an answer")
            }
            return try Base64.decode(text)
        }
    }
}

/// License requests on several connections at the same time, each with its own thread.
///
/// Each SPC is sent once. A repeated SPC would be opened from the cache, and its license would be a repeated one.
final class LicenseLoad: Sendable {
    /// The requests for one run.
    struct Batch {
        let requests: [DeviceRequest]
        /// The body of each request, in the shape of the load.
        let bodies: [[UInt8]]
        /// The whole requests, with head and body.
        let messages: [[UInt8]]
    }

    private struct Outcome {
        var count = 0
        var failure: (any Error)?
    }

    private struct State {
        var batch: Batch
        /// The licenses per second of the last run.
        var rate = 0.0
    }

    private let maker: RequestMaker
    private let tokens: [String]
    private let shape: LoadShape
    private let state: Mutex<State>
    private let outcome = Mutex(Outcome())

    init(_ maker: RequestMaker, tokens: [String], shape: LoadShape = .raw) throws {
        (self.maker, self.tokens, self.shape) = (maker, tokens, shape)
        let first = try Self.batch(maker, tokens, shape, count: BenchmarkLicensing.distinctRequestCount)
        state = Mutex(State(batch: first))
    }

    var batch: Batch { state.withLock { $0.batch } }

    /// Makes more new SPCs than the last run would have needed for this time.
    func refill(forSeconds seconds: Int) throws {
        let rate = state.withLock { $0.rate }
        let count = max(BenchmarkLicensing.distinctRequestCount, Int(rate * Double(seconds) * 1.3))
        let batch = try Self.batch(maker, tokens, shape, count: count)
        state.withLock { $0.batch = batch }
    }

    private static func batch(
        _ maker: RequestMaker, _ tokens: [String], _ shape: LoadShape, count: Int
    ) throws -> Batch {
        let requests = try maker.make(count)
        let bodies = requests.map { shape.body($0.message) }
        let messages = bodies.enumerated().map { index, body in
            let head = """
                POST /fps/license HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(tokens[index % tokens.count])\r\n\
                Content-Type: \(shape.contentType)\r\nContent-Length: \(body.count)\r\n\r\n
                """
            return Array(head.utf8) + body
        }
        return Batch(requests: requests, bodies: bodies, messages: messages)
    }

    /// Sends the batch until its end, or for the given time. Returns the number of licenses and the elapsed time.
    /// Throws the first failure, also if an opened license was wrong.
    func run(
        over connections: [BlockingConnection], for duration: Duration
    ) throws -> (count: Int, elapsed: Duration) {
        outcome.withLock { $0 = Outcome() }
        let batch = batch
        let start = ContinuousClock.now
        let group = DispatchGroup()
        for (index, connection) in connections.enumerated() {
            group.enter()
            let thread = Thread { [self] in
                work(batch, over: connection, from: index, step: connections.count, until: start + duration)
                group.leave()
            }
            thread.start()
        }
        group.wait()
        let elapsed = ContinuousClock.now - start
        let final = outcome.withLock { $0 }
        if let failure = final.failure { throw failure }
        state.withLock { $0.rate = Double(final.count) / (elapsed / .seconds(1)) }
        return (final.count, elapsed)
    }

    private func work(
        _ batch: Batch, over connection: BlockingConnection, from first: Int, step: Int,
        until deadline: ContinuousClock.Instant
    ) {
        do {
            let crypto = try CryptoContext()
            var count = 0
            for position in stride(from: first, to: batch.messages.count, by: step) {
                guard ContinuousClock.now < deadline else { break }
                let answer = try connection.exchange(batch.messages[position])
                count += 1
                if count % 97 == 1 {
                    try BenchmarkLicensing.check(try shape.ckc(answer), for: batch.requests[position], using: crypto)
                }
            }
            outcome.withLock { $0.count += count }
        } catch {
            outcome.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
