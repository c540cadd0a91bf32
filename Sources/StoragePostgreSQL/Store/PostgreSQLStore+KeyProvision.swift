import ByteCoding
package import ContentKeys

extension PostgreSQLStore: KeyProvider {
    /// The number of times that the keys are looked up again, because another node may store one of them in the
    /// meantime.
    private static let provisionAttempts = 5

    /// Returns the wished keys, and makes the missing ones.
    ///
    /// Existing keys cost one round trip. A second one stores the missing keys in one transaction. Other nodes wait for
    /// it if they want keys of the same contents.
    package func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey] {
        for _ in 0..<Self.provisionAttempts {
            let provisioning = try await lookUp(wishes)
            guard let first = provisioning.missing.first else { return provisioning.provided }
            let keys = try wrap(KeyProvisionError.store, try Self.keys(of: provisioning.missing, with: ring))
            try await wrapAsync(KeyProvisionError.store, try await checkPeriods(of: keys))
            // The content chooses the connection. Calls of this node for the same content wait for one another here,
            // and block no other connection in the database.
            let home = UInt64(bitPattern: Int64(first.record.contentID.hashValue))
            switch await outcomes([(.storeKeys, keys.values)], .write(home))[0] {
            case .success(let result):
                if try wrap(KeyProvisionError.store, try keys.isStored(result)) { return provisioning.provided }
            case .failure(.refused(Self.uniqueViolation)): continue
            case .failure(let error): throw .store(error.storeError)
            }
        }
        throw .store(.unavailable(.busy))
    }

    package func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?] {
        try await lookUp(wishes).provided.map { $0.isNew ? nil : $0.record }
    }

    /// Returns which of the wished keys exist, in one round trip.
    private func lookUp(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> KeyProvisioning {
        if wishes.isEmpty { return KeyProvisioning() }
        let tracks = wishes.filter { $0.identity == .track }.map(\.record.attributes)
        let outcomes = await outcomes(
            [
                (.keysByIDs, [.byteArrays(wishes.map(\.record.keyID.bytes))]),
                (
                    .liveKeysByTracks,
                    [
                        .texts(tracks.map(\.contentID.text)), .texts(tracks.map { $0.trackLabel?.text ?? "" }),
                        .integers(tracks.map { $0.periodIndex.map { Int64($0) } ?? -1 }),
                    ]
                ),
            ], .read)
        let named = try records(in: outcomes[0])
        let ofTracks = try records(in: outcomes[1])
        let byKeyID = Dictionary(named.map { ($0.keyID, $0) }, uniquingKeysWith: { first, _ in first })
        var byTrack: [KeyProvisioning.TrackName: [KeyID: ContentKeyRecord]] = [:]
        // If several wishes name a track, its key is found several times.
        for record in ofTracks {
            byTrack[KeyProvisioning.TrackName(record.attributes), default: [:]][record.keyID] = record
        }
        var provisioning = KeyProvisioning()
        for wish in wishes {
            let name = KeyProvisioning.TrackName(wish.record.attributes)
            try provisioning.add(
                wish, named: byKeyID[wish.record.keyID], ofTrack: Array((byTrack[name] ?? [:]).values))
        }
        return provisioning
    }

    private func records(
        in outcome: Result<PostgreSQLResult, PostgreSQLFailure>
    ) throws(KeyProvisionError) -> [ContentKeyRecord] {
        let result: PostgreSQLResult
        do throws(PostgreSQLFailure) { result = try outcome.get() } catch { throw .store(error.storeError) }
        return try wrap(KeyProvisionError.store) { () throws(StoreError) in
            try result.rows { row throws(StoreError) in try StoredContentKey(reading: row).open(with: ring) }
        }
    }

    private static func keys(of wishes: [KeyWish], with ring: KeyRing) throws(StoreError) -> NewKeys {
        var keys: [StoredContentKey] = []
        for wish in wishes { keys.append(try StoredContentKey(sealing: wish.record, with: ring.current)) }
        return NewKeys(keys, byTrack: wishes.map { $0.identity == .track })
    }
}
