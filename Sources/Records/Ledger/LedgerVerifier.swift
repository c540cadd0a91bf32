package import KeyCrypto

/// Reads a ledger batch by batch, and says what is wrong with it.
///
/// Hand in the batches in the order of their first sequences, each with all rows behind the batch before up to its own
/// last one, in the order of their sequences. Then finish with the rows that remain. It holds one batch at a time.
package struct LedgerVerifier {
    private let chain: LedgerChain
    /// Accepted, in the order of their sequences, as far as they are not yet compared.
    private var checkpoints: ArraySlice<LedgerCheckpoint>
    private var findingsBefore: [LedgerFinding] = []
    /// The last row of which any trace is known.
    private var sequence: Int64
    /// What the next batch may be tied to: more than one if it is not known which is right, and none behind a gap.
    private var links: [[UInt8]]
    /// The oldest key version that may seal the next batch.
    private var version: UInt32 = 0
    /// Whether a batch was what a key sealed.
    private var hasProof = false
    /// Batches before the first proof whose seals alone are wrong: one finding, however many there are.
    private var unproven: (range: ClosedRange<Int64>, count: Int)?
    /// How many rows were read.
    package private(set) var rowCount = 0
    /// What the ledger itself says of purges, the oldest first.
    package private(set) var purges: [LedgerPurge] = []
    /// How many checkpoints were passed over because they are of other nodes.
    package let strangeCheckpointCount: Int

    /// The most links that are tried. Only a ledger of which nothing verifies has more.
    private static let linksMaximum = 16

    /// - Parameters:
    ///   - beginning: What the ledger has in the place of purged rows; nil if no rows were purged.
    ///   - checkpoints: Those kept elsewhere, in any order. Ones from before the beginning say nothing any more, and
    ///     ones of other nodes nothing about this ledger.
    package init(
        _ chain: LedgerChain, beginning: LedgerCheckpoint? = nil, checkpoints: [LedgerCheckpoint] = []
    ) throws(CryptoError) {
        self.chain = chain
        let start = beginning?.link ?? .start
        sequence = start.sequence
        links = [start.mac]
        self.checkpoints = []
        if let beginning {
            let isGood = try chain.accepts(beginning)
            if !isGood || beginning.kind != .beginning { findingsBefore.append(.beginningForged) }
        }
        let own = checkpoints.filter { $0.node == chain.node }
        strangeCheckpointCount = checkpoints.count - own.count
        var accepted: [LedgerCheckpoint] = []
        for checkpoint in own {
            if try !chain.accepts(checkpoint) {
                findingsBefore.append(.checkpointForged(checkpoint.sequence))
            } else if checkpoint.sequence > start.sequence {
                accepted.append(checkpoint)
            }
        }
        self.checkpoints = accepted.sorted { $0.sequence < $1.sequence }[...]
    }

    /// Judges the next batch.
    package mutating func read(_ batch: LedgerBatch, _ rows: [LedgerRow]) throws(CryptoError) -> [LedgerFinding] {
        var findings = takeFindingsBefore()
        guard batch.first > sequence, batch.last >= batch.first, batch.last < .max else {
            return findings + [.batchMalformed(min(batch.first, batch.last)...max(batch.first, batch.last))]
        }
        rowCount += rows.count
        let split = rows.firstIndex { $0.sequence >= batch.first } ?? rows.endIndex
        findings += readUnsealed(rows[..<split], through: batch.first - 1)
        findings += holdingBack(try judge(batch, rows[split...]), batch.first...batch.last)
        findings += compareCheckpoints(with: batch)
        sequence = batch.last
        return findings
    }

    /// Judges what stands behind the last batch, and what should.
    package mutating func finish(_ rows: [LedgerRow]) -> [LedgerFinding] {
        var findings = takeFindingsBefore()
        if let unproven {
            findings.append(unproven.count > 1 ? .sealedByOthers(unproven.range) : .batchAltered(unproven.range))
        }
        unproven = nil
        rowCount += rows.count
        if let last = rows.last { findings += readUnsealed(rows[...], through: last.sequence) }
        if let seen = checkpoints.last?.sequence, seen > sequence { findings.append(.tailMissing(sequence + 1...seen)) }
        checkpoints = []
        return findings
    }

    /// A wrong key or node makes every seal wrong, and is one finding. So a wrong seal waits for the first one that is
    /// right.
    private mutating func holdingBack(_ findings: [LedgerFinding], _ range: ClosedRange<Int64>) -> [LedgerFinding] {
        if hasProof {
            defer { unproven = nil }
            return (unproven.map { [.batchAltered($0.range)] } ?? []) + findings
        }
        guard findings == [.batchAltered(range)] else { return findings }
        unproven = (
            range: (unproven?.range.lowerBound ?? range.lowerBound)...range.upperBound, (unproven?.count ?? 0) + 1
        )
        return []
    }

    private mutating func takeFindingsBefore() -> [LedgerFinding] {
        defer { findingsBefore = [] }
        return findingsBefore
    }

    /// Rows that no batch covers, up to `end`; and the gaps between them.
    private mutating func readUnsealed(_ rows: ArraySlice<LedgerRow>, through end: Int64) -> [LedgerFinding] {
        guard sequence < end else { return [] }
        var findings: [LedgerFinding] = []
        for row in rows {
            if row.sequence > sequence + 1 { findings.append(.rowsMissing(sequence + 1...row.sequence - 1)) }
            if case .rowsUnsealed(let range) = findings.last, range.upperBound + 1 == row.sequence {
                findings[findings.count - 1] = .rowsUnsealed(range.lowerBound...row.sequence)
            } else {
                findings.append(.rowsUnsealed(row.sequence...row.sequence))
            }
            sequence = row.sequence
        }
        if sequence < end { findings.append(.rowsMissing(sequence + 1...end)) }
        links = []
        return findings
    }

    private mutating func judge(
        _ batch: LedgerBatch, _ rows: ArraySlice<LedgerRow>
    ) throws(CryptoError) -> [LedgerFinding] {
        let range = batch.first...batch.last
        let mac = batch.mac
        let previous = links
        links = [mac]
        if batch.isRolledUp { return try judgeRolledUp(batch, rows, behind: previous) }
        guard range.count == (batch.seal.count - LedgerBatch.macSize) / 4, batch.seal.count % 4 == 0 else {
            return [.batchMalformed(range)]
        }
        let missing = Self.missing(from: range, rows)
        let suspects = LedgerSuspects(batch, rows)
        guard missing.isEmpty else { return missing + suspects.findings }
        let bodies = rows.map(\.body)
        guard !previous.isEmpty else {
            return suspects.findings.isEmpty ? [.batchUnproven(range)] : suspects.findings
        }
        for link in previous {
            for version in chain.versions where version >= self.version {
                let computed = try chain.mac(of: batch, bodies, previous: link, version: version)
                if ConstantTime.areEqual(computed[...], mac[...]) {
                    self.version = version
                    hasProof = true
                    links = [mac]
                    return suspects.seal(isWhole: true, range) + readable(rows)
                }
                // If the stored MAC alone was altered, the batch behind is tied to the right one.
                if links.count < Self.linksMaximum { links.append(computed) }
            }
        }
        return suspects.seal(isWhole: false, range)
    }

    /// Its statement says which rows remain; which one of them is wrong nothing says.
    private mutating func judgeRolledUp(
        _ batch: LedgerBatch, _ rows: ArraySlice<LedgerRow>, behind previous: [[UInt8]]
    ) throws(CryptoError) -> [LedgerFinding] {
        let range = batch.first...batch.last
        guard try chain.accepts(batch, rows) else { return [.batchAltered(range)] }
        guard previous.isEmpty || previous.contains(batch.statedPrevious) else { return [.batchAltered(range)] }
        hasProof = true
        return readable(rows)
    }

    private static func missing(from range: ClosedRange<Int64>, _ rows: ArraySlice<LedgerRow>) -> [LedgerFinding] {
        var findings: [LedgerFinding] = []
        var next = range.lowerBound
        for row in rows {
            if row.sequence > next { findings.append(.rowsMissing(next...row.sequence - 1)) }
            next = row.sequence + 1
        }
        if next <= range.upperBound { findings.append(.rowsMissing(next...range.upperBound)) }
        return findings
    }

    /// Reads rows that are what was sealed.
    private mutating func readable(_ rows: ArraySlice<LedgerRow>) -> [LedgerFinding] {
        var findings: [LedgerFinding] = []
        for row in rows {
            do throws(LedgerEntryError) {
                let entry = try LedgerEntry(parsing: row.body)
                if let purge = LedgerPurge(entry) { purges.append(purge) }
            } catch {
                findings.append(.entryUnreadable(row.sequence))
            }
        }
        return findings
    }

    /// A checkpoint within the batch is made at its end, or there was another batch.
    private mutating func compareCheckpoints(with batch: LedgerBatch) -> [LedgerFinding] {
        let seen = checkpoints.prefix { $0.sequence <= batch.last }
        checkpoints = checkpoints.dropFirst(seen.count)
        return seen.filter { $0.link != batch.link }.map { .checkpointContradicted($0.sequence) }
    }
}

