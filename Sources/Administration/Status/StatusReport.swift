package import ByteCoding

/// The state of a daemon for an operator: what it serves, what does not work, and what needs attention soon.
///
/// Times are in seconds since 1970. What an installation does not have is nil or empty.
package struct StatusReport: Equatable, Sendable {
    /// What changes rarely. Readers hear of each change.
    package struct Condition: Equatable, Sendable {
        package var isReady: Bool
        /// Why the node is ready or not, in a few words.
        package var readiness: String
        package var drain: Drain?
        /// Whether the daemon is stopping.
        package var isStopping: Bool
        package var degraded: [DegradedPart]

        package init(isReady: Bool, readiness: String, drain: Drain?, isStopping: Bool, degraded: [DegradedPart]) {
            self.isReady = isReady
            self.readiness = readiness
            self.drain = drain
            self.isStopping = isStopping
            self.degraded = degraded
        }

        /// The whole in one word.
        package var state: NodeState {
            if isStopping { return .stopping }
            if drain != nil { return .drained }
            return !isReady ? .notReady : degraded.isEmpty ? .ready : .degraded
        }
    }

    /// What the state of a node may be, in one word.
    package enum NodeState: String, Sendable {
        case ready, degraded, drained, stopping
        case notReady = "not_ready"
    }

    /// An operator's order that the node is not ready.
    package struct Drain: Equatable, Sendable {
        package let actor: String
        package let since: Int64

        package init(actor: String, since: Int64) {
            self.actor = actor
            self.since = since
        }
    }

    /// A part that does not work.
    package struct DegradedPart: Equatable, Sendable {
        package let name: String
        package let cause: String
        package let remedy: String

        package init(name: String, cause: String, remedy: String) {
            self.name = name
            self.cause = cause
            self.remedy = remedy
        }
    }

    /// Something that ends at a known time, for example a certificate.
    package struct End: Equatable, Sendable {
        package let kind: String
        package let name: String
        package let endsAt: Int64

        package init(kind: String, name: String, endsAt: Int64) {
            self.kind = kind
            self.name = name
            self.endsAt = endsAt
        }
    }

    /// A node that shares the database.
    package struct Node: Equatable, Sendable {
        package let name: String
        /// The id of the node's ledger.
        package let ledger: String
        package let isThis: Bool
        package let seenAt: Int64
        /// What the node said then; nil while it starts.
        package var version: String?
        package var state: String?
        /// Its licenses of the five minutes before.
        package var licenses: Int64?
        /// How far the node's clock is ahead of the database's. Only this node's is known.
        package var clockOffset: Double?
        /// The rows of the node's ledger that the database lacks. Only this node's are known.
        package var ledgerLag: Int64?

        package init(name: String, ledger: String, isThis: Bool, seenAt: Int64) {
            self.name = name
            self.ledger = ledger
            self.isThis = isThis
            self.seenAt = seenAt
        }
    }

    /// The node's clock.
    package struct Clock: Equatable, Sendable {
        /// The word that `latchkey clock show` has.
        package let state: String
        /// How far the clock is ahead of the database's; nil without a database or before the first measurement.
        package let databaseOffset: Double?
        /// How far the clock is ahead of where it should be; 0 while it is trusted.
        package let step: Double

        package init(state: String, databaseOffset: Double?, step: Double) {
            self.state = state
            self.databaseOffset = databaseOffset
            self.step = step
        }
    }

    /// The memory of the daemon, in bytes.
    package struct Memory: Equatable, Sendable {
        /// What is held for clients.
        package let charged: Int
        package let budget: Int
        package let resident: Int?

        package init(charged: Int, budget: Int, resident: Int?) {
            self.charged = charged
            self.budget = budget
            self.resident = resident
        }
    }

    /// An address at which the daemon serves.
    package struct Listener: Equatable, Sendable {
        /// As in the configuration, for example `admin[0]`.
        package let name: String
        package let address: String
        package let hasTLS: Bool

        package init(name: String, address: String, hasTLS: Bool) {
            self.name = name
            self.address = address
            self.hasTLS = hasTLS
        }
    }

    /// What a page of an origin asks for in preflights, and what the CORS settings do not allow.
    package struct Preflight: Equatable, Sendable {
        package let origin: String
        /// The header that the page wants to send; empty if the origin itself is not allowed.
        package let header: String
        package var count: UInt64
        package var lastAt: Int64

        package init(origin: String, header: String, count: UInt64, lastAt: Int64) {
            self.origin = origin
            self.header = header
            self.count = count
            self.lastAt = lastAt
        }

        /// What happened, for an operator.
        package var text: String {
            header.isEmpty
                ? "pages at \(origin) may not read answers, because the origin is not listed"
                : "pages at \(origin) ask for the header \(header), which is not allowed"
        }

        /// What to do if the page is the operator's own.
        package var remedy: String {
            header.isEmpty
                ? "if it is a page of yours, add \(origin) to cors.origins"
                : "if it is a page of yours, add \(header) to cors.allowedHeaders"
        }
    }

    package var node: String
    package var version: String
    package var startedAt: Int64
    package var now: Int64
    package var condition: Condition
    package var ends: [End]
    package var nodes: [Node]
    package var clock: Clock
    package var memory: Memory
    package var listeners: [Listener]
    package var preflights: [Preflight]

    package init(
        node: String, version: String, startedAt: Int64, now: Int64, condition: Condition, ends: [End] = [],
        nodes: [Node] = [], clock: Clock, memory: Memory, listeners: [Listener] = [], preflights: [Preflight] = []
    ) {
        self.node = node
        self.version = version
        self.startedAt = startedAt
        self.now = now
        self.condition = condition
        self.ends = ends
        self.nodes = nodes
        self.clock = clock
        self.memory = memory
        self.listeners = listeners
        self.preflights = preflights
    }
}

