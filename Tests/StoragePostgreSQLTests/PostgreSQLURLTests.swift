import Testing

@testable import StoragePostgreSQL

@Suite struct PostgreSQLURLTests {
    @Test func readsEveryPart() throws {
        let url = try PostgreSQLURL(
            parsing: "postgresql://lat%40chkey@db-1.example:6432,[2001:db8::1],db-3/key%20store"
                + "?sslmode=verify-ca&sslrootcert=/etc/ca%26.pem&schema=latchkey_2")
        #expect(url.user == "lat@chkey")
        #expect(
            url.hosts == [
                .init(name: "db-1.example", port: 6432), .init(name: "2001:db8::1", port: 5432),
                .init(name: "db-3", port: 5432),
            ])
        #expect(url.database == "key store")
        #expect(url.tls == .verifyCA)
        #expect(url.authorities == "/etc/ca&.pem")
        #expect(url.schema == "latchkey_2")
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.8.0.1:5433", "[::1]", "%2Frun%2Fpostgresql"])
    func needsNoEncryptionWithinTheMachine(host: String) throws {
        #expect(try PostgreSQLURL(parsing: "postgresql://u@\(host)/d").tls == .disable)
        #expect(try PostgreSQLURL(parsing: "postgresql://u@\(host)/d?sslmode=verify-full").tls == .verifyFull)
    }

    @Test(arguments: ["db.example", "10.0.0.1", "localhost.example", "[2001:db8::1]", "localhost,db.example"])
    func verifiesWhoeverIsElsewhere(host: String) throws {
        let url = try PostgreSQLURL(parsing: "postgres://u@\(host)/d")
        #expect(url.tls == .verifyFull)
        #expect(url.authorities == "/etc/ssl/certs/ca-certificates.crt")
        #expect(url.schema == "latchkey")
    }

    @Test(
        arguments: [
            ("mysql://u@h/d", .otherScheme), ("u@h/d", .otherScheme), ("", .otherScheme),
            ("postgresql://h/d", .userMissing), ("postgresql://@h/d", .userMissing),
            ("postgresql://u:secret@h/d", .passwordInURL), ("postgresql://u:@h/d", .passwordInURL),
            ("postgresql://u@h/d?password=secret", .passwordInURL),
            ("postgresql://u@h", .databaseMissing), ("postgresql://u@h/", .databaseMissing),
            ("postgresql://u@h/d/e", .databaseMissing),
            ("postgresql://u@/d", .escapeMalformed), ("postgresql://u@h,/d", .escapeMalformed),
            ("postgresql://u@h_1/d", .hostMalformed), ("postgresql://u@[::1/d", .hostMalformed),
            ("postgresql://u@[db]/d", .hostMalformed), ("postgresql://u@[::1]x/d", .hostMalformed),
            ("postgresql://u@%2Frun%2Ca/d", .hostMalformed), ("postgresql://u@h h/d", .hostMalformed),
            ("postgresql://u@a,b,c,d,e,f,g,h,i/d", .hostMalformed),
            ("postgresql://u@h:/d", .portMalformed), ("postgresql://u@h:0/d", .portMalformed),
            ("postgresql://u@h:65536/d", .portMalformed), ("postgresql://u@h:+1/d", .portMalformed),
            ("postgresql://u@h:５/d", .portMalformed),
            ("postgresql://u%/@h/d", .databaseMissing), ("postgresql://u%2@h/d", .escapeMalformed),
            ("postgresql://u%00@h/d", .escapeMalformed), ("postgresql://u%FF@h/d", .escapeMalformed),
            ("postgresql://u@h/d%0g", .escapeMalformed),
            ("postgresql://u@h/d?", .optionMalformed("")), ("postgresql://u@h/d?sslmode", .optionMalformed("sslmode")),
            ("postgresql://u@h/d?sslmode=", .optionMalformed("sslmode")),
            ("postgresql://u@h/d?sslmode=prefer", .optionMalformed("sslmode")),
            ("postgresql://u@h/d?sslrootcert=ca.pem", .optionMalformed("sslrootcert")),
            ("postgresql://u@h/d?schema=Keys", .optionMalformed("schema")),
            ("postgresql://u@h/d?schema=1st", .optionMalformed("schema")),
            ("postgresql://u@h/d?schema=a%22b", .optionMalformed("schema")),
            ("postgresql://u@h/d?sslmode=require&sslmode=require", .optionRepeated("sslmode")),
            ("postgresql://u@h/d?options=-c%20fsync", .optionUnknown("options")),
        ] as [(String, PostgreSQLURLError)])
    func refuses(text: String, error: PostgreSQLURLError) {
        #expect(throws: error) { try PostgreSQLURL(parsing: text) }
    }

    @Test func takesNoSchemaNameThatPostgreSQLWouldCut() {
        let longest = String(repeating: "s", count: 63)
        #expect(throws: Never.self) { try PostgreSQLURL(parsing: "postgresql://u@h/d?schema=\(longest)") }
        #expect(throws: PostgreSQLURLError.optionMalformed("schema")) {
            try PostgreSQLURL(parsing: "postgresql://u@h/d?schema=\(longest)s")
        }
    }
}