/// The rows of a batch that are not what their locators say.
private struct LedgerSuspects {
    private(set) var findings: [LedgerFinding] = []

    /// The batch's seal has a locator for each of its sequences.
    init(_ batch: LedgerBatch, _ rows: ArraySlice<LedgerRow>) {
        let locators = batch.locators
        for row in rows {
            let locator = LedgerLocator.of(row.body)
            guard locators[Int(row.sequence - batch.first)] != locator else { continue }
            if let place = locators.firstIndex(of: locator) {
                findings.append(.rowMoved(from: batch.first + Int64(place), to: row.sequence))
            } else {
                findings.append(.rowAltered(row.sequence))
            }
        }
    }

    /// What to say of a batch of which no row is missing: locators alone that are altered are the batch's fault, as is
    /// a MAC alone.
    func seal(isWhole: Bool, _ range: ClosedRange<Int64>) -> [LedgerFinding] {
        if isWhole { return findings.isEmpty ? [] : [.batchAltered(range)] }
        return findings.isEmpty ? [.batchAltered(range)] : findings
    }
}

extension LedgerBatch {
    fileprivate var locators: [UInt32] {
        let bytes = seal.dropFirst(Self.macSize)
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { offset in
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

/// What is wrong with a ledger, by the sequences of the rows concerned.
package enum LedgerFinding: Hashable, Sendable {
    /// The beginning was not made with this key for this node, or is a checkpoint: rows before the first one may be
    /// missing.
    case beginningForged
    /// These rows are missing.
    case rowsMissing(ClosedRange<Int64>)
    /// These rows, with which the ledger ended once, are missing: a checkpoint has seen the last of them.
    case tailMissing(ClosedRange<Int64>)
    /// No batch seals these rows.
    case rowsUnsealed(ClosedRange<Int64>)
    /// The row is not what was sealed.
    case rowAltered(Int64)
    /// The row was sealed at another place of its batch.
    case rowMoved(from: Int64, to: Int64)
    /// No batch of these rows is sealed under a key of this node: another key or another node made the ledger, or all
    /// of it was altered.
    case sealedByOthers(ClosedRange<Int64>)
    /// The rows or their seal are not what was written, and nothing says which.
    case batchAltered(ClosedRange<Int64>)
    /// Nothing is wrong with these rows themselves; what they are tied to is missing, so that their seal says nothing.
    case batchUnproven(ClosedRange<Int64>)
    /// The batch does not lie behind the one before, or its seal has another size than its rows ask for.
    case batchMalformed(ClosedRange<Int64>)
    /// The row is sealed, but holds no entry that this version can read.
    case entryUnreadable(Int64)
    /// A checkpoint that was not made with this key for this node.
    case checkpointForged(Int64)
    /// A checkpoint has seen another ledger: the row is not the end of the batch that it names.
    case checkpointContradicted(Int64)
}
