import ByteCoding
package import ContentKeys
package import Records

extension PostgreSQLStore: RecountedStore {
    /// Settles the decision by one statement, which takes effect as a whole or not at all, in a transaction that it may
    /// share with other decisions.
    ///
    /// The subject or token of the decision chooses the connection. Decisions of one subject or token therefore do not
    /// wait for one another in the database.
    package func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        try await settle(decision, on: nil)
    }

    package func settle(
        _ decision: LicenseDecision, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else { return .recorded }
        let locks = Set(decision.contended.map(\.lockNumber)).sorted()
        return try DecisionOutcome(
            try await run(
                .settle, decision.values(locks: locks), Self.route(decision.home, connections), locks: locks),
            of: decision)
    }

    private static func route(_ home: UInt64, _ connections: ClosedRange<Int>?) -> Route {
        connections.map { .bound(home, $0) } ?? .write(home)
    }

    package var newestConnection: Int { connections.newestConnection }

    package var isReconnecting: Bool {
        let health = health
        return health.lastError == nil && !health.isSilent
    }

    package func noteRecorded(_ request: Pseudonym) {
        let lock = request.lockNumber
        post(.noteRecorded, [.bytes(request.bytes)], .write(UInt64(bitPattern: lock)), locks: [lock])
    }

    package func giveBack(_ decision: LicenseDecision) async throws(StoreError) -> Bool {
        guard let replay = decision.replay else { return false }
        let locks = Set(decision.contended.map(\.lockNumber)).sorted()
        let home = decision.home
        let use = decision.tokenUse
        let values: [PostgreSQLValue] = [
            .integers(locks), .bytes(replay.request.bytes), .bytes(replay.answer), .optional(use?.token.bytes),
            .optional(use?.keyID.bytes),
        ]
        guard try await run(.giveBack, values, .write(home), locks: locks)[0].boolean(at: 0) else { return false }
        if let rental = decision.rental, rental.known != rental.record {
            _ = try await run(rental.known == nil ? .takeBackRental : .returnRental, rental.undoing, .write(home))
        }
        return true
    }

    package func replaceMark(
        of node: NodeID, with mark: Int64, expected: Int64, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> Int64 {
        let values: [PostgreSQLValue] = [.text(node.text), .integer(mark), .integer(expected)]
        return try await run(.replaceMark, values, Self.route(0, connections))[0].integer(at: 0)
    }
}

extension PostgreSQLStore: PlaybackSlotStore {
    /// Releases the slots under the locks of their groups, as decisions on them are settled.
    package func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) {
        let locks = Set(claims.map(\.group.lockNumber)).sorted()
        guard let home = locks.last else { return }
        let playbacks = claims.map(\.playback)
        let values: [PostgreSQLValue] = [
            .byteArrays(claims.map(\.group.bytes)), .byteArrays(playbacks.map(\.device.bytes)),
            .integers(playbacks.map { $0.session.map { Int64(bitPattern: $0) } }),
            .byteArrays(playbacks.map(\.content.bytes)),
        ]
        _ = try await run(.releaseSlots, values, .write(UInt64(bitPattern: home)), locks: locks)
    }
}

/// The verdict of `settle_account_1`. The database's functions have these numbers, so they never change.
private enum SettleVerdict: Int64 {
    case recorded = 0
    case repeated = 1
    case replayed = 2
    case tokenUsed = 3
    case deviceLimit = 4
    case slotsFull = 5
    case slotEvicted = 6
    case sessionSuperseded = 7
    case rentalDiffers = 8
}

extension DecisionOutcome {
    /// Reads verdict, limit_count, current_count, known_answer, was_recorded, opened_at and first_play.
    fileprivate init(_ result: PostgreSQLResult, of decision: LicenseDecision) throws(StoreError) {
        let row = result[0]
        guard result.rowCount == 1, let verdict = SettleVerdict(rawValue: try row.integer(at: 0)) else {
            throw .recordMalformed
        }
        switch verdict {
        case .recorded: self = .recorded
        case .repeated: self = .repeated(answer: try row.bytes(at: 3), isRecorded: try row.boolean(at: 4))
        case .replayed: self = .denied(.replayed)
        case .tokenUsed: self = .denied(.tokenUsed(limit: try row.count(1)))
        case .deviceLimit:
            let index = Int(try row.count(2)) - 1
            guard decision.devicePlaces.indices.contains(index) else { throw .recordMalformed }
            self = .denied(decision.devicePlaces[index].denial)
        case .slotsFull: self = .denied(.slotsFull(current: try row.count(2), limit: try row.count(1)))
        case .slotEvicted: self = .denied(.slotEvicted)
        case .sessionSuperseded: self = .denied(.sessionSuperseded)
        case .rentalDiffers:
            self = .denied(.rentalDiffers(row.isNull(at: 5) ? nil : try RentalRecord(reading: row, at: 5)))
        }
    }
}

