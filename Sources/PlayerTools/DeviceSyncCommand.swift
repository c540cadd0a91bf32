import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import Foundation

extension Command {
    /// `latchkey device sync`
    static let deviceSync = Command(
        "sync",
        summary: "Report the device's stored keys to a license server, and show its answer",
        details: """
            Makes an SPC with a sync block, sends it with the token, and prints the server's answer, which is JSON and no CKC. The
            answer must repeat the report; otherwise the exit status is 1.

            A report of version 2 has a challenge, a number from the server that proves that the report is fresh. Unless a
            challenge is given, it is fetched with the same token. It can be used once.
            """,
        examples: [
            "latchkey device sync --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token "
                + "--title-id 000102030405060708090a0b0c0d0e0f --remaining 86400",
            "latchkey device sync --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token "
                + "--sync invalidate --stream-id 101112131415161718191a1b1c1d1e1f --challenge none --json",
        ],
        options: [ServerArguments.url, ServerArguments.token, SyncArguments.syncOrReport] + SyncArguments.details
            + [DeviceSyncCommand.challenge, DeviceSyncCommand.challengeURL] + DeviceArguments.options
            + [ServerArguments.saveSPC, ServerArguments.secrets] + ClientNetwork.options + [.json],
        run: { arguments, context throws(CommandError) in
            try DeviceSyncCommand(arguments, context).run()
        })
}

private struct DeviceSyncCommand {
    static let challenge = CommandOption(
        "--challenge", .value("fetch|none|HEX"),
        help: "the server's challenge, 16 digits; fetched unless given. Version 1 has none")
    static let challengeURL = CommandOption(
        "--challenge-url", .value("URL"), help: "where the challenge is fetched, if not beside the license route")

    private let arguments: Arguments
    private let context: CommandContext
    private let server: ServerArguments
    private let client: LicenseClient
    private let sync: SyncArguments

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        sync = try SyncArguments(arguments)
        server = try ServerArguments(arguments, context)
        client = try LicenseClient(arguments, bearer: server.bearer)
    }

    func run() throws(CommandError) {
        let report = sync.report(challenge: try challenge())
        let (request, _) = try DeviceArguments.makeRequest(arguments, context, sync: .report(report))
        try request.save(arguments)
        let answer = try client.post(spc: request.message, to: server.address, accepting: "application/json")
        guard answer.status == 200 else { throw .failed(LicenseProblem(answer).description) }
        let parsed = try SyncAnswerReading(answer)
        try parsed.check(report)
        try context.printResult(parsed.lines.joined(separator: "\n"), or: parsed.write, arguments)
    }

    /// The challenge for the report; 0 for none.
    private func challenge() throws(CommandError) -> UInt64 {
        let given = arguments.value(Self.challenge)
        guard sync.takesChallenge else {
            guard given == nil || given == "none" else { throw .usage("--challenge needs --sync-version 2") }
            return 0
        }
        switch given {
        case nil, "fetch": return try fetchChallenge()
        case "none": return 0
        case .some(let text):
            guard let number = text.sixteenDigits else {
                throw .usage("--challenge takes fetch, none, or 16 hexadecimal digits")
            }
            return number
        }
    }

    private func fetchChallenge() throws(CommandError) -> UInt64 {
        let url =
            if let text = arguments.value(Self.challengeURL) {
                try LicenseURL.parseChallenge(text)
            } else {
                LicenseURL.challenge(beside: server.address)
            }
        let answer = try client.postNothing(to: url)
        guard answer.status == 200 else {
            throw .failed("the server gave no challenge: \(LicenseProblem(answer).description)")
        }
        let object = (try? JSONReader.parse(answer.body))?.object
        guard let challenge = object?["challenge"]?.string?.sixteenDigits, challenge != 0 else {
            throw .failed("the server gave no challenge: the answer of \(url.path) is \(FileKind(answer.body))")
        }
        return challenge
    }
}

/// A server's answer to a sync SPC: a JSON object whose member `offline-sync` repeats the report.
private struct SyncAnswerReading {
    private let members: JSONObject
    private let sync: JSONObject

    init(_ answer: ReceivedLicense) throws(CommandError) {
        guard let members = (try? JSONReader.parse(answer.body))?.object,
            let sync = members["offline-sync"]?.object
        else {
            throw .failed(
                "the server did not treat the SPC as a sync SPC (status 200, request id "
                    + "\(LicenseProblem.printable(answer.requestID ?? "none"))): its answer is \(FileKind(answer.body))"
            )
        }
        self.members = members
        self.sync = sync
    }

    func write(to writer: inout JSONWriter) {
        for member in members.members {
            writer.name(member.name)
            writer.node(member.node)
        }
    }

    /// The answer as text: a line for each member, those of the report first.
    var lines: [String] {
        sync.members.flatMap { Self.lines($0.name, $0.node) }
            + members.members.filter { $0.name != "offline-sync" }.flatMap { Self.lines($0.name, $0.node) }
    }

    private static func lines(_ name: String, _ node: JSONNode) -> [String] {
        if let object = node.object {
            let set = object.members.filter { $0.node.bool == true }.map(\.name)
            return [line(name, set.isEmpty ? "none" : set.joined(separator: ", "))]
        }
        if let array = node.array { return array.map { line(name, text(of: $0)) } }
        return [line(name, text(of: node))]
    }

    private static func line(_ name: String, _ value: String) -> String {
        let name = LicenseProblem.printable(name)
        return name + String(repeating: " ", count: max(1, 24 - name.count)) + LicenseProblem.printable(value)
    }

    private static func text(of node: JSONNode) -> String {
        if let text = node.string { return text }
        if let number = node.number { return number.text }
        return node.isNull ? "none" : node.bool == true ? "yes" : "no"
    }

    /// Throws if the answer does not repeat the report.
    func check(_ report: SyncReport) throws(CommandError) {
        var expected: [(String, Bool)] = [
            ("duration-to-expiry", isNumber("duration-to-expiry", UInt64(report.remaining.wireValue)))
        ]
        switch report.subject {
        case .version1(let contentID):
            expected += [
                ("version", isNumber("version", 1)), ("content-id", isText("content-id", contentID.bytes)),
            ]
        case .version2(let details):
            expected += [
                ("version", isNumber("version", 2)), ("title-id", isText("title-id", details.titleID.bytes)),
                ("server-challenge", isText("server-challenge", Bytes16(high: details.challenge, low: 0).bytes[..<8])),
                ("records-invalidated", isNumber("records-invalidated", UInt64(details.streamIDs.count))),
                ("invalidated-stream-ids", streamIDs == details.streamIDs.map { Hexadecimal.encode($0.bytes) }),
            ]
        }
        guard let wrong = expected.first(where: { !$0.1 }) else { return }
        throw .failed("the server's answer does not repeat the report: \"\(wrong.0)\" is missing or differs")
    }

    private func isNumber(_ name: String, _ value: UInt64) -> Bool {
        sync[name]?.number?.unsigned == value
    }

    private func isText(_ name: String, _ bytes: some Sequence<UInt8>) -> Bool {
        sync[name]?.string?.lowercased() == Hexadecimal.encode(bytes)
    }

    private var streamIDs: [String]? {
        sync["invalidated-stream-ids"]?.array?.compactMap { $0.string?.lowercased() }
    }
}
