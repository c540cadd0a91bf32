import ByteCoding
package import ContentKeys
package import KeyCrypto
package import Records

/// Makes the keys of key periods. Each track of a period gets only one key, even if several nodes and commands make it
/// at the same time.
package struct PeriodDesk: Sendable {
    /// The keys of one period, including those that existed before.
    package struct Made: Sendable {
        package let period: UInt32
        /// In the order of the tracks.
        package let keys: [ProvidedKey]
    }

    /// The live contents and their periods.
    package let store: any LivePeriodStore
    private let provider: any KeyProvider
    private let derivation: KeyDerivation?

    /// Makes a desk. Without a derivation, keys are random.
    package init(store: any LivePeriodStore, provider: any KeyProvider, derivation: KeyDerivation?) {
        self.store = store
        self.provider = provider
        self.derivation = derivation
    }

    /// Returns the keys of a period, one for each track, and makes missing ones. All become durable together, or none.
    /// `now` is in seconds since 1970.
    ///
    /// Derived keys have derived key ids, so that the same keys are made again in an empty store. Ids that withdrawn
    /// keys and other contents have are passed over.
    package func make(
        _ period: UInt32, of contentID: ContentID, for tracks: [PeriodTrack], scheme: EncryptionScheme, now: Int64
    ) async throws(KeyProvisionError) -> Made {
        var taken: Set<KeyID> = []
        while true {
            let wishes = try tracks.map { (track) throws(KeyProvisionError) in
                KeyWish(
                    record: try record(of: track, period, contentID, scheme: scheme, passingOver: taken, now: now),
                    identity: .track)
            }
            do throws(KeyProvisionError) {
                return Made(period: period, keys: try await provider.provide(wishes))
            } catch {
                guard let keyID = error.takenKeyID, taken.count < KeyDerivation.takenKeyIDsMaximum * tracks.count,
                    wishes.contains(where: { $0.record.keyID == keyID }), taken.insert(keyID).inserted
                else { throw error }
            }
        }
    }

    /// Returns the periods of a content that Latchkey must make and that lack a key, in their order, and the periods
    /// that have all keys. `times` is the range of the current time, in seconds since 1970.
    package func standing(
        of content: LiveContent, at times: ClosedRange<Int64>
    ) async throws(StoreError) -> (missing: [UInt32], complete: Set<UInt32>) {
        var (missing, complete) = ([UInt32](), Set<UInt32>())
        for periods in content.neededPeriods(at: times) {
            let keys = try await store.periodKeys(of: content.contentID, in: periods)
            for period in periods {
                let labels = keys.filter { $0.periodIndex == period && $0.state == .live }.map(\.trackLabel)
                let hasAll = content.schedule?.tracks.allSatisfy { labels.contains($0.track.label) } ?? true
                if hasAll { complete.insert(period) } else { missing.append(period) }
            }
        }
        return (missing, complete)
    }

    /// Returns the ledger entries of keys that were made here. `actor` is as in `LedgerEntry`.
    package static func entries(
        _ made: [Made], by actor: String, now: Int64
    ) throws(CryptoError) -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        for made in made {
            for key in made.keys where key.isNew {
                var entry = LedgerEntry(
                    kind: .keyCreated, at: now, license: try .naming(rowAt: now), keyID: key.record.keyID,
                    content: key.record.contentID.text, detail: "period \(made.period)")
                entry.actor = actor
                entries.append(entry)
            }
        }
        return entries
    }

    private func record(
        of track: PeriodTrack, _ period: UInt32, _ contentID: ContentID, scheme: EncryptionScheme,
        passingOver taken: Set<KeyID>, now: Int64
    ) throws(KeyProvisionError) -> ContentKeyRecord {
        do {
            let keyID =
                try derivation?.deriveKeyID(
                    contentID: contentID, trackLabel: track.track.label, periodIndex: period, taken: taken)
                ?? KeyGeneration.generateKeyID()
            var attributes = ContentKeyAttributes(
                keyID: keyID, contentID: contentID, track: track.track, periodIndex: period, scheme: scheme,
                createdAt: now)
            attributes.leastHDCP = track.leastHDCP
            attributes.leastSecurityLevel = track.leastSecurityLevel
            let (key, iv) =
                try derivation?.derive(contentID: contentID, keyID: attributes.keyID, periodIndex: period)
                ?? KeyGeneration.generate()
            return try ContentKeyRecord(attributes: attributes, key: key, iv: iv)
        } catch {
            throw .store(.cryptographyFailed)
        }
    }
}
