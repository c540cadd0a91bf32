package import CommandLineKit
import CommandSupport
import Foundation
import HTTPCalls
import KeyCrypto
import PackagerAPI
import ServiceConfiguration

extension Command {
    /// `latchkey lint`
    package static let lint = Command(
        "lint",
        summary: "Check the keys of a playlist, before players do",
        details: """
            Reads a media playlist, or a multivariant playlist and the media playlists that it names. Prints the faults of
            their keys: the line, the rule, and what to do. It does not search for other faults of playlists.

            With --config, it looks up each skd: address as the daemon does it for an SPC. The address must name a live key
            with the scheme of the segments and for the track of the playlist. --as prints the asset id that each of these
            players makes from the address, and looks that up.

            Playlists are read from the folder of the first one, or from its server, unless --follow-others is given;
            100 at most. The exit status is 0 without errors, 1 with errors, and 2 for a wrong command line.
            """,
        examples: [
            "latchkey lint movie/master.m3u8",
            "latchkey lint https://cdn.example.com/movie/master.m3u8 --config latchkey.json5",
            "latchkey lint video.m3u8 --config latchkey.json5 --as hls.js,video.js",
            "packager ... && latchkey lint master.m3u8 --strict --json",
        ],
        operands: [
            CommandOperand("PLAYLIST", help: "a file, an address of http or https, or \"-\" for standard input")
        ],
        options: [
            ConfiguredKeys.config, LintArguments.players, LintArguments.followOthers, LintArguments.strict, .json,
        ] + ClientNetwork.options,
        run: { arguments, context throws(CommandError) in
            try await LintArguments(arguments, context).run()
        })
}

/// The arguments of `latchkey lint`.
struct LintArguments {
    static let players = CommandOption(
        "--as", .value("PLAYER,PLAYER|all"), help: "print the asset ids that these players send, and look them up")
    static let followOthers = CommandOption(
        "--follow-others", .flag, help: "read playlists in other folders and on other servers too")
    static let strict = CommandOption("--strict", .flag, help: "treat warnings as errors")

    private let place: PlaylistPlace
    private let linter: PlaylistLinter
    private let isStrict: Bool
    private let printsJSON: Bool
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.context = context
        place = try PlaylistPlace(operand: arguments.operand(0))
        isStrict = arguments.isSet(Self.strict)
        printsJSON = arguments.isSet(.json)
        let players = try arguments.value(Self.players).map(PlayerCommand.players) ?? []
        let keys = try arguments.value(ConfiguredKeys.config).map { (path) throws(CommandError) in
            try ConfiguredKeys(configuration: path, context)
        }
        linter = PlaylistLinter(
            fetcher: try PlaylistFetcher(arguments, context), followsOthers: arguments.isSet(Self.followOthers),
            keys: keys, players: players)
    }

    func run() async throws(CommandError) {
        var report = try await linter.run(place)
        report.isStrict = isStrict
        if printsJSON {
            try context.printObject(report.write)
        } else {
            try context.print(report.text)
        }
        guard report.errorCount == 0 else { throw .failed("\(place.name): \(report.counts)") }
    }
}

/// Reads the texts of playlists, each of at most `PlaylistLimits.sizeMaximum` bytes.
struct PlaylistFetcher {
    private let network: ClientNetwork
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        network = try ClientNetwork(
            arguments, answerSizeMaximum: PlaylistLimits.sizeMaximum, sizeRemark: "no playlist should be",
            absenceRemark: "is this the address of the playlist?")
        self.context = context
    }

    /// Returns the text of a playlist. Throws the reason in words if it cannot be read.
    func read(_ place: PlaylistPlace) throws(CommandError) -> [UInt8] {
        switch place {
        case .standardInput:
            return try context.readInput(sizeMaximum: PlaylistLimits.sizeMaximum).revealed()
        case .file(let path):
            do throws(FileError) {
                let limit = PlaylistLimits.sizeMaximum
                return try FileReading.read(path, sizeMaximum: limit, permissions: .any).revealed()
            } catch .empty {
                return []
            } catch {
                throw .failed(error.description)
            }
        case .address(let url):
            return try read(url)
        }
    }

    private func read(_ url: URL) throws(CommandError) -> [UInt8] {
        let request = HTTPRoundTripRequest(
            .get, url.absoluteString, fields: ["Accept: application/vnd.apple.mpegurl, */*", "User-Agent: latchkey"])
        let answer: HTTPRoundTripAnswer
        do throws(ClientNetworkError) {
            answer = try network.perform(request, url)
        } catch {
            throw .failed(error.text)
        }
        let server = LicenseURL.hostAndPort(url)
        switch answer.status {
        case 200: return answer.body
        case 300..<400:
            throw .failed("\(server) answers with status \(answer.status); redirects are not followed")
        default: throw .failed("\(server) answers with status \(answer.status)")
        }
    }
}
