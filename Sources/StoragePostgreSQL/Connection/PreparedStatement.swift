/// The statements of the store. Each connection prepares each statement once, under its raw value as the name.
enum PreparedStatement: String, CaseIterable, Sendable {
    case keyByAlias
    case keyByID
    case keyByAliasOrID
    case liveKeysByContent
    case liveKeysByTrack
    case keyPage
    case keyPageOfContent
    case contentPage
    case addAlias
    case keysByIDs
    case keysByAliases
    case ownersOfNames
    case liveKeysByTracks
    case storeKeys
    case storeOnlyKey
    case lockOfKeys
    case keysBehind
    case replaceKeys
    case aliasesOfKey
    case deleteAlias
    case deleteKey
    case countKeys
    case forgetKeyEncryptionKeys
    case takeLocks
    case begin
    case lockCells
    case readCells
    case writeCells
    case deleteCells
    case commit
    case rollBack
    case cell
    case cellPage
    case forgetCells
    case revoke
    case liftRevocation
    case revocation
    case revocationPage
    case newestRevocations
    case revocationPosition
    case revocationChanges
    case shipLedger
    case shippedThrough
    case receivedBatches
    case mendLedger
    case purgeLedger
    case sharedLedgerNodes
    case sharedBatches
    case sharedBatchBefore
    case sharedRows
    case sharedBatchesAfterTime
    case registerNode
    case lostNodes
    case succeedNode
    case forgetRevocations
    case signOfLife
    case replaceMark
    case advanceSettled
    case liveContent
    case liveContentPage
    case insertLiveContent
    case updateLiveContent
    case notePeriods
    case newestPeriods
    case newestServedPeriods
    case keysOfPeriods
    case toldPeriodEnds

    private static let attributeColumns = """
        kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp, \
        least_security_level
        """
    private static let revocationColumns = "kind, issuer, value, ends_at, revoked_at, reason"
    private static let liveColumns = """
        content_id, window_periods, revision, ended_at, first_index, first_start, period_seconds, periods_ahead, \
        tracks, scheme
        """
    private static let keyColumns = "\(attributeColumns), key_version, sealed"

