extension Configuration {
    /// The ledger, which records the licenses that were given and refused.
    package struct Ledger: Equatable, Sendable {
        /// What happens to a license that the ledger cannot record.
        package enum Mode: String, Sendable, CaseIterable {
            /// It is refused.
            case required
            /// It is given and counted if it spends nothing or if a session token renews it, and refused otherwise.
            case bestEffort = "best-effort"
        }

        package let mode: Mode
        /// The 32 bytes that seal the ledger's batches.
        package let key: SecretSource
        /// The number of that key. A new key gets a higher number.
        package let keyVersion: UInt32
        /// Earlier keys, which have sealed entries that the ledger still has. Their versions are distinct and lower.
        package let olderKeys: [OlderKey]
        /// The 32 bytes of the key that makes the pseudonyms of devices and subjects.
        package let pseudonymKey: SecretSource
        /// How long entries are kept: whole seconds.
        package let retention: Duration
        /// How long entries are kept in the copy of the ledger in PostgreSQL: whole seconds.
        package let sharedRetention: Duration
        /// After how long the rows of renewals are rolled up: whole seconds.
        package let rollUpRenewalsAfter: Duration
        /// How many refusals of good tokens get a row of their own per second.
        package let refusalsPerSecond: Int

        /// The size of the key and of the pseudonym key, in bytes.
        package static let keySize = 32
    }
}

extension Configuration.Ledger {
    init(reading section: ConfigurationSection) {
        mode = section.value("mode", .choice(Mode.allCases, example: .required), default: .required)
        key = section.value(
            "key", .file(in: section.directory, example: "secrets/ledger-key"),
            default: .file(path: FilePath.resolve("secrets/ledger-key", relativeTo: section.directory)))
        let version = section.value("keyVersion", .integer(1...UInt32.max, example: 1), default: 1)
        keyVersion = version
        olderKeys =
            section.sections(
                "olderKeys", example: "[{ version: 1, key: \"secrets/ledger-key-1\" }]", allowsEmpty: true
            ) { older in
                Configuration.OlderKey(
                    reading: older, versions: 1...max(1, version - 1), example: "secrets/ledger-key-1")
            } ?? []
        pseudonymKey = section.value(
            "pseudonymKey", .file(in: section.directory, example: "secrets/pseudonym-key"),
            default: .file(path: FilePath.resolve("secrets/pseudonym-key", relativeTo: section.directory)))
        retention = section.value(
            "retention", .seconds(3600...36_500 * 86_400, example: 400 * 86_400), default: .seconds(400 * 86_400))
        sharedRetention = section.value(
            "sharedRetention", .seconds(3600...36_500 * 86_400, example: 400 * 86_400), default: retention)
        rollUpRenewalsAfter = section.value(
            "rollUpRenewalsAfter", .seconds(3600...36_500 * 86_400, example: 7 * 86_400), default: .seconds(7 * 86_400))
        refusalsPerSecond =
            section.section("refusals") { refusals in
                refusals.value("perSecond", .integer(0...10_000, example: 10), default: 10)
            } ?? 10
        section.requireDistinct((olderKeys.map(\.version) + [version]).map { String($0) }) {
            [count = olderKeys.count] index in index < count ? "olderKeys[\(index)].version" : "keyVersion"
        }
    }
}
