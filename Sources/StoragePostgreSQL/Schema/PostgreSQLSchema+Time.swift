import ContentKeys

extension PostgreSQLSchema {
    /// The database's own time for ends, and a settled time for forgetting.
    ///
    /// The functions of the steps before keep their names and parameters, so that nodes of the version before go on
    /// calling them. From this step on they ignore the time that the caller gives.
    static let ownTime = Migration(
        number: 7, oldestProgram: 1,
        script: [
            settledTime, byOwnTime(claimDevice, now: "settled_1()"), byOwnTime(claimSlot, now: "clock_1()"),
            settleByOwnTime,
            byOwnTime(settleRenewal, now: "settled_1()"), byOwnTime(openChallenge, now: "clock_1()"),
            settleFor.changing("CREATE FUNCTION ", to: "CREATE OR REPLACE FUNCTION ").changing(
                "in_now < known.retry_until", to: "clock_1() < known.retry_until"),
        ])

    /// The window of a repetition is short. It ends by the clock.
    static let settleByOwnTime = byOwnTime(settle, now: "settled_1()").changing(
        "in_now < known.retry_until", to: "clock_1() < known.retry_until")

    /// `clock_1` is the database's clock in whole seconds since 1970. `settled_1` is the time by which it is judged
    /// what is forgotten: the settled time, but never later than the clock, by which ends are set.
    ///
    /// Nodes whose clocks are trusted advance the settled time to theirs, and never beyond the database's clock. So a
    /// step of a node's clock or of the database's clock makes nothing end early. Before the first node has done so,
    /// nothing ends.
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

    /// The statement that replaces a function of an earlier step by the same one with another time. That step's text is
    /// released and never changes, so that the BEGIN in the first column is the function's own.
    static func byOwnTime(_ definition: String, now: String) -> String {
        definition
            .changing("CREATE FUNCTION ", to: "CREATE OR REPLACE FUNCTION ")
            .changing("\nBEGIN\n", to: "\nBEGIN\n    in_now := \(now);\n")
    }
}

extension String {
    /// The text with the only occurrence of another one changed.
    func changing(_ old: String, to new: String) -> String {
        precondition(ranges(of: old).count == 1, "the text is in the step once")
        return replacing(old, with: new)
    }
}
