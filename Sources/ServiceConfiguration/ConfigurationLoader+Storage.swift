import KeyCrypto
package import StoragePostgreSQL

extension ConfigurationLoader {
    /// How to reach PostgreSQL; nil with SQLite, or if a problem was reported.
    package mutating func postgreSQL() -> PostgreSQLSettings? {
        switch configuration.storage.url {
        case .sqlite: return nil
        case .postgreSQL(let url):
            guard let source = configuration.storage.password else {
                return PostgreSQLSettings(url: url, password: nil)
            }
            guard let contents = secret(source, "storage.password") else { return nil }
            guard let password = contents.withoutTrailingWhiteSpace(), (1...1024).contains(password.count),
                password.withWipedArray({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
            else {
                report("storage.password", .notADatabasePassword)
                return nil
            }
            return PostgreSQLSettings(url: url, password: SharedSecret(password))
        }
    }
}