extension PostgreSQLRow {
    fileprivate func count(_ column: Int) throws(StoreError) -> UInt32 {
        guard let count = UInt32(exactly: try integer(at: column)) else { throw .recordMalformed }
        return count
    }
}

extension Pseudonym {
    /// The advisory lock under which all rows of this pseudonym are changed.
    var lockNumber: Int64 {
        Int64(bitPattern: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension LicenseDecision {
    /// The pseudonyms that other decisions may use at the same time. The last one is the widest: a subject's group.
    fileprivate var contended: [Pseudonym] {
        [replay?.request, sessionTokenUse?.session, tokenUse?.token, rental?.name].compactMap { $0 }
            + devicePlaces.map(\.owner) + slotClaims.map(\.group)
    }

    /// The number by which the decision's connection is chosen.
    fileprivate var home: UInt64 { UInt64(bitPattern: contended.last?.lockNumber ?? 0) }

    /// The parameters of `settle_account_1`.
    func values(locks: [Int64]) -> [PostgreSQLValue] {
        let session = sessionTokenUse?.values ?? [PostgreSQLValue](repeating: .null, count: 3)
        // The name of the request stands for its token and its party too.
        return accountValues + [.null] + session + [.integer(now), .integers(locks)] + replayValues + tokenUseValues
            + deviceValues
            + slotValues
    }

    private var accountValues: [PostgreSQLValue] {
        let names = slotClaims.map(\.description)
        return (rental?.values ?? [PostgreSQLValue](repeating: .null, count: 8)) + [
            .booleans(devicePlaces.map { $0.kind == .replacing }), .byteArrays(names.map { $0?.owner.bytes }),
            .texts(names.map { $0?.groupName }), .texts(names.map { $0?.content }),
        ]
    }

    private var replayValues: [PostgreSQLValue] {
        guard let replay else { return [PostgreSQLValue](repeating: .null, count: 5) }
        let (retryUntil, overflows) = now.addingReportingOverflow(replay.retryWindow)
        return [
            .bytes(replay.request.bytes), .bytes(replay.request.bytes), .integer(overflows ? .max : retryUntil),
            .integer(replay.keptUntil), .bytes(replay.answer),
        ]
    }

    private var tokenUseValues: [PostgreSQLValue] {
        guard let tokenUse else { return [PostgreSQLValue](repeating: .null, count: 4) }
        return [
            .bytes(tokenUse.token.bytes), .bytes(tokenUse.keyID.bytes), .integer(Int64(tokenUse.limit)),
            .integer(tokenUse.keptUntil),
        ]
    }

    private var deviceValues: [PostgreSQLValue] {
        [
            .byteArrays(devicePlaces.map(\.owner.bytes)), .byteArrays(devicePlaces.map(\.device.bytes)),
            .integers(devicePlaces.map { Int64($0.limit) }), .integers(devicePlaces.map { $0.keptUntil ?? .max }),
        ]
    }

    private var slotValues: [PostgreSQLValue] {
        let playbacks = slotClaims.map(\.playback)
        return [
            .byteArrays(slotClaims.map(\.group.bytes)), .integers(slotClaims.map { Int64($0.limit) }),
            .booleans(slotClaims.map { $0.whenFull == .evictOldest }), .byteArrays(playbacks.map(\.device.bytes)),
            .integers(playbacks.map { $0.session.map { Int64(bitPattern: $0) } }),
            .byteArrays(playbacks.map(\.content.bytes)), .booleans(slotClaims.map(\.isConfirmed)),
            .booleans(playbacks.map(\.isRelayed)), .integers(slotClaims.map(\.heldUntil)),
        ]
    }
}

extension SessionTokenUse {
    /// The parameters of `settle_account_1` for the session.
    fileprivate var values: [PostgreSQLValue] {
        [.bytes(session.bytes), .integer(Int64(generation)), .integer(keptUntil)]
    }
}

extension RentalClaim {
    /// The parameters of `settle_account_1` for the rental.
    fileprivate var values: [PostgreSQLValue] {
        [.bytes(name.bytes), .bytes(owner.bytes), .text(content)] + Self.values(known) + Self.values(record)
            + [.integer(keptUntil)]
    }

    /// The parameters of the statement that takes the claim back.
    fileprivate var undoing: [PostgreSQLValue] {
        [.bytes(name.bytes)] + Self.values(record) + (known == nil ? [] : Self.values(known))
    }

    private static func values(_ record: RentalRecord?) -> [PostgreSQLValue] {
        [record.map { .integer($0.openedAt) } ?? .null, record?.firstPlay.map { .integer($0) } ?? .null]
    }
}
