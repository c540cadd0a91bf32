import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import Synchronization

/// A daemon with a key, and tokens for it, that licences are asked of.
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
        LicenseLoad(requests: try makeRequests(version), tokens: tokens, shape: shape)
    }

    /// Licences per second, and the daemon's CPU seconds for each.
    func run(_ load: LicenseLoad, connections: Int, seconds: Int) throws -> (rate: Double, cpuPerLicense: Double) {
        try run(load, over: try connect(connections), seconds: seconds)
    }

    /// The same over connections that are open. The kernel spreads connections over the loops by chance, so loads that
    /// are compared take turns on the same ones.
    func run(
        _ load: LicenseLoad, over connections: [BlockingConnection], seconds: Int
    ) throws -> (rate: Double, cpuPerLicense: Double) {
        let cpuBefore = try daemon.cpuSeconds()
        let start = ContinuousClock.now
        let count = try load.run(over: connections, for: .seconds(seconds))
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        return (Double(count) / elapsed, (try daemon.cpuSeconds() - cpuBefore) / Double(count))
    }

    func connect(_ count: Int) throws -> [BlockingConnection] {
        try (0..<count).map { _ in try BlockingConnection(port: daemon.port) }
    }

    /// A script for `wrk` that asks for licences with distinct SPCs, in the daemon's folder.
    func writeScript(_ version: SPCVersion) throws -> URL {
        let load = try load(version)
        let requests = daemon.folder.appending(path: "requests-\(version.rawValue)")
        try Data(load.messages.joined()).write(to: requests)
        let script = daemon.folder.appending(path: "requests-\(version.rawValue).lua")
        try """
        local file = assert(io.open("\(requests.path)", "rb"))
        local requests = {}
        for _, size in ipairs({\(load.messages.map { "\($0.count)" }.joined(separator: ","))}) do
            requests[#requests + 1] = file:read(size)
        end
        local last = 0
        function request()
            last = last % #requests + 1
            return requests[last]
        end
        """.write(to: script, atomically: false, encoding: .utf8)
        return script
    }

    private func makeRequests(_ version: SPCVersion) throws -> [DeviceRequest] {
        let fairplay = daemon.folder.appending(path: "fairplay")
        let bits = version == .v1 ? "1024" : "2048"
        let certificate = try Certificate(
            parsing: [UInt8](Data(contentsOf: fairplay.appending(path: "certificate-\(bits).der"))))
        let secret = try String(contentsOf: fairplay.appending(path: "application-secret.hex"), encoding: .utf8)
        let ladder = try ApplicationSecretKeyLadder(
            .applicationSecret,
            SecretBytes(copying: Hexadecimal.decode(secret.trimmingCharacters(in: .whitespacesAndNewlines))))
        let device = SimulatedDevice(certificate: certificate, ladder: ladder, using: try CryptoContext())
        let options = BenchmarkLicensing.deviceOptions(version)
        return try (0..<BenchmarkLicensing.distinctRequestCount).map { _ in try device.makeRequest(options) }
    }
}

/// How a request carries its SPC, and its answer the CKC.
enum LoadShape: String, CaseIterable {
    case raw
    /// `spc=` and percent-encoded Base64, as Shaka's tutorial sends it; `<ckc>` around Base64 comes back.
    case form
    /// `{"spc": …}` and `{"ckc": …}`.
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

    /// Throws if the answer has another shape.
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

/// Licence requests on several connections at once, each with a thread.
final class LicenseLoad: Sendable {
    private struct Outcome {
        var count = 0
        var failure: (any Error)?
    }

    private let requests: [DeviceRequest]
    /// One for each request, in the shape of the load.
    let bodies: [[UInt8]]
    /// Whole requests, head and body.
    let messages: [[UInt8]]
    private let shape: LoadShape
    private let outcome = Mutex(Outcome())

    init(requests: [DeviceRequest], tokens: [String], shape: LoadShape = .raw) {
        self.requests = requests
        self.shape = shape
        let bodies = requests.map { shape.body($0.message) }
        self.bodies = bodies
        messages = bodies.enumerated().map { index, body in
            let head = """
                POST /fps/license HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(tokens[index % tokens.count])\r\n\
                Content-Type: \(shape.contentType)\r\nContent-Length: \(body.count)\r\n\r\n
                """
            return Array(head.utf8) + body
        }
    }

    /// How many licences came; throws the first failure, and when an opened licence was wrong.
    func run(over connections: [BlockingConnection], for duration: Duration) throws -> Int {
        outcome.withLock { $0 = Outcome() }
        let deadline = ContinuousClock.now + duration
        let group = DispatchGroup()
        for (index, connection) in connections.enumerated() {
            group.enter()
            let thread = Thread { [self] in
                work(over: connection, from: index, step: connections.count, until: deadline)
                group.leave()
            }
            thread.start()
        }
        group.wait()
        let final = outcome.withLock { $0 }
        if let failure = final.failure { throw failure }
        return final.count
    }

    private func work(
        over connection: BlockingConnection, from first: Int, step: Int, until deadline: ContinuousClock.Instant
    ) {
        do {
            let crypto = try CryptoContext()
            var index = first
            var count = 0
            while ContinuousClock.now < deadline {
                let position = index % requests.count
                let answer = try connection.exchange(messages[position])
                count += 1
                if count % 97 == 1 {
                    try BenchmarkLicensing.check(try shape.ckc(answer), for: requests[position], using: crypto)
                }
                index += step
            }
            outcome.withLock { $0.count += count }
        } catch {
            outcome.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
