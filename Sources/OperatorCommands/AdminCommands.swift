import ByteCoding
package import CommandLineKit
import CommandSupport
import HTTPCalls
import ServiceConfiguration

extension Command {
    /// `latchkey admin`
    package static let admin = Command(
        "admin",
        summary: "Take a running node out of service, and back; print its metrics; see what a token may do",
        details: """
            Asks the admin listener that the configuration names, with a token of it. The node tells load balancers by /readyz whether
            it wants requests; it serves all that come either way. The log has the order, with the name of the token. An order needs
            the role admin.
            """,
        examples: [
            "latchkey admin whoami --config /etc/latchkey/latchkey.json5 --token @admin-token-alice",
            "sudo -u latchkey latchkey admin drain --config /etc/latchkey/latchkey.json5",
            "sudo -u latchkey latchkey admin ready --config /etc/latchkey/latchkey.json5",
            "sudo -u latchkey latchkey admin metrics degraded --config /etc/latchkey/latchkey.json5",
        ],
        commands: [drain, endDrain, metrics, whoAmI])

    private static let drain = Command(
        "drain",
        summary: "Have the node answer /readyz with 503, and serve what comes all the same",
        details: """
            Load balancers then send new clients elsewhere. Stop the daemon when requests have ceased (latchkey_http_requests_total); the
            time since this order counts for drain.delay. The order ends with `latchkey admin ready`, and with the process.
            """,
        examples: ["latchkey admin drain --config latchkey.json5"],
        options: [adminConfig] + AdminClient.options,
        run: { arguments, context throws(CommandError) in
            let isChanged = try AdminClient.order(
                "/v1/drain", undoneBy: "latchkey admin ready", arguments, context)
            try context.print(
                isChanged ? "The node is not ready, and serves what comes." : "The node was not ready already.")
        })

    private static let endDrain = Command(
        "ready",
        summary: "End the order of `latchkey admin drain`",
        details: "/readyz then says again whether the node can issue licenses.",
        examples: ["latchkey admin ready --config latchkey.json5"],
        options: [adminConfig] + AdminClient.options,
        run: { arguments, context throws(CommandError) in
            let isChanged = try AdminClient.order(
                "/v1/ready", undoneBy: "latchkey admin drain", arguments, context)
            try context.print(isChanged ? "The order to drain has ended." : "No order to drain was in force.")
        })

    private static let metrics = Command(
        "metrics",
        summary: "Print the metrics of a running node, as Prometheus reads them",
        details: """
            Without a name, it prints all that GET /metrics answers. With names, it prints only the samples whose name begins with one of
            them, without help and type lines. The exit status is 1 if no metric begins with any of the names. The token needs the role
            metrics or admin.
            """,
        examples: [
            "latchkey admin metrics --config latchkey.json5",
            "latchkey admin metrics ready degraded licenses_refused --config latchkey.json5",
        ],
        operands: [
            CommandOperand(
                "NAME", help: "how the name of a metric begins; latchkey_ may be left out", isOptional: true,
                repeats: true)
        ],
        options: [adminConfig] + AdminClient.options,
        run: { arguments, context throws(CommandError) in
            let client = try AdminClient(
                arguments, try AdminClient.configuration(arguments, context), context, for: .scrape)
            let text = try client.metrics()
            guard !arguments.operands.isEmpty else {
                try context.printPart(Array(text.utf8))
                return
            }
            let found = MetricSamples(text, namedBy: arguments.operands)
            let missing = found.missing.joined(separator: ", ")
            guard !found.lines.isEmpty else { throw .failed("no metric begins with \(missing)") }
            try context.print(found.lines.joined(separator: "\n"))
            if !missing.isEmpty { context.note("no metric begins with \(missing)") }
        })

    private static let whoAmI = Command(
        "whoami",
        summary: "Say who the holder of an admin token is, and what the token allows",
        details: """
            Asks the daemon, which knows the roles that are in force. The ledger names the holder of a token token:NAME.
            """,
        examples: ["latchkey admin whoami --config latchkey.json5 --token @admin-token-alice"],
        options: [adminConfig] + AdminClient.options + [.json],
        run: { arguments, context throws(CommandError) in
            let client = try AdminClient(
                arguments, try AdminClient.configuration(arguments, context), context)
            let sender = try client.sender()
            try context.printResult(sender.text, or: sender.write, arguments)
        })
}

