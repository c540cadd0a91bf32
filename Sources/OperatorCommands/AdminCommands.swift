import ByteCoding
package import CommandLineKit
import HTTPCalls

extension Command {
    /// `latchkey admin`
    package static let admin = Command(
        "admin",
        summary: "Take a running node out of service, and back",
        details: """
            Asks the admin listener that the configuration names, with its token. The node tells load balancers by /readyz whether it
            wants requests; it serves all that come either way. The log has the order, with the name of the token.
            """,
        examples: [
            "sudo -u latchkey latchkey admin drain --config /etc/latchkey/latchkey.json5",
            "sudo -u latchkey latchkey admin ready --config /etc/latchkey/latchkey.json5",
        ],
        commands: [drain, endDrain])

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
            let isChanged = try AdminClient.order("/v1/drain", arguments, context)
            try context.print(
                isChanged ? "The node is not ready, and serves what comes." : "The node was not ready already.")
        })

    private static let endDrain = Command(
        "ready",
        summary: "End the order of `latchkey admin drain`",
        details: "/readyz then says again whether the node can issue licences.",
        examples: ["latchkey admin ready --config latchkey.json5"],
        options: [adminConfig] + AdminClient.options,
        run: { arguments, context throws(CommandError) in
            let isChanged = try AdminClient.order("/v1/ready", arguments, context)
            try context.print(isChanged ? "The order to drain has ended." : "No order to drain was in force.")
        })
}

extension Command {
    fileprivate static let adminConfig = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, with address and token of its admin listener")
}

extension AdminClient {
    /// Whether an order of an operator has changed something.
    fileprivate static func order(
        _ path: String, _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> Bool {
        let file = try arguments.value(Command.adminConfig).map { (path) throws(CommandError) in
            try OpenedLedger.configuration(path, context)
        }
        let client = try AdminClient(arguments, file, context)
        let answer = try wrap({ (error: Failure) in CommandError.failed(error.text) }, try client.post(path))
        let body = (try? JSONReader.parse(answer.body))?.object
        guard answer.status == 200, let isChanged = body?["changed"]?.bool else {
            let detail = body?["detail"]?.string ?? "status \(answer.status)"
            throw .failed("\(client.name): \(detail)")
        }
        return isChanged
    }
}
