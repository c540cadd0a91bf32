package import KeyCrypto

/// How to reach the database, and for how long to wait for it.
package struct PostgreSQLSettings: Sendable {
    package var url: PostgreSQLURL
    /// Nil if the server asks for none.
    package var password: SharedSecret?
    package var limits: PostgreSQLLimits

    package init(url: PostgreSQLURL, password: SharedSecret?, limits: PostgreSQLLimits = PostgreSQLLimits()) {
        self.url = url
        self.password = password
        self.limits = limits
    }
}

/// The bounds of everything that waits for the database.
package struct PostgreSQLLimits: Equatable, Sendable {
    /// How long making a connection may take for each host and address; whole seconds, at least 2.
    package var connect: Duration = .seconds(5)
    /// A call gives up after this time, in the queue too; what it asked for may have happened all the same.
    package var call: Duration = .seconds(3)
    /// How long the server works on one statement, and how much of that it waits for locks; shorter than `call`.
    package var statement: Duration = .milliseconds(2500)
    package var lock: Duration = .milliseconds(2000)
    /// A server that answers nothing for this long, on any connection, is taken for away. Longer than `statement`.
    package var silence: Duration = .seconds(3)
    /// How often the server is asked for a sign of life.
    package var probeEvery: Duration = .seconds(1)
    /// A connection whose calls have had no answer for this long, although the server answers on others, is replaced.
    /// It is long, because the server keeps a process for each connection that waits, for example for its synchronous
    /// standby.
    package var abandon: Duration = .seconds(600)
    /// How long a new connection's statements may take to be prepared.
    package var prepare: Duration = .seconds(30)
    /// How long to wait before a failed connection is tried again: this long at first, twice as long each time, up to
    /// the second one.
    package var reconnectAfter: Duration = .milliseconds(100)
    package var reconnectAfterMaximum: Duration = .seconds(2)
    /// Connections for decisions. Those of one subject or token go to one of them, one after the other; several share
    /// the database's syncs.
    package var writers = 4
    /// Connections for everything else.
    package var readers = 2
    /// Calls that wait for a connection, and calls that it has been sent and not answered: so many of each for a
    /// connection.
    package var queueLength = 1024
    package var inFlight = 128
    /// Decisions that may share a transaction, and with it a sync of the database's disk. Each holds a few of the
    /// server's locks meanwhile (its `max_locks_per_transaction` times `max_connections` are there for all nodes).
    package var groupSize = 32

    package init() {}
}
