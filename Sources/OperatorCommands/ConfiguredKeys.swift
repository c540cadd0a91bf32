package import CommandLineKit
package import ContentKeys

/// The content keys of a configuration, for commands that ask what an asset id names. Nothing is changed, and no key
/// is handed out.
package struct ConfiguredKeys {
    /// The option that names the configuration, for commands that work without one too.
    package static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration: look each key up in its store")

    private let store: OpenedKeyStore

    package init(configuration path: String, _ context: CommandContext) throws(CommandError) {
        store = try OpenedKeyStore(configuration: path, context)
    }

    /// What the daemon finds for an SPC with this asset id; and, if it finds nothing, why not, as far as ids tell it.
    package func resolve(_ assetID: AssetID) async throws(CommandError) -> AssetResolution {
        let reference = AssetReference(assetID)
        do throws(StoreError) {
            if let record = try await store.record(for: reference) { return .live(record.attributes, iv: record.iv) }
        } catch .contentAmbiguous(let contentID) {
            return .ambiguous(contentID)
        } catch {
            throw .failed(error.explanation)
        }
        let maintenance = try store.maintenance()
        return try await OpenedKeyStore.attempt { () async throws(StoreError) in
            for case .keyID(let keyID) in reference.candidates where try await maintenance.key(keyID) != nil {
                return .withdrawn(keyID)
            }
            for case .contentID(let contentID) in reference.candidates {
                let keys = try await store.keys(of: contentID)
                if let key = keys.first(where: { $0.state == .withdrawn }) { return .withdrawn(key.keyID) }
            }
            return .unknown
        }
    }
}
