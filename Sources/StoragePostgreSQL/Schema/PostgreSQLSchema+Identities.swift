import ContentKeys

extension PostgreSQLSchema {
    /// Stores the proofs of an installation's secrets, the nodes whose ledgers have a copy here, and the functions that
    /// repair and purge these copies. Adds the second seal of content keys (`bound`, NULL in rows of an older version).
    ///
    /// Nodes of older versions work without all of it.
    static let identities = Migration(number: 8, oldestProgram: 1, script: [identityTables, mendLedger, purgeLedger])

    /// `successor` is the node that continues for a node whose ledger was lost. `seen_at` is the time of the database's
    /// clock, in seconds since 1970.
    private static let identityTables = """
        CREATE TABLE secret_proof (
            name text COLLATE "C" NOT NULL,
            number int8 NOT NULL,
            proof bytea NOT NULL,
            PRIMARY KEY (name, number)
        );
        CREATE TABLE ledger_node (
            node text COLLATE "C" PRIMARY KEY,
            label text COLLATE "C" NOT NULL,
            successor text COLLATE "C",
            seen_at int8 NOT NULL
        );
        CREATE INDEX ledger_node_by_label ON ledger_node (label);
        CREATE INDEX ledger_batch_by_time ON ledger_batch (node, at);
        ALTER TABLE content_key ADD COLUMN bound bytea;
        """

    /// Stores again batches and rows that the copy lacks completely or in part. A batch that the copy has in part is
    /// replaced, because the node's own ledger may have rolled up its renewals in the meantime.
    ///
    /// Fails with LK002, and stores nothing, if the copy has one of them with another MAC or another body.
    private static let mendLedger = """
        CREATE FUNCTION mend_ledger_1(
            in_node text, in_sequences int8[], in_bodies bytea[],
            in_firsts int8[], in_lasts int8[], in_times int8[], in_seals bytea[]
        ) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM unnest(in_firsts, in_lasts, in_times, in_seals) AS sent (first, last, at, seal)
                    JOIN ledger_batch AS kept ON kept.node = in_node AND kept.first = sent.first
                    WHERE (kept.last, kept.at, substr(kept.seal, 1, 32)) <> (sent.last, sent.at, substr(sent.seal, 1, 32)))
                OR EXISTS (SELECT FROM unnest(in_sequences, in_bodies) AS sent (sequence, body)
                    JOIN ledger_entry AS kept ON kept.node = in_node AND kept.sequence = sent.sequence
                    WHERE kept.body <> sent.body)
            THEN RAISE SQLSTATE 'LK002'; END IF;
            DELETE FROM ledger_entry USING unnest(in_firsts, in_lasts) AS sent (first, last)
                WHERE node = in_node AND sequence BETWEEN sent.first AND sent.last;
            DELETE FROM ledger_batch WHERE node = in_node AND first = ANY (in_firsts);
            INSERT INTO ledger_entry (node, sequence, body)
                SELECT in_node, sent.sequence, sent.body FROM unnest(in_sequences, in_bodies) AS sent (sequence, body);
            INSERT INTO ledger_batch (node, first, last, at, seal)
                SELECT in_node, sent.first, sent.last, sent.at, sent.seal
                FROM unnest(in_firsts, in_lasts, in_times, in_seals) AS sent (first, last, at, seal);
        END $$;
        """

    /// Deletes the batches through a sequence, and stores the beginning that the node has signed in their place. The
    /// beginning is the batch whose first sequence is 0. Does nothing if another call has deleted the same or more.
    private static let purgeLedger = """
        CREATE FUNCTION purge_ledger_1(in_node text, in_through int8, in_at int8, in_seal bytea)
        RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM ledger_batch WHERE node = in_node AND first = 0 AND last >= in_through) THEN RETURN; END IF;
            DELETE FROM ledger_entry WHERE node = in_node AND sequence <= in_through;
            DELETE FROM ledger_batch WHERE node = in_node AND first <= in_through;
            INSERT INTO ledger_batch (node, first, last, at, seal) VALUES (in_node, 0, in_through, in_at, in_seal);
        END $$;
        """

    /// Stores what each node tells about itself: its program's version, its state in one word, and its licenses of the
    /// last five minutes. NULL for a node of an older version.
    static let nodeReports = Migration(
        number: 14, oldestProgram: 1,
        script: [
            """
            ALTER TABLE ledger_node ADD COLUMN version text, ADD COLUMN state text, ADD COLUMN licenses int8;
            """
        ])
}
