package import ContentKeys

extension Configuration {
    /// How content keys are made and stored.
    package struct Keys: Equatable, Sendable {
        /// The 32 bytes that seal content keys in the store.
        package let keyEncryptionKey: SecretSource
        /// The number of that key; a new key gets a higher one.
        package let keyEncryptionKeyVersion: UInt32
        /// Earlier keys, which still open what they have sealed. Their versions are distinct.
        package let olderKeyEncryptionKeys: [OlderKey]
        /// The 32 bytes from which new keys are derived; nil if they are random.
        package let masterSecret: SecretSource?
        package let masterSecretVersion: UInt32
        /// Whether operators may see keys in the clear.
        package let allowReveal: Bool
        /// The template of a key's URL in playlists.
        package let skdTemplate: SKDTemplate
    }

    /// An earlier key: it opens or verifies what it has sealed, but seals nothing new.
    package struct OlderKey: Equatable, Sendable {
        package let version: UInt32
        package let key: SecretSource
    }
}

extension Configuration.Keys {
    private static let versions: ClosedRange<UInt32> = 1...UInt32.max

    init(reading section: ConfigurationSection) {
        keyEncryptionKey = section.value(
            "keyEncryptionKey", .file(in: section.directory, example: "secrets/key-encryption-key"),
            default: .file(path: FilePath.resolve("secrets/key-encryption-key", relativeTo: section.directory)))
        keyEncryptionKeyVersion = section.value(
            "keyEncryptionKeyVersion", .integer(Self.versions, example: 1), default: 1)
        let older = section.sections(
            "olderKeyEncryptionKeys", example: "[{ version: 1, key: \"secrets/key-encryption-key-1\" }]",
            allowsEmpty: true
        ) { Configuration.OlderKey(reading: $0, versions: Self.versions, example: "secrets/key-encryption-key-1") }
        olderKeyEncryptionKeys = older ?? []
        masterSecret = section.secret("masterSecret", inPlace: "secrets/master-secret")
        masterSecretVersion = section.value("masterSecretVersion", .integer(Self.versions, example: 1), default: 1)
        allowReveal = section.value("allowReveal", .boolean, default: false)
        skdTemplate = section.value("skdTemplate", .skdTemplate, default: .standard)
        section.requireDistinct(
            (olderKeyEncryptionKeys.map(\.version) + [keyEncryptionKeyVersion]).map { String($0) }
        ) { [count = olderKeyEncryptionKeys.count] index in
            index < count ? "olderKeyEncryptionKeys[\(index)].version" : "keyEncryptionKeyVersion"
        }
    }
}

extension Configuration.OlderKey {
    init?(reading section: ConfigurationSection, versions: ClosedRange<UInt32>, example: String) {
        let version = section.required("version", .integer(versions, example: 1))
        let key = section.required("key", .file(in: section.directory, example: example))
        guard let version, let key else { return nil }
        self.version = version
        self.key = key
    }
}
