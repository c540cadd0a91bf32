import ByteCoding
package import ContentKeys

extension SQLiteKeyStore: KeyProvider {
    /// Keys that are all there cost no write. Otherwise everything happens in one immediate transaction, on a thread of
    /// its own.
    package func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey] {
        let (present, number) = try lookUp(wishes)
        let isNoted = generation?.isNoted(number) ?? true
        if present.missing.isEmpty, isNoted { return present.provided }
        return try await onWritingThread { () throws(KeyProvisionError) in
            try self.withWriter { writer throws(KeyProvisionError) in
                // The file says nothing of keys that can be made again.
                if let generation = self.generation, present.firstRandom != nil || !isNoted {
                    return try generation.store(wishes, on: &writer, with: self.ring)
                }
                return try writer.transaction(failure: KeyProvisionError.store) { writer throws(KeyProvisionError) in
                    let provisioning = try writer.provisioning(of: wishes, with: self.ring)
                    try writer.store(provisioning, with: self.ring)
                    return provisioning.provided
                }
            }
        }
    }

    package func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?] {
        try lookUp(wishes).provisioning.provided.map { $0.isNew ? nil : $0.record }
    }

    /// Whether random keys are lost, as far as the file of `keys.generationFile` says. Blocks.
    package func keyGenerationStanding() throws(StoreError) -> KeyGenerationStanding {
        guard let generation else { return .unwatched }
        return try withWriter { writer throws(StoreError) in generation.standing(of: try writer.keyCounter()) }
    }

    /// Takes the database for complete from now on, although keys are lost: contents without a key get new ones. Nil
    /// without a file. Blocks.
    package func acceptRestore() throws(KeyProvisionError) -> KeyRestoreConsent? {
        guard let generation else { return nil }
        return try withWriter { writer throws(KeyProvisionError) in try generation.acceptRestore(on: &writer) }
    }
}

extension KeyWriter {
    /// Stores what is missing, and counts the random keys among it. A part of a transaction.
    mutating func store(
        _ provisioning: KeyProvisioning, with ring: KeyRing
    ) throws(KeyProvisionError) {
        for wish in provisioning.missing {
            let row = try wrap(
                KeyProvisionError.store, try ContentKeyRow(sealing: wish.record, with: ring.current))
            let present = try wrap(KeyProvisionError.store, try insertWithinTransaction(row))
            // The transaction has looked for it, and no other connection writes meanwhile.
            guard present == nil else { throw .store(.recordMalformed) }
        }
        let count = provisioning.randomCount
        if count > 0 { try wrap(KeyProvisionError.store, try countRandomKeys(count)) }
    }
}
