import ContentKeys

extension PostgreSQLSchema {
    /// Makes functions use the database's own time: its clock for terms, and a settled time for deletions.
    ///
    /// The functions of earlier steps keep their names and parameters, so that nodes of the previous version can still
    /// call them. From this step on, they ignore the time of the caller.
    static let ownTime = Migration(
        number: 7, oldestProgram: 1,
        script: [
            settledTime, byOwnTime(claimDevice, now: "settled_1()"), byOwnTime(claimSlot, now: "clock_1()"),
            settleByOwnTime,
            byOwnTime(settleRenewal, now: "settled_1()"), byOwnTime(openChallenge, now: "clock_1()"),
            settleFor.changing("CREATE FUNCTION ", to: "CREATE OR REPLACE FUNCTION ").changing(
                "in_now < known.retry_until", to: "clock_1() < known.retry_until"),
        ])

    /// `settle_1` with the database's time. The window for repeated requests is short, so it ends by the clock.
    static let settleByOwnTime = byOwnTime(settle, now: "settled_1()").changing(
        "in_now < known.retry_until", to: "clock_1() < known.retry_until")

    /// `clock_1` is the database's clock in whole seconds since 1970. `settled_1` is the time by which records count as
    /// ended: the settled time, but never later than the clock.
    ///
    /// Nodes whose clocks are trusted advance the settled time to their own time, but not beyond the database's clock.
    /// A step of a node's clock or of the database's clock therefore ends nothing early. Before the first node has
    /// advanced the settled time, nothing ends.
    private static let settledTime = """
        CREATE TABLE settled_time (
            only_row bool PRIMARY KEY DEFAULT true CHECK (only_row),
            at int8 NOT NULL
        );
        INSERT INTO settled_time (at) VALUES (0);
        CREATE FUNCTION clock_1() RETURNS int8 LANGUAGE sql VOLATILE AS $$
            SELECT floor(extract(epoch FROM clock_timestamp()))::int8
        $$;
        CREATE FUNCTION settled_1() RETURNS int8 LANGUAGE sql VOLATILE AS $$
            SELECT least(at, clock_1()) FROM settled_time
        $$;
        CREATE FUNCTION advance_settled_1(in_settled int8) RETURNS int8 LANGUAGE sql VOLATILE AS $$
            UPDATE settled_time SET at = least(in_settled, clock_1()) WHERE at < least(in_settled, clock_1());
            SELECT at FROM settled_time;
        $$;
        """

    /// Returns the statement that replaces a function of an earlier step by the same function with another time. The
    /// text of that step is released and never changes, so the only BEGIN in the first column is the function's own.
    static func byOwnTime(_ definition: String, now: String) -> String {
        definition
            .changing("CREATE FUNCTION ", to: "CREATE OR REPLACE FUNCTION ")
            .changing("\nBEGIN\n", to: "\nBEGIN\n    in_now := \(now);\n")
    }
}

extension String {
    /// Returns the text with the only occurrence of `old` replaced.
    func changing(_ old: String, to new: String) -> String {
        precondition(ranges(of: old).count == 1, "the text is in the step once")
        return replacing(old, with: new)
    }
}
