import ContentKeys
import DatabaseSupport
import Glibc
import KeyCrypto
import Telemetry
import Testing

@testable import StoragePostgreSQL

@Suite(.needsPostgreSQL, .serialized) struct PostgreSQLConnectionTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    func settings(replacing old: String, with new: String) throws -> PostgreSQLSettings {
        var settings = try database.settings()
        settings.url = try PostgreSQLURL(parsing: database.server.url.replacing(old, with: new))
        return settings
    }

    @Test func encryptsAndVerifies() throws {
        #expect(try database.settings().url.tls == .verifyFull)
        #expect(try database.connect().isEncrypted)
    }

    @Test func worksOverAUnixSocket() throws {
        var settings = try database.settings()
        settings.url = try PostgreSQLURL(parsing: database.server.socketURL)
        #expect(try PostgreSQLConnection.connect(settings).isEncrypted == false)
    }

    @Test(arguments: ["verify-full", "verify-ca", "require"])
    func refusesAServerOfAnotherAuthority(mode: String) throws {
        var settings = try settings(replacing: "sslmode=verify-full", with: "sslmode=\(mode)")
        let authority = settings.url.authorities
        settings.url = try PostgreSQLURL(
            parsing: database.server.url.replacing(authority, with: database.server.otherAuthority)
                .replacing("verify-full", with: mode))
        let error = try #require(throws: PostgreSQLFailure.self) { try PostgreSQLConnection.connect(settings) }
        guard case .notConnected(let message) = error else { return #expect(Bool(false), "\(error)") }
        #expect(message.contains("certificate verify failed"), "\(message)")
    }

    /// libpq itself would not verify the server with "require" if the file of the authorities is missing.
    @Test func requireNeverGoesWithoutAnAuthority() throws {
        let authority = try database.settings().url.authorities
        var settings = try database.settings()
        settings.url = try PostgreSQLURL(
            parsing: database.server.url.replacing(authority, with: "/nonexistent/authorities.pem")
                .replacing("verify-full", with: "require"))
        #expect(throws: PostgreSQLFailure.self) { try PostgreSQLConnection.connect(settings) }
        let verified = try self.settings(replacing: "verify-full", with: "require")
        #expect(try PostgreSQLConnection.connect(verified).isEncrypted)
    }

    /// Without this rule, libpq would connect to the other address, and look for the service in a file. Other suites
    /// are not disturbed, because each connection removes the variables first.
    @Test func theEnvironmentHasNoEffect() throws {
        let variables = ["PGHOSTADDR": "192.0.2.1", "PGSERVICE": "nosuchservice", "PGTZ": "Pacific/Apia", "PG": "x"]
        // Safe: both texts are valid during the call.
        for (name, value) in variables { #expect(unsafe setenv(name, value, 1) == 0) }
        #expect(unsafe setenv("LATCHKEY_PG", "kept", 1) == 0)
        let shown = try database.connect().query(
            "SELECT current_setting('TimeZone')", until: TestDatabase.deadline)
        #expect(try shown[0].text(at: 0) != "Pacific/Apia")
        // Safe: the result is only compared with nil.
        for name in variables.keys { #expect(unsafe getenv(name) == nil, "\(name)") }
        #expect(unsafe getenv("LATCHKEY_PG") != nil)
    }

    /// The planner does not know yet how large the table of cells becomes.
    @Test(arguments: [(PreparedStatement.readCells, 2), (.writeCells, 5), (.deleteCells, 2)])
    func findsCellsByTheirKeysInANewDatabase(statement: PreparedStatement, parameterCount: Int) throws {
        try database.open().close()
        let connection = try database.connect()
        try connection.execute(
            "SET plan_cache_mode = force_generic_plan; PREPARE look AS \(statement.sql)", until: TestDatabase.deadline)
        let parameters = [String](repeating: "NULL", count: parameterCount).joined(separator: ", ")
        let plan = try connection.query("EXPLAIN EXECUTE look(\(parameters))", until: TestDatabase.deadline)
        let lines = try plan.rows { row throws(StoreError) in try row.text(at: 0) }
        #expect(lines.contains { $0.contains("Index") }, "\(lines)")
        #expect(!lines.contains { $0.contains("Seq Scan on cell") }, "\(lines)")
    }

    /// The server requires encryption. Without this rule, the connection would succeed.
    @Test func isRefusedInClear() throws {
        let settings = try settings(replacing: "verify-full", with: "disable")
        #expect(throws: PostgreSQLFailure.self) { try PostgreSQLConnection.connect(settings) }
    }

    @Test(arguments: [Optional("wrong"), nil])
    func isRefusedWithoutThePassword(password: String?) throws {
        var settings = try database.settings()
        settings.password = password.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) }
        let error = try #require(throws: PostgreSQLFailure.self) { try PostgreSQLConnection.connect(settings) }
        guard case .connectionRefused(let state, _) = error, state == .passwordRefused else {
            return #expect(Bool(false), "\(error)")
        }
    }

    @Test func namesWhatStandsInTheWayWithoutThePassword() throws {
        let settings = try settings(replacing: "/latchkey?", with: "/nosuchdatabase?")
        let error = try #require(throws: PostgreSQLFailure.self) { try PostgreSQLConnection.connect(settings) }
        guard case .connectionRefused(let state, let message) = error else {
            return #expect(Bool(false), "\(error)")
        }
        #expect(state == SQLState("3D000") && message.contains("nosuchdatabase"))
        let password = String(decoding: try database.server.password().bytes.revealed(), as: UTF8.self)
        #expect(!message.contains(password))
    }

    @Test func sendsAndReadsEveryKindOfValue() throws {
        let connection = try database.connect()
        let result = try connection.query(
            """
            SELECT $1::bytea, $2::text, $3::int8, $4::bool, $5::text, ($6::bytea[])[2], ($7::int8[])[1],
                ($8::bool[])[2], cardinality($9::bytea[])::int8, ($7::int8[])[2], $10::bytea
            """,
            [
                .bytes([0, 255, 0]), .text("Größe"), .integer(.min), .boolean(true), .null,
                .byteArrays([[1], [0, 2]]),
                .integers([.max, nil]), .booleans([true, false]), .byteArrays([]), .bytes([]),
            ], until: TestDatabase.deadline)
        #expect(result.rowCount == 1)
        #expect(try result[0].bytes(at: 0) == [0, 255, 0])
        #expect(try result[0].text(at: 1) == "Größe")
        #expect(try result[0].integer(at: 2) == .min)
        #expect(try result[0].boolean(at: 3))
        #expect(try result[0].optionalText(at: 4) == nil)
        #expect(try result[0].bytes(at: 5) == [0, 2])
        #expect(try result[0].integer(at: 6) == .max)
        #expect(try result[0].boolean(at: 7) == false)
        #expect(try result[0].integer(at: 8) == 0)
        #expect(try result[0].optionalInteger(at: 9) == nil)
        #expect(try result[0].bytes(at: 10) == [])
    }

    @Test func readsNoValueAsAnotherType() throws {
        let result = try database.connect().query(
            "SELECT 1::int4, NULL::int8, 'a'::text", until: TestDatabase.deadline)
        for column in 0..<3 { #expect(throws: StoreError.recordMalformed) { try result[0].integer(at: column) } }
        #expect(throws: StoreError.recordMalformed) { try result[0].bytes(at: 2) }
        #expect(throws: StoreError.recordMalformed) { try result[0].text(at: 3) }
        #expect(throws: StoreError.recordMalformed) { try result[1].text(at: 2) }
    }

    @Test func sortsTheServersErrors() throws {
        let connection = try database.connect()
        #expect(throws: PostgreSQLFailure.refused(SQLState("42601"))) {
            try connection.execute("SELEC", until: TestDatabase.deadline)
        }
        #expect(throws: PostgreSQLFailure.refused(SQLState("57014"))) {
            try connection.execute("SET statement_timeout = 1; SELECT pg_sleep(60)", until: TestDatabase.deadline)
        }
        #expect(PostgreSQLFailure.refused(SQLState("57014")).storeError == .unavailable(.busy))
        #expect(PostgreSQLFailure.refused(SQLState("53100")).storeError == .unavailable(.diskFull))
        #expect(PostgreSQLFailure.refused(SQLState("42601")).storeError == .unavailable(.other(code: 6_819_553)))
    }

    @Test func waitsNoLongerThanItsDeadline() throws {
        let connection = try database.connect()
        #expect(throws: PostgreSQLFailure.timedOut) {
            let deadline = SystemMonotonicClock().monotonicTime + .milliseconds(20)
            try connection.execute("SELECT pg_sleep(60)", until: deadline)
        }
    }

    @Test func asksForDurabilityWhateverTheDatabaseSays() throws {
        let connection = try database.connect()
        for (name, value) in [
            ("synchronous_commit", "on"), ("search_path", database.schema), ("client_encoding", "UTF8"),
            ("default_transaction_isolation", "read committed"), ("statement_timeout", "50s"), ("lock_timeout", "40s"),
        ] {
            let shown = try connection.query(
                "SELECT current_setting($1)", [.text(name)], until: TestDatabase.deadline)
            #expect(try shown[0].text(at: 0) == value)
        }
    }
}
