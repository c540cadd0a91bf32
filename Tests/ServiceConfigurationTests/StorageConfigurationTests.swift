import KeyCrypto
import Licensing
import StoragePostgreSQL
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct StorageConfigurationTests {
    private static let url = "postgresql://latchkey@db.example.com/latchkey"

    private func problems(_ storage: String, _ more: String = "") -> [ConfigurationProblem] {
        ConfigurationText.problems(ConfigurationText.make(rest: "storage: { \(storage) }, \(more)"))
    }

    @Test func takesADatabaseOfManyNodes() throws {
        let storage = try ConfigurationText.parse(
            ConfigurationText.make(
                rest: "storage: { url: \"\(Self.url)\", password: \"credential:pg\", onStoreOutage: \"admit\" }")
        ).configuration.storage
        #expect(storage.url == .postgreSQL(try PostgreSQLURL(parsing: Self.url)))
        #expect(storage.password == .credential(name: "pg") && storage.onStoreOutage == .admit)
        #expect(storage.databasePath == "/etc/latchkey/latchkey-ledger.db")
    }

    @Test func refusesAtFirstWhatItCannotCount() throws {
        let text = ConfigurationText.make(rest: "storage: { url: \"\(Self.url)\", ledger: \"/var/l.db\" }")
        let storage = try ConfigurationText.parse(text).configuration.storage
        #expect(storage.onStoreOutage == .refuse && storage.password == nil && storage.databasePath == "/var/l.db")
    }

    @Test(arguments: [
        ("postgresql://latchkey:secret@h/d", PostgreSQLURLError.passwordInURL), ("postgresql://h/d", .userMissing),
        ("postgresql://u@h", .databaseMissing), ("postgresql://u@h/d?sslmode=on", .optionMalformed("sslmode")),
        ("postgresql://u@h:0/d", .portMalformed), ("postgres://u@h/d?x=1", .optionUnknown("x")),
    ])
    func saysWhatIsWrongWithAURL(url: String, error: PostgreSQLURLError) throws {
        let found = problems("url: \"\(url)\"")
        #expect(found.map(\.fault) == [.databaseURL(error)])
        // A problem never contains the URL itself, which may contain a password.
        #expect(!found.contains { "\($0)".contains("secret") })
        let variable = ConfigurationText.problems(
            ConfigurationText.make(), environment: ["LATCHKEY_STORAGE_URL": url])
        #expect(variable.map(\.fault) == [.databaseURL(error)])
    }

    @Test(arguments: ["password: \"secrets/pg\"", "ledger: \"l.db\"", "onStoreOutage: \"admit\"", "admitInOutage: {}"])
    func takesNothingBesideSQLiteThatItHasNoUseFor(field: String) throws {
        let found = problems(field)
        #expect(found.count == 1 && found.first?.path.hasPrefix("storage.") == true)
        guard case .incomplete = found.first?.fault else { return #expect(Bool(false), "\(found)") }
    }

    @Test func takesHowManyLicensesAnOutageGives() throws {
        let text = { (limits: String) in
            ConfigurationText.make(rest: "storage: { url: \"\(Self.url)\", admitInOutage: { \(limits) } }")
        }
        let admissions = try ConfigurationText.parse(text("perToken: 1, perSubject: 7")).configuration.storage
            .admissions
        #expect(admissions == AdmissionLimits(perToken: 1, perSubject: 7))
        #expect(try ConfigurationText.parse(text("")).configuration.storage.admissions == AdmissionLimits())
        for wrong in ["perToken: 0", "perSubject: 1000001", "perDevice: 1"] {
            #expect(ConfigurationText.problems(text(wrong)).count == 1, "\(wrong)")
        }
    }

    @Test func readsThePassword() throws {
        let folder = try ConfigurationFolder()
        try folder.write("secrets/pg", "a password\n")
        let text = ConfigurationText.make(rest: "storage: { url: \"\(Self.url)\", password: \"secrets/pg\" }")
        let settings = try #require(try folder.load(text).postgreSQL)
        #expect(settings.password?.bytes.revealed() == Array("a password".utf8))
        for wrong in ["", "\n", "two\nlines\n"] {
            try folder.write("secrets/pg", wrong)
            #expect(folder.problems(text).map(\.path) == ["storage.password"])
        }
    }

    @Test(arguments: [
        "keyEncryptionKeyVersion: 2", "olderKeyEncryptionKeys: [{ version: 2, key: \"secrets/key-encryption-key\" }]",
    ])
    func takesSeveralKeyEncryptionKeysWithPostgreSQL(field: String) throws {
        let rest = "storage: { url: \"\(Self.url)\" }, keys: { \(field) }"
        #expect(try ConfigurationFolder().problems(ConfigurationText.make(rest: rest)).isEmpty)
    }
}
