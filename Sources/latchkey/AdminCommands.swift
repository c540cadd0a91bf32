import ByteCoding
import CommandLineKit
import OperatorCommands

extension Command {
    /// `latchkey admin`
    static let admin = Command(
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
        options: AdminConnection.options,
        run: { arguments, context throws(CommandError) in
            let isChanged = try AdminConnection(arguments, context).order("/v1/drain")
            try context.print(
                isChanged ? "The node is not ready, and serves what comes." : "The node was not ready already.")
        })

    private static let endDrain = Command(
        "ready",
        summary: "End the order of `latchkey admin drain`",
        details: "/readyz then says again whether the node can issue licences.",
        examples: ["latchkey admin ready --config latchkey.json5"],
        options: AdminConnection.options,
        run: { arguments, context throws(CommandError) in
            let isChanged = try AdminConnection(arguments, context).order("/v1/ready")
            try context.print(isChanged ? "The order to drain has ended." : "No order to drain was in force.")
        })
}

extension AdminConnection {
    /// Whether an order of an operator has changed something.
    fileprivate func order(_ path: String) throws(CommandError) -> Bool {
        let answer = try post(path)
        guard let body = (try? JSONReader.parse(answer))?.object, let isChanged = body["changed"]?.bool else {
            throw .failed("the answer of \(place) is none of a Latchkey admin listener")
        }
        return isChanged
    }
}
