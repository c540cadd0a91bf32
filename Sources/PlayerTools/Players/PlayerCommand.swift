import ByteCoding
import CommandLineKit
import CommandSupport
import FairPlay
import Foundation
import KeyCrypto

/// The work of `latchkey device request --as`.
struct PlayerCommand {
    static let players = CommandOption(
        "--as", .value("PLAYER,PLAYER|all"),
        help: "send the requests of these players, read the answers as they do, and print a table")
    static let keyAddresses = CommandOption(
        "--skd", .value("URL"),
        help: "with --as: the key's address in the playlist, as skd://movie-1; one for each key",
        repeats: true)
    static let keyIDs = CommandOption(
        "--key-id", .value("UUID"),
        help: "with --as: the key ids, in the order of --skd, for players that take them from the media", repeats: true)

    static let options = [players, keyAddresses, keyIDs]

    private static let keyCountMaximum = 16

    private let arguments: Arguments
    private let context: CommandContext
    private let chosen: [Player]
    /// Whether the players were named one by one.
    private let areNamed: Bool
    private let trial: PlayerTrial

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        for option in DeviceRequestCommand.files + [DeviceArguments.assetID] where arguments.isSet(option) {
            throw .usage("\(option.name) is for one request; leave it out with --as")
        }
        let words = try arguments.required(Self.players)
        areNamed = words != "all"
        chosen = try Self.players(words)
        let uris = try Self.uris(arguments)
        let server = try ServerArguments(arguments, context)
        let network = try ClientNetwork(arguments)
        let device = try PlayerDevice(arguments, context)
        var certificate: Certificate?
        if let path = arguments.value(DeviceArguments.certificate) {
            certificate = try device.certificate(in: CommandFile.read(path).revealed(), path)
        }
        trial = PlayerTrial(
            device: device, network: network, address: try DeviceRequestCommand.address(server, arguments),
            token: server.bearer, uris: uris, certificate: certificate,
            certificateAddress: LicenseURL.certificate(beside: server.address),
            isOffline: arguments.isSet(DeviceRequestCommand.offline))
    }

    func run() throws(CommandError) {
        var progress = CommandProgress(context, unit: "players", total: chosen.count)
        defer { progress.clear() }
        var outcomes: [PlayerOutcome] = []
        for player in chosen {
            progress.show(outcomes.count)
            outcomes.append(try trial.run(player))
        }
        progress.clear()
        let report = PlayerReport(outcomes: outcomes)
        try context.printResult(report.text, or: report.write, arguments)
        let failed = report.failed(named: areNamed)
        guard failed.isEmpty else {
            throw .failed("\(failed.count) of \(chosen.count) players would not play: \(Self.list(failed))")
        }
        guard outcomes.contains(where: { $0.verdict.isGood }) else { throw .failed("no player was tried") }
    }

    /// Parses the value of `--as`. Returns each player once.
    static func players(_ words: String) throws(CommandError) -> [Player] {
        if words == "all" { return Player.allCases }
        var players: [Player] = []
        for word in words.split(separator: ",", omittingEmptySubsequences: false) {
            guard let player = Player(rawValue: String(word)) else {
                throw .usage("--as takes \"all\", or names with commas between them: \(list(Player.allCases))")
            }
            if !players.contains(player) { players.append(player) }
        }
        return players
    }

    private static func uris(_ arguments: Arguments) throws(CommandError) -> [KeyURI] {
        let texts = arguments.values(keyAddresses)
        guard (1...keyCountMaximum).contains(texts.count) else {
            throw .usage("--as needs --skd, once for each key and at most \(keyCountMaximum) times")
        }
        let ids = try arguments.values(keyIDs).map { (text) throws(CommandError) in
            guard let id = try? KeyID(parsing: text) else {
                throw .usage("--key-id takes a UUID or 32 hexadecimal digits")
            }
            return id
        }
        guard ids.isEmpty || ids.count == texts.count else {
            throw .usage("--key-id must be given once for each --skd, or not at all")
        }
        return try texts.indices.map { (index) throws(CommandError) in
            guard let uri = KeyURI(texts[index], keyID: ids.isEmpty ? nil : ids[index]) else {
                throw .usage("--skd takes an address such as skd://movie-1, of at most 1,024 printable characters")
            }
            return uri
        }
    }

    private static func list(_ players: [Player]) -> String {
        players.map(\.rawValue).joined(separator: ", ")
    }
}
