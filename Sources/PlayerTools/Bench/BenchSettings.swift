import CommandLineKit
import CommandSupport
import FairPlay
import Foundation
import HTTPCalls
import KeyCrypto
import PlayerMessages

/// The settings of one run of `latchkey bench`, from its arguments.
struct BenchSettings: Sendable {
    private static let requestMaximum = 5_000_000
    private static let closedLoopRequestCount = 20_000

    let url: URL
    let versions: [SPCVersion]
    let load: HTTPLoadSettings
    /// Requests per second; nil in a closed loop.
    let rate: Int?
    let seconds: Int
    /// The number of requests that are made ahead.
    let count: Int
    /// The number of SPCs in each request.
    let keyCount: Int
    let repeats: Bool
    let threadCount: Int
    let checkEvery: Int
    /// The longest permitted 99th percentile of the latency, in milliseconds; nil if any is permitted.
    let maximumP99: Int?
    let minimumRate: Int?

    init(_ arguments: Arguments) throws(CommandError) {
        url = try LicenseURL.parse(arguments.required(ServerArguments.url))
        guard LicenseURL.isLoopback(url) || arguments.isSet(BenchArguments.operatesServer) else {
            throw .usage(
                "\(url.host ?? "the server") is not this machine. The load can stop a server for its viewers. Add "
                    + "--i-operate-this-server if you operate it and may load it")
        }
        versions = try BenchArguments.versions(arguments)
        rate = try arguments.number(BenchArguments.rate, in: 1...1_000_000)
        seconds = Int(try arguments.seconds(BenchArguments.seconds, in: 1...86_400) ?? 10)
        repeats = arguments.isSet(BenchArguments.reuse)
        checkEvery =
            try arguments.number(BenchArguments.checkEvery, in: 1...Self.requestMaximum) ?? 100
        maximumP99 = try arguments.number(BenchArguments.maximumP99, in: 1...3_600_000)
        minimumRate = try arguments.number(BenchArguments.minimumRate, in: 1...1_000_000)
        count = try Self.count(arguments, rate: rate, seconds: seconds)
        keyCount = try arguments.number(BenchArguments.keys, in: 1...PlayerRequest.keyCountMaximum) ?? 1
        let threadCount = try arguments.number(BenchArguments.threads, in: 1...64) ?? 1
        self.threadCount = threadCount
        var load = try Self.load(arguments, url, threadCount: threadCount)
        if keyCount > 1 { load.mediaType = "application/json" }
        self.load = load
    }

    private static func count(_ arguments: Arguments, rate: Int?, seconds: Int) throws(CommandError) -> Int {
        let given = try arguments.number(BenchArguments.count, in: 1...requestMaximum)
        if let given { return given }
        guard let rate else { return closedLoopRequestCount }
        guard rate * seconds <= requestMaximum else {
            throw .usage("\(rate * seconds) requests are too many; give --count and --repeat")
        }
        return rate * seconds
    }

    /// The settings of one thread. The connections are divided among the threads.
    private static func load(
        _ arguments: Arguments, _ url: URL, threadCount: Int
    ) throws(CommandError) -> HTTPLoadSettings {
        let connections = try arguments.number(BenchArguments.connections, in: 1...20_000) ?? 64
        guard connections % threadCount == 0 else {
            throw .usage("--connections must be a multiple of --threads")
        }
        var load = HTTPLoadSettings(url: url.absoluteString)
        load.connectionCount = connections / threadCount
        load.streamsPerConnection = try arguments.number(BenchArguments.streams, in: 1...100) ?? 1
        load.startsNewConnections = arguments.isSet(BenchArguments.newConnections)
        load.offersHTTP2 = arguments.isSet(BenchArguments.http2)
        guard !load.offersHTTP2 || url.scheme?.lowercased() == "https" else {
            throw .usage("--http2 needs an address with https, because it is agreed upon in the TLS handshake")
        }
        guard load.streamsPerConnection == 1 || (load.offersHTTP2 && !load.startsNewConnections) else {
            throw .usage("--streams needs --http2, and contradicts --new-connections")
        }
        load.timeout = .seconds(try arguments.seconds(ClientNetwork.timeout, in: 1...120) ?? 30)
        if let path = arguments.value(ClientNetwork.authorities) {
            load.authorities = try CommandFile.read(path).revealed()
        }
        return load
    }

    var schedule: LoadSchedule {
        LoadSchedule(rate: rate, seconds: seconds, requestMaximum: repeats ? nil : count)
    }
}