extension Command {
    fileprivate static let adminConfig = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, with address and token of its admin listener",
        takesVariable: true)
}

extension AdminClient {
    fileprivate static func configuration(
        _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> ConfigurationFile? {
        try arguments.value(Command.adminConfig).map { (path) throws(CommandError) in
            try OpenedLedger.configuration(path, context)
        }
    }

    /// What `GET /metrics` answers.
    fileprivate func metrics() throws(CommandError) -> String {
        let answer = try wrap({ (error: Failure) in CommandError.failed(error.text) }, try get("/metrics"))
        guard answer.status == 200 else { throw .failed(text(of: answer)) }
        return String(decoding: answer.body, as: UTF8.self)
    }

    /// Why an answer is not the good one: what the daemon says, or else its status.
    private func text(of answer: HTTPRoundTripAnswer) -> String {
        let detail = (try? JSONReader.parse(answer.body))?.object?["detail"]?.string
        return "\(name): \(detail ?? "status \(answer.status)")"
    }

    /// Who this program is for the daemon.
    fileprivate func sender() throws(CommandError) -> NamedSender {
        let answer = try wrap({ (error: Failure) in CommandError.failed(error.text) }, try get("/v1/whoami"))
        let body = (try? JSONReader.parse(answer.body))?.object
        guard answer.status == 200, let sender = body.flatMap({ NamedSender($0) }) else {
            throw .failed(text(of: answer))
        }
        return sender
    }

    /// Whether an order of an operator has changed something. `command` is the one that takes the order back.
    fileprivate static func order(
        _ path: String, undoneBy command: String, _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> Bool {
        let client = try AdminClient(
            arguments, try configuration(arguments, context), context, for: .operate)
        let answer = try wrap(
            { (error: Failure) -> CommandError in
                let more = error.mayTakeEffect ? "; the order may still take effect; \(command) takes it back" : ""
                return CommandError.failed(error.text + more)
            }, try client.post(path))
        let body = (try? JSONReader.parse(answer.body))?.object
        guard answer.status == 200, let isChanged = body?["changed"]?.bool else {
            throw .failed(client.text(of: answer))
        }
        return isChanged
    }
}

/// The lines of metrics whose names begin with one of several words.
private struct MetricSamples {
    private static let prefix = "latchkey_"

    /// Without the lines that explain a metric.
    let lines: [Substring]
    /// The words with which no metric begins.
    let missing: [String]

    /// `text` is in the text format of Prometheus.
    init(_ text: String, namedBy words: [String]) {
        let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let fits = { (sample: Substring, word: String) in
            sample.hasPrefix(word) || sample.hasPrefix(Self.prefix + word)
        }
        lines = samples.filter { sample in words.contains { fits(sample, $0) } }
        missing = words.filter { word in !samples.contains { fits($0, word) } }
    }
}

/// The answer of `GET /v1/whoami`.
private struct NamedSender {
    private let name: String?
    private let kind: String
    private let roles: [String]
    private let permissions: [String]
    private let actor: String?

    /// Nil if a member is missing.
    init?(_ object: JSONObject) {
        guard let kind = object["kind"]?.string, let roles = object["roles"]?.array,
            let permissions = object["permissions"]?.array
        else { return nil }
        name = object["name"]?.string
        self.kind = kind
        self.roles = roles.compactMap(\.string)
        self.permissions = permissions.compactMap(\.string)
        actor = object["actor"]?.string
    }

    var text: String {
        """
        Name:           \(name ?? "none: the listener has no credentials")
        Proof:          \(kind)
        Roles:          \(roles.isEmpty ? "none" : roles.joined(separator: ", "))
        Permissions:    \(permissions.joined(separator: ", "))
        In the ledger:  \(actor ?? "nothing, because it may change nothing")
        """
    }

    func write(to writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("kind", kind)
        for (member, words) in [("roles", roles), ("permissions", permissions)] {
            writer.member(member, words)
        }
        writer.member("actor", actor)
    }
}