    var sql: String {
        switch self {
        case .keyByAlias:
            "SELECT \(Self.keyColumns) FROM asset_alias JOIN content_key USING (kid) WHERE alias = $1"
        case .keyByID:
            "SELECT \(Self.keyColumns) FROM content_key WHERE kid = $1"
        case .keyByAliasOrID:
            """
            SELECT \(Self.keyColumns) FROM content_key
            WHERE kid = coalesce((SELECT kid FROM asset_alias WHERE alias = $1), $2)
            """
        case .liveKeysByContent:
            "SELECT \(Self.keyColumns) FROM content_key WHERE content_id = $1 AND state = 'live' LIMIT 2"
        case .liveKeysByTrack:
            // The order is that of `NamedTrack.rank`.
            """
            SELECT \(Self.keyColumns) FROM content_key
            WHERE content_id = $1 AND state = 'live'
                AND ($2::text IS NULL OR track_label IS NULL
                    OR lower(track_label COLLATE "C") = lower($2::text COLLATE "C"))
                AND ($3::int8 IS NULL OR period_index = $3::int8)
            ORDER BY track_label IS DISTINCT FROM $2::text, (track_label IS NULL) = ($2::text IS NOT NULL),
                period_index IS NOT NULL AND $3::int8 IS NULL
            LIMIT 2
            """
        case .keyPage:
            """
            SELECT \(Self.attributeColumns) FROM content_key WHERE (content_id, kid) > ($1, $2)
            ORDER BY content_id, kid LIMIT $3
            """
        case .keyPageOfContent:
            "SELECT \(Self.attributeColumns) FROM content_key WHERE content_id = $1 AND kid > $2 ORDER BY kid LIMIT $3"
        case .contentPage:
            // Each step finds one content by a look-up in the index, however many keys the content before it has.
            """
            WITH RECURSIVE content (id) AS (
                (SELECT content_id FROM content_key WHERE content_id >= $1 AND content_id < $2
                ORDER BY content_id LIMIT 1)
                UNION ALL
                SELECT (
                    SELECT content_id FROM content_key WHERE content_id > content.id AND content_id < $2
                    ORDER BY content_id LIMIT 1)
                FROM content WHERE content.id IS NOT NULL)
            SELECT id FROM content WHERE id IS NOT NULL LIMIT $3
            """
        case .addAlias:
            // One statement sees one state of the tables. The alias that it reads is the existing one that prevented
            // the insertion, if there is one.
            """
            WITH named AS (SELECT kid FROM content_key WHERE kid = $2),
                added AS (INSERT INTO asset_alias (alias, kid) SELECT $1, kid FROM named
                    ON CONFLICT (alias) DO NOTHING RETURNING kid)
            SELECT EXISTS (SELECT FROM named), EXISTS (SELECT FROM added), (SELECT kid FROM asset_alias WHERE alias = $1)
            """
        case .keysByIDs: "SELECT \(Self.keyColumns) FROM content_key WHERE kid = ANY ($1::bytea[])"
        case .keysByAliases: "SELECT alias, kid FROM asset_alias WHERE alias = ANY ($1::bytea[])"
        case .ownersOfNames:
            """
            SELECT kid, content_id FROM content_key WHERE kid = ANY ($1::bytea[])
            UNION ALL
            SELECT NULL, name FROM unnest($2::text[]) AS wished (name)
                WHERE EXISTS (SELECT FROM content_key WHERE content_id = name)
            """
        case .liveKeysByTracks:
            // The index has the same stand-ins for NULL.
            """
            SELECT \(Self.keyColumns)
            FROM unnest($1::text[], $2::text[], $3::int8[]) AS wished (content, label, period)
            CROSS JOIN LATERAL (
                SELECT \(Self.keyColumns) FROM content_key
                WHERE content_id = content AND coalesce(track_label, '') = label
                    AND coalesce(period_index, -1) = period AND state = 'live' LIMIT 2) AS found
            """
        case .storeKeys:
            """
            SELECT is_stored, other_kid, other_content FROM store_keys_1(
                $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
            """
        case .storeOnlyKey:
            // The statement runs under `lockOfKeys`, so no key is stored between the check and the function. OFFSET
            // keeps the check before the call of the function.
            """
            SELECT is_stored, other_kid, other_content
            FROM (
                SELECT $1::text[] AS locks WHERE NOT EXISTS (
                    SELECT FROM content_key WHERE content_id = $19 AND state = 'live' AND kid <> $20)
                OFFSET 0) AS gate
            CROSS JOIN LATERAL store_keys_1(
                gate.locks, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
            """
        case .lockOfKeys:
            // The lock that `store_keys_1` takes first, shared or alone.
            "SELECT hashtextextended('latchkey spellings', 0)"
        case .keysBehind: "SELECT \(Self.keyColumns) FROM content_key WHERE kid > $1 ORDER BY kid LIMIT $2"
        case .replaceKeys:
            // A row that has changed in the meantime stays as it is.
            """
            UPDATE content_key SET state = new.state, key_version = new.version, sealed = new.sealed
            FROM unnest($1::bytea[], $2::text[], $3::int8[], $4::bytea[], $5::bytea[])
                AS new (kid, state, version, sealed, old_sealed)
            WHERE content_key.kid = new.kid AND content_key.sealed = old_sealed RETURNING content_key.kid
            """
        case .aliasesOfKey: "SELECT alias FROM asset_alias WHERE kid = $1 ORDER BY alias"
        case .deleteAlias: "DELETE FROM asset_alias WHERE alias = $1 AND kid = $2 RETURNING kid"
        case .deleteKey:
            // The foreign key of aliases is checked at the end of the statement, when they are deleted.
            """
            WITH unnamed AS (DELETE FROM asset_alias WHERE kid = $1)
            DELETE FROM content_key WHERE kid = $1 RETURNING kid
            """
        case .countKeys: "SELECT count(*) FROM content_key"
        case .forgetKeyEncryptionKeys:
            """
            DELETE FROM key_encryption_key WHERE version <> $1
                AND NOT EXISTS (SELECT FROM content_key WHERE key_version = key_encryption_key.version)
            RETURNING version
            """
        case .takeLocks: "SELECT pg_advisory_xact_lock(each_lock) FROM unnest($1::int8[]) AS each_lock"
        case .begin: "BEGIN"
        case .lockCells:
            // The update changes nothing, and locks the rows that exist. A purge cannot delete a row in between.
            """
            INSERT INTO cell (kind, key, owner, ends_on)
            SELECT named.kind::int2, named.key, named.owner, named.ends_on::int4
            FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::int8[]) AS named (kind, key, owner, ends_on)
            ORDER BY 1, 2
            ON CONFLICT (kind, key) DO UPDATE SET value = cell.value WHERE false
            """
        case .readCells:
            """
            SELECT cell.kind::int8, cell.key, cell.value, (SELECT clock_1()), (SELECT settled_1())
            FROM unnest($1::int8[], $2::bytea[]) AS named (kind, key)
                JOIN cell ON cell.kind = named.kind::int2 AND cell.key = named.key
            """
        case .writeCells:
            """
            UPDATE cell SET owner = new.owner, value = new.value, ends_on = new.ends_on::int4
            FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::bytea[], $5::int8[])
                AS new (kind, key, owner, value, ends_on)
            WHERE cell.kind = new.kind::int2 AND cell.key = new.key
            """
        case .deleteCells:
            """
            DELETE FROM cell USING unnest($1::int8[], $2::bytea[]) AS gone (kind, key)
            WHERE cell.kind = gone.kind::int2 AND cell.key = gone.key
            """
        case .commit: "COMMIT"
        case .rollBack: "ROLLBACK"
        case .cell:
            """
            SELECT key, value, (SELECT clock_1()), (SELECT settled_1())
            FROM (SELECT) AS one LEFT JOIN cell ON kind = $1::int8::int2 AND key = $2
            """
        case .cellPage:
            """
            SELECT key, value, (SELECT clock_1()), (SELECT settled_1())
            FROM (SELECT) AS one LEFT JOIN cell ON kind = $1::int8::int2 AND owner = $2 AND key >= $3
            ORDER BY key LIMIT $4
            """
        case .forgetCells:
            // The subquery reads the settled time once. With a direct call, the server would call the volatile function
            // for each row and so read the whole table. The largest hour stands for cells that never end.
            """
            WITH gone AS (
                DELETE FROM cell WHERE (kind, key) IN (
                    SELECT kind, key FROM cell WHERE ends_on <= (SELECT least(settled_1() / 3600, 2147483646))::int4
                    LIMIT $1 FOR UPDATE SKIP LOCKED)
                RETURNING 1)
            SELECT count(*) FROM gone
            """
        case .revoke:
            """
            INSERT INTO revoked (\(Self.revocationColumns)) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (kind, issuer, value) DO UPDATE
                SET ends_at = excluded.ends_at, revoked_at = excluded.revoked_at, reason = excluded.reason
            """
        case .liftRevocation:
            "DELETE FROM revoked WHERE kind = $1 AND issuer = $2 AND value = $3 RETURNING kind"
        case .revocation:
            "SELECT \(Self.revocationColumns) FROM revoked WHERE kind = $1 AND issuer = $2 AND value = $3"
        case .revocationPage:
            """
            SELECT \(Self.revocationColumns) FROM revoked WHERE (kind, issuer, value) > ($1, $2, $3)
            ORDER BY kind, issuer, value LIMIT $4
            """
        case .newestRevocations:
            """
            SELECT \(Self.revocationColumns) FROM revoked WHERE revoked_at >= $1 ORDER BY revoked_at DESC LIMIT $2
            """
        case .revocationPosition:
            "SELECT number, mark FROM revocation_change WHERE number > $1 ORDER BY number DESC LIMIT 1"
        case .revocationChanges:
            """
            SELECT \(Self.revocationColumns), number, mark, is_lifted FROM revocation_change
            WHERE number >= $1 ORDER BY number LIMIT $2
            """
        case .shipLedger: "SELECT ship_ledger_1($1, $2, $3, $4, $5, $6, $7) IS NULL"
        case .shippedThrough: "SELECT coalesce(max(last), 0) FROM ledger_batch WHERE node = $1"
        case .receivedBatches:
            """
            SELECT first, last, at, seal, (SELECT count(*) FROM ledger_entry AS row
                WHERE row.node = batch.node AND row.sequence BETWEEN batch.first AND batch.last)
            FROM ledger_batch AS batch WHERE node = $1 AND first BETWEEN $2 AND $3 ORDER BY first LIMIT $4
            """
        case .mendLedger: "SELECT mend_ledger_1($1, $2, $3, $4, $5, $6, $7) IS NULL"
        case .purgeLedger: "SELECT purge_ledger_1($1, $2, $3, $4) IS NULL"
        case .sharedLedgerNodes:
            """
            SELECT node, label, successor, seen_at, version, state, licenses FROM ledger_node
            WHERE EXISTS (SELECT FROM ledger_batch WHERE ledger_batch.node = ledger_node.node) ORDER BY node
            """
        case .sharedBatches:
            "SELECT first, last, at, seal FROM ledger_batch WHERE node = $1 AND first >= $2 ORDER BY first LIMIT $3"
        case .sharedBatchBefore:
            "SELECT first, last, at, seal FROM ledger_batch WHERE node = $1 AND first <= $2 ORDER BY first DESC LIMIT 1"
        case .sharedRows:
            """
            SELECT sequence, body FROM ledger_entry WHERE node = $1 AND sequence BETWEEN $2 AND $3
            ORDER BY sequence LIMIT $4
            """
        case .sharedBatchesAfterTime:
            "SELECT min(first) FROM ledger_batch WHERE node = $1 AND at >= $2 AND first > 0"
        case .registerNode:
            """
            INSERT INTO ledger_node (node, label, seen_at, version, state, licenses)
            VALUES ($1, $2, floor(extract(epoch FROM clock_timestamp()))::int8, $3, $4, $5)
            ON CONFLICT (node) DO UPDATE SET label = excluded.label, seen_at = excluded.seen_at,
                version = excluded.version, state = excluded.state, licenses = excluded.licenses
            """
        case .lostNodes:
            """
            SELECT node FROM ledger_node WHERE label = $2 AND node <> $1 AND successor IS NULL
                AND seen_at < floor(extract(epoch FROM clock_timestamp()))::int8 - $3
            """
        case .succeedNode: "UPDATE ledger_node SET successor = $2 WHERE node = $1"
        case .signOfLife:
            // Ends sessions of nodes that hold a lock and have sent only a part of their statements: the node, its
            // machine or its network has stopped. The server has no limit for such a session, unlike for one between
            // the two round trips of actions. As after any lost connection, the node asks again.
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE usename = current_user AND application_name = 'latchkey' AND state = 'active'
                AND wait_event_type = 'Client' AND state_change < clock_timestamp() - interval '1 second'
                AND pid IN (
                    SELECT unnest(pg_blocking_pids(waiting.pid)) FROM pg_stat_activity AS waiting
                    WHERE waiting.wait_event_type = 'Lock')
            """
        case .replaceMark: "SELECT replace_mark_1($1, $2, $3)"
        case .advanceSettled:
            // The clock is read as late as possible: the answer is sent immediately after.
            "SELECT advance_settled_1($1), \(Self.clockMicroseconds)"
        case .liveContent: "SELECT \(Self.liveColumns) FROM live_content WHERE content_id = $1"
        case .liveContentPage:
            "SELECT \(Self.liveColumns) FROM live_content WHERE content_id > $1 ORDER BY content_id LIMIT $2"
        case .insertLiveContent:
            """
            INSERT INTO live_content (\(Self.liveColumns))
            VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (content_id) DO NOTHING RETURNING revision
            """
        case .updateLiveContent:
            """
            UPDATE live_content SET window_periods = $2, revision = revision + 1, ended_at = $3, first_index = $4,
                first_start = $5, period_seconds = $6, periods_ahead = $7, tracks = $8, scheme = $9
            WHERE content_id = $1 AND revision = $10 RETURNING revision
            """
        case .notePeriods:
            """
            INSERT INTO key_period (content_id, period_index, starts_at, ends_at)
            SELECT $1, told.period_index, told.starts_at, told.ends_at
            FROM unnest($2::int8[], $3::int8[], $4::int8[]) AS told (period_index, starts_at, ends_at)
            ON CONFLICT (content_id, period_index) DO UPDATE
                SET starts_at = coalesce(excluded.starts_at, key_period.starts_at),
                    ends_at = coalesce(excluded.ends_at, key_period.ends_at)
            """
        case .newestPeriods:
            """
            SELECT period_index,
                (SELECT starts_at FROM key_period WHERE content_id = $1 AND period_index = content_key.period_index),
                (SELECT ends_at FROM key_period WHERE content_id = $1 AND period_index = content_key.period_index)
            FROM content_key WHERE content_id = $1 AND period_index IS NOT NULL AND state = 'live'
            GROUP BY period_index ORDER BY period_index DESC LIMIT $2
            """
        case .newestServedPeriods:
            """
            SELECT content_id, (SELECT period_index FROM content_key
                WHERE content_key.content_id = live_content.content_id AND period_index IS NOT NULL AND state = 'live'
                ORDER BY period_index DESC LIMIT 1)
            FROM live_content WHERE content_id = ANY ($1::text[]) AND period_seconds IS NULL
            """
        case .keysOfPeriods:
            """
            SELECT \(Self.attributeColumns) FROM content_key
            WHERE content_id = $1 AND period_index BETWEEN $2 AND $3 LIMIT $4
            """
        case .toldPeriodEnds:
            """
            SELECT content_id, ends_at FROM key_period WHERE ends_at > $1 AND (
                SELECT true FROM content_key WHERE content_key.content_id = key_period.content_id
                    AND content_key.period_index = key_period.period_index AND state = 'live' LIMIT 1)
            ORDER BY ends_at DESC LIMIT $2
            """
        case .forgetRevocations:
            // Both purges skip rows that others have locked, so that they never wait.
            """
            WITH gone AS (
                DELETE FROM revoked WHERE (kind, issuer, value) IN (
                    SELECT kind, issuer, value FROM revoked WHERE ends_at <= (SELECT settled_1())
                    LIMIT $1 FOR UPDATE SKIP LOCKED)
                RETURNING 1)
            SELECT count(*) FROM gone
            """
        }
    }

    /// The SQL expression of the database's clock, in microseconds since 1970.
    static let clockMicroseconds = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8"
}
