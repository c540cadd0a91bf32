package import ContentKeys
package import Records

extension PostgreSQLStore: AccountStore {
    package func devices(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownDevice] {
        let result = try await run(
            .devicePage, [.bytes(owner.bytes), .bytes(after?.bytes ?? []), .integer(Int64(limit))], .read)
        var found: [KnownDevice] = []
        for row in 0..<result.rowCount {
            let end = try result.integer(row, 3)
            found.append(
                KnownDevice(
                    device: try result.pseudonym(row, 0), addedAt: try result.optionalInteger(row, 1),
                    seenAt: try result.optionalInteger(row, 2), keptUntil: end == .max ? nil : end))
        }
        return found
    }

    package func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownPlayback] {
        let result = try await run(
            .playbackPage,
            [
                .bytes(owner.bytes), .bytes(after?.group.bytes ?? []), .integer(after?.number ?? 0),
                .integer(Int64(limit)),
            ], .read)
        var found: [KnownPlayback] = []
        for row in 0..<result.rowCount {
            found.append(
                KnownPlayback(
                    position: PlaybackPosition(
                        group: try result.pseudonym(row, 0), number: try result.integer(row, 1)),
                    groupName: try result.text(row, 2), device: try result.pseudonym(row, 3),
                    session: try result.optionalInteger(row, 4).map { UInt64(bitPattern: $0) },
                    content: result.isNull(row, 5) ? nil : try result.text(row, 5),
                    isCounted: try result.boolean(row, 6), isConfirmed: try result.boolean(row, 7),
                    heldUntil: try result.integer(row, 8)))
        }
        return found
    }

    package func rentals(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownRental] {
        let result = try await run(
            .rentalPage, [.bytes(owner.bytes), .bytes(after?.bytes ?? []), .integer(Int64(limit))], .read)
        var found: [KnownRental] = []
        for row in 0..<result.rowCount {
            found.append(
                KnownRental(
                    name: try result.pseudonym(row, 0), content: try result.text(row, 1),
                    record: try RentalRecord(reading: result, row, 2), keptUntil: try result.integer(row, 4)))
        }
        return found
    }

    package func rental(_ name: Pseudonym, now: Int64) async throws(StoreError) -> RentalRecord? {
        let result = try await run(.rental, [.bytes(name.bytes)], .read)
        return result.rowCount == 0 ? nil : try RentalRecord(reading: result, 0, 0)
    }

    package func change(_ change: AccountChange) async throws(StoreError) -> Bool {
        switch change {
        case .removeDevice(let owner, let device):
            return try await run(.removeDevice, [.bytes(owner.bytes), .bytes(device.bytes)], .write(0)).rowCount > 0
        case .endPlayback(let position, _):
            let lock = position.group.lockNumber
            let values: [PostgreSQLValue] = [
                .integer(lock), .bytes(position.group.bytes), .integer(position.number),
            ]
            return try await run(
                .endPlayback, values, .write(UInt64(bitPattern: lock)), locks: [lock]
            ).boolean(0, 0)
        case .forgetRental(let owner, let name):
            return try await run(.forgetRental, [.bytes(owner.bytes), .bytes(name.bytes)], .write(0)).rowCount > 0
        }
    }
}

extension PostgreSQLResult {
    fileprivate func pseudonym(_ row: Int, _ column: Int) throws(StoreError) -> Pseudonym {
        guard let pseudonym = Pseudonym(try bytes(row, column)) else { throw .recordMalformed }
        return pseudonym
    }
}
