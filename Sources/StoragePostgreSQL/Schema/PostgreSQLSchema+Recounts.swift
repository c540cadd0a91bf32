import ContentKeys

extension PostgreSQLSchema {
    /// What nodes need to count again: a number of each node, and the way back for a use whose licence was not given.
    static let recounts = Migration(number: 6, oldestProgram: 1, script: [marks, replaceMark, giveBack])

    /// A number that a node counts up: a database that has it has all that the node has settled before it
    /// (`DecisionKeeping`).
    private static let marks = """
        CREATE TABLE node_mark (
            node text COLLATE "C" PRIMARY KEY,
            number int8 NOT NULL
        );
        """

    /// Writes a later number, but only if the number before is the expected one or later. The number before; 0 for
    /// none.
    private static let replaceMark = """
        CREATE FUNCTION replace_mark_1(in_node text, in_number int8, in_expected int8) RETURNS int8 LANGUAGE plpgsql AS $$
        DECLARE
            found_number int8;
        BEGIN
            SELECT number INTO found_number FROM node_mark WHERE node = in_node;
            found_number := coalesce(found_number, 0);
            IF found_number >= in_expected AND found_number < in_number THEN
                INSERT INTO node_mark (node, number) VALUES (in_node, in_number)
                    ON CONFLICT (node) DO UPDATE SET number = greatest(node_mark.number, excluded.number);
            END IF;
            RETURN found_number;
        END $$;
        """

    /// Forgets a request and takes back one use, if the request has exactly this answer; whether it had. Places and
    /// slots stay: they belong to the device, which finds them again.
    private static let giveBack = """
        CREATE FUNCTION give_back_1(in_locks int8[], in_request bytea, in_answer bytea, in_token bytea, in_kid bytea)
        RETURNS bool LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
        BEGIN
            FOREACH each_lock IN ARRAY in_locks LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;
            DELETE FROM replay WHERE request = in_request AND answer = in_answer;
            IF NOT FOUND THEN RETURN false; END IF;
            UPDATE token_use SET uses = uses - 1 WHERE token = in_token AND kid = in_kid AND uses > 0;
            RETURN true;
        END $$;
        """
}
