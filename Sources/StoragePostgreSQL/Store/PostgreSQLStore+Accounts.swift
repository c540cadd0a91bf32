package import ContentKeys
package import Records

extension PostgreSQLStore: AccountStore {
    package func devices(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownDevice] {
        let result = try await run(
            .devicePage, [.bytes(owner.bytes), .bytes(after?.bytes ?? []), .integer(Int64(limit))], .read)
        return try result.rows(read: KnownDevice.init(reading:))
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
        return try result.rows { row throws(StoreError) in
            KnownPlayback(
                position: PlaybackPosition(group: try row.pseudonym(at: 0), number: try row.integer(at: 1)),
                groupName: try row.text(at: 2), device: try row.pseudonym(at: 3),
                session: try row.optionalInteger(at: 4).map { UInt64(bitPattern: $0) },
                content: try row.optionalText(at: 5), isCounted: try row.boolean(at: 6),
                isConfirmed: try row.boolean(at: 7), heldUntil: try row.integer(at: 8))
        }
    }

    package func rentals(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownRental] {
        let result = try await run(
            .rentalPage, [.bytes(owner.bytes), .bytes(after?.bytes ?? []), .integer(Int64(limit))], .read)
        return try result.rows(read: KnownRental.init(reading:))
    }

    package func rental(_ name: Pseudonym, now: Int64) async throws(StoreError) -> RentalRecord? {
        try await run(.rental, [.bytes(name.bytes)], .read).first { row throws(StoreError) in
            try RentalRecord(reading: row, at: 0)
        }
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
            )[0].boolean(at: 0)
        case .forgetRental(let owner, let name):
            return try await run(.forgetRental, [.bytes(owner.bytes), .bytes(name.bytes)], .write(0)).rowCount > 0
        }
    }
}