extension StatusReport {
    /// Writes the members of the answer to `GET /v1/status`.
    package func write(to writer: inout JSONWriter) {
        writer.member("node", node)
        writer.member("version", version)
        writer.member("startedAt", startedAt)
        writer.member("now", now)
        condition.write(to: &writer)
        writer.objects("ends", ends) { writer, end in
            writer.member("kind", end.kind)
            writer.member("name", end.name)
            writer.member("endsAt", end.endsAt)
        }
        writer.objects("nodes", nodes) { writer, node in
            writer.member("node", node.name)
            writer.member("ledger", node.ledger)
            writer.member("isThis", node.isThis)
            writer.member("seenAt", node.seenAt)
            writer.member("version", node.version)
            writer.member("state", node.state)
            writer.member("licenses", node.licenses)
            writer.member("clockOffsetSeconds", node.clockOffset)
            writer.member("ledgerLagRows", node.ledgerLag)
        }
        writer.object("clock") { writer in
            writer.member("state", clock.state)
            writer.member("databaseOffsetSeconds", clock.databaseOffset)
            writer.member("stepSeconds", clock.step)
        }
        writer.object("memory") { writer in
            writer.member("charged", memory.charged)
            writer.member("budget", memory.budget)
            writer.member("resident", memory.resident.map { Int64($0) })
        }
        writer.objects("listeners", listeners) { writer, listener in
            writer.member("name", listener.name)
            writer.member("address", listener.address)
            writer.member("tls", listener.hasTLS)
        }
        writer.objects("refusedPreflights", preflights) { writer, preflight in
            writer.member("origin", preflight.origin)
            writer.member("header", preflight.header.isEmpty ? nil : preflight.header)
            writer.member("count", preflight.count)
            writer.member("lastAt", preflight.lastAt)
            writer.member("text", preflight.text)
            writer.member("remedy", preflight.remedy)
        }
    }
}

extension StatusReport.Condition {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("ready", isReady)
        writer.member("readiness", readiness)
        writer.object("drained", drain) { writer, drain in
            writer.member("by", drain.actor)
            writer.member("since", drain.since)
        }
        writer.member("stopping", isStopping)
        writer.objects("degraded", degraded) { writer, part in
            writer.member("part", part.name)
            writer.member("text", part.cause)
            writer.member("remedy", part.remedy)
        }
    }
}
