import ByteCoding
package import Licensing
package import StoragePostgreSQL

extension Configuration {
    /// Where content keys and the shared state of the nodes are stored.
    package struct Storage: Equatable, Sendable {
        package let url: StorageURL
        /// The password of the PostgreSQL role; nil if the server asks for none.
        package let password: SecretSource?
        /// The file of the node's own ledger if the store is PostgreSQL.
        package let ledger: String
        /// What happens to a license that needs shared state while PostgreSQL does not answer.
        package let onStoreOutage: SharedDecisionStore.OutageRule
        /// How many licenses are admitted in an outage with `onStoreOutage: "admit"`.
        package let admissions: AdmissionLimits

        /// The node's own SQLite file. It has content keys, decisions and the ledger; with PostgreSQL only the ledger.
        package var databasePath: String {
            switch url {
            case .sqlite(let path): path
            case .postgreSQL: ledger
            }
        }
    }
}

extension Configuration.Storage {
    /// The address of the database that all nodes share, without a password; nil with SQLite alone.
    package var sharedAddress: String? {
        switch url {
        case .sqlite: nil
        case .postgreSQL(let url): url.address
        }
    }
}

/// Where content keys are stored.
package enum StorageURL: Equatable, Sendable {
    /// `sqlite:PATH`. The file is created when it is first needed.
    case sqlite(path: String)
    /// `postgresql://USER@HOST[:PORT]/DATABASE`, for many nodes.
    case postgreSQL(PostgreSQLURL)
}

extension Configuration.Storage {
    init(reading section: ConfigurationSection) {
        url = section.value(
            "url", .storageURL(in: section.directory),
            default: .sqlite(path: FilePath.resolve("latchkey.db", relativeTo: section.directory)),
            overriddenBy: .storageURL)
        password = section.optional(
            "password", .file(in: section.directory, example: "secrets/postgresql-password"))
        ledger = section.value(
            "ledger", .path(in: section.directory, example: "latchkey-ledger.db"),
            default: FilePath.resolve("latchkey-ledger.db", relativeTo: section.directory))
        onStoreOutage = section.value(
            "onStoreOutage", .choice(SharedDecisionStore.OutageRule.allCases, example: .refuse), default: .refuse)
        admissions = section.section("admitInOutage", AdmissionLimits.init(reading:)) ?? AdmissionLimits()
        switch url {
        case .postgreSQL: break
        case .sqlite:
            for name in ["password", "ledger", "onStoreOutage", "admitInOutage"] where section.contains(name) {
                section.report(name, .incomplete(without: "url: postgresql://USER@HOST/DATABASE"))
            }
        }
    }
}

extension AdmissionLimits {
    fileprivate init(reading section: ConfigurationSection) {
        let standard = AdmissionLimits()
        self.init(
            perToken: section.value(
                "perToken", .integer(1...1_000_000, example: standard.perToken), default: standard.perToken),
            perSubject: section.value(
                "perSubject", .integer(1...1_000_000, example: standard.perSubject), default: standard.perSubject))
    }
}

extension ConfigurationForm<StorageURL> {
    /// `sqlite:PATH`, or the URL of a PostgreSQL database. A relative PATH is relative to `directory`.
    static func storageURL(in directory: String) -> ConfigurationForm {
        let expected = "sqlite:PATH or postgresql://USER@HOST/DATABASE"
        let read = { (node: JSONNode) -> ConfigurationFormResult<StorageURL> in
            guard let text = node.string else { return .wrongType }
            guard let path = text.suffix(after: "sqlite:") else { return postgreSQL(text) }
            guard (1...4000).contains(path.utf8.count), !path.hasSuffix("/"), !path.hasPrefix("//"),
                !path.utf8.contains(0)
            else { return .invalid }
            return .value(.sqlite(path: FilePath.resolve(path, relativeTo: directory)))
        }
        return ConfigurationForm(expected: expected, example: "\"sqlite:latchkey.db\"", read: read) { url in
            switch url {
            case .sqlite(let path): JSONNode.quoted("sqlite:" + path)
            case .postgreSQL: nil  // It is never a default, so it is shown as it is written in the file or variable.
            }
        }
    }

    private static func postgreSQL(_ text: String) -> ConfigurationFormResult<StorageURL> {
        do throws(PostgreSQLURLError) {
            return .value(.postgreSQL(try PostgreSQLURL(parsing: text)))
        } catch {
            return error == .otherScheme ? .invalid : .fault(.databaseURL(error))
        }
    }
}
