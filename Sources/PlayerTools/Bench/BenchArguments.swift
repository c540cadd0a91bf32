import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import Foundation
import HTTPCalls
import KeyCrypto
import PlayerMessages

/// The options of `latchkey bench`.
enum BenchArguments {
    static let token = CommandOption(
        "--token", .secret("TOKEN"),
        help: "the bearer token; or a file with one token a line, which requests take in turn", isRequired: true)
    static let assetID = CommandOption(
        "--asset-id", .value("ID|@FILE"),
        help: "the asset id: text, or \"hex:\" and its bytes; or a file with one a line, which SPCs take in turn",
        isRequired: true)
    static let version = CommandOption(
        "--spc-version", .value("1|2|3"),
        help: "the container version, or several with commas between them, which SPCs take in turn; 1 unless given")
    static let connections = CommandOption(
        "--connections", .value("N"), help: "connections at the same time, 1 to 20,000; 64 unless given")
    static let rate = CommandOption(
        "--rate", .value("N"),
        help: "requests per second, on a fixed schedule; without it each connection asks again after its answer")
    static let seconds = CommandOption(
        "--seconds", .value("DURATION"), help: "the time in which requests are sent, as 5m, up to 1d; 10s unless given")
    static let count = CommandOption(
        "--count", .value("N"),
        help:
            "requests to make ahead, up to 5,000,000, about 1 KB of memory for each SPC; unless given, as many as --rate "
            + "needs, or 20,000")
    static let keys = CommandOption(
        "--keys", .value("N"),
        help:
            "SPCs in each request, up to \(PlayerRequest.keyCountMaximum), for the next asset ids; 1 unless given")
    static let reuse = CommandOption(
        "--repeat", .flag,
        help: "send requests again when all are sent; the server may then repeat licenses, which costs less")
    static let newConnections = CommandOption(
        "--new-connections", .flag, help: "open a new connection for each request, with a full TLS handshake")
    static let http2 = CommandOption(
        "--http2", .flag, help: "offer HTTP/2 in the TLS handshake; the report has the version that was used")
    static let streams = CommandOption(
        "--streams", .value("N"),
        help: "requests at the same time on each connection of HTTP/2, 1 to 100; 1 unless given")
    static let threads = CommandOption(
        "--threads", .value("N"), help: "threads that send requests, 1 to 64; 1 unless given")
    static let checkEvery = CommandOption(
        "--check-every", .value("N"), help: "open and check the CKCs of every Nth request; 100 unless given")
    static let maximumP99 = CommandOption(
        "--max-p99", .value("MS"), help: "exit with status 1 if the 99th percentile of the latency is longer")
    static let minimumRate = CommandOption(
        "--min-rate", .value("N"), help: "exit with status 1 if there are fewer licenses per second")
    static let report = CommandOption("--report", .value("FILE"), help: "write the JSON object of --json to this file")
    static let operatesServer = CommandOption(
        "--i-operate-this-server", .flag,
        help: "say that you operate the server and may load it; required unless it is on this machine")

    static let options = [
        ServerArguments.url, token, DeviceArguments.certificate, DeviceArguments.applicationSecret,
        DeviceArguments.dask, assetID, version, connections, rate, seconds, count, keys, reuse, newConnections,
        http2, streams, threads, checkEvery, maximumP99, minimumRate, report, operatesServer, ClientNetwork.authorities,
        ClientNetwork.timeout, .json,
    ]

    /// The most bytes of a file of tokens or asset ids. A load may have a token of its own for each request.
    private static let listSizeMaximum = 64 << 20

    /// The words of an option: the value itself, the lines of `@FILE`, or those of standard input if the option takes a
    /// secret.
    static func words(
        _ option: CommandOption, _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> [String] {
        let text = try arguments.required(option)
        let contents: [UInt8]
        if text.hasPrefix("@") {
            contents = try CommandFile.read(String(text.dropFirst()), sizeMaximum: listSizeMaximum).revealed()
        } else if text == "-", case .secret = option.form {
            contents = try context.readInput(sizeMaximum: listSizeMaximum).revealed()
        } else {
            return [text]
        }
        let lines = String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw .failed("\(option.name): the file has no line with text") }
        return lines
    }

    static func tokens(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) -> [String] {
        let tokens = try words(token, arguments, context)
        // The line is named by its number, because a token is a secret.
        for (index, token) in tokens.enumerated() where !token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw .failed("--token: line \(index + 1) is not a token, which has printable characters without a space")
        }
        return tokens
    }

    static func assetIDs(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) -> [[UInt8]] {
        try words(assetID, arguments, context).map { (text) throws(CommandError) in
            guard let bytes = AssetIDText.bytes(text), (2...1024).contains(bytes.count) else {
                throw .usage("--asset-id takes 2 to 1,024 bytes, as text or as \"hex:\" and hexadecimal digits")
            }
            return bytes
        }
    }

    static func versions(_ arguments: Arguments) throws(CommandError) -> [SPCVersion] {
        try (arguments.value(version) ?? "1").split(separator: ",", omittingEmptySubsequences: false)
            .map { (text) throws(CommandError) in
                guard let version = UInt32(text).flatMap({ SPCVersion(rawValue: $0) }) else {
                    throw .usage("--spc-version takes 1, 2 or 3, or several of them with commas between them")
                }
                return version
            }
    }
}
