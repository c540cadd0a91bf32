package import KeyCrypto

/// Reads a ledger batch by batch, and returns what is wrong with it.
///
/// Call `read` with the batches in the order of their first sequences. With each batch, pass all rows after the
/// previous batch up to its own last one, in the order of their sequences. Then call `finish` with the remaining rows.
/// The verifier holds only one batch at a time.
package struct LedgerVerifier {
    private let chain: LedgerChain
    /// The accepted checkpoints that have not been compared yet, in the order of their sequences.
    private var checkpoints: ArraySlice<LedgerCheckpoint>
    private var findingsBefore: [LedgerFinding] = []
    /// The last sequence that was accounted for, by a row, a batch or a finding.
    private var sequence: Int64
    /// The MACs to which the next batch may be tied: several if the right one is not known, and none after a gap.
    private var links: [[UInt8]]
    /// The oldest key version that may have sealed the next batch.
    private var version: UInt32 = 0
    /// Whether a key has verified at least one batch.
    private var hasProof = false
    /// Batches before the first verified one that have only a wrong seal. They become a single finding.
    private var unproven: (range: ClosedRange<Int64>, count: Int)?
    /// The number of rows that were read.
    package private(set) var rowCount = 0
    /// The ledger's own statements of purges, the oldest first.
    package private(set) var purges: [LedgerPurge] = []
    /// The number of checkpoints that were skipped because they belong to other nodes.
    package let strangeCheckpointCount: Int

    /// The largest number of links that are tried. Only a ledger in which nothing verifies has more.
    private static let linksMaximum = 16

    /// - Parameters:
    ///   - beginning: The beginning that stands in the place of purged rows; nil if no rows were purged.
    ///   - checkpoints: Checkpoints that were kept elsewhere, in any order. Those from before the beginning and those
    ///     of other nodes are ignored.
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

    /// Checks the next batch.
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

    /// Checks the rows after the last batch, and reports rows that should be there.
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

    /// A wrong key or node makes every seal wrong, and should be one finding. A wrong seal is therefore reported only
    /// when a later one is right, or at the end.
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

    /// Reports rows up to `end` that no batch covers, and the gaps between them.
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
                // If only the stored MAC was altered, the next batch is tied to the computed one.
                if links.count < Self.linksMaximum { links.append(computed) }
            }
        }
        return suspects.seal(isWhole: false, range)
    }

    /// The statement covers all remaining rows, so it cannot show which row is wrong.
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

    /// Parses rows that verified, and reports those that this version cannot read.
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

    /// A checkpoint within the batch must equal the batch's end. Otherwise it was made of another batch.
    private mutating func compareCheckpoints(with batch: LedgerBatch) -> [LedgerFinding] {
        let seen = checkpoints.prefix { $0.sequence <= batch.last }
        checkpoints = checkpoints.dropFirst(seen.count)
        return seen.filter { $0.link != batch.link }.map { .checkpointContradicted($0.sequence) }
    }
}

/// The rows of a batch that do not match their locators.
private struct LedgerSuspects {
    private(set) var findings: [LedgerFinding] = []

    /// Compares the rows with the locators. The batch's seal has a locator for each of its sequences.
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

    /// Returns the findings for a batch without missing rows. If only locators or only the MAC were altered, the batch
    /// is reported and not a row.
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

/// A fault of a ledger, with the sequences of its rows.
package enum LedgerFinding: Hashable, Sendable {
    /// The beginning was not made with this key for this node, or is a checkpoint. Rows before the first one may be
    /// missing.
    case beginningForged
    /// These rows are missing.
    case rowsMissing(ClosedRange<Int64>)
    /// These rows at the end of the ledger are missing: a checkpoint was made after the last of them.
    case tailMissing(ClosedRange<Int64>)
    /// No batch seals these rows.
    case rowsUnsealed(ClosedRange<Int64>)
    /// The row differs from the sealed one.
    case rowAltered(Int64)
    /// The row was sealed at another place in its batch.
    case rowMoved(from: Int64, to: Int64)
    /// No key of this node has sealed a batch of these rows: another key or node made the ledger, or all of it was
    /// altered.
    case sealedByOthers(ClosedRange<Int64>)
    /// The rows or their seal were altered, and it is not known which of them.
    case batchAltered(ClosedRange<Int64>)
    /// No known key verifies the seal of these rows, and a key is missing that has sealed rows of this ledger.
    case keyMissing(ClosedRange<Int64>)
    /// The rows match their locators, but the batch to which they are tied is missing, so their seal cannot be
    /// verified.
    case batchUnproven(ClosedRange<Int64>)
    /// The batch does not follow the previous one, or the size of its seal does not fit its rows.
    case batchMalformed(ClosedRange<Int64>)
    /// The row is sealed, but this version cannot read its entry.
    case entryUnreadable(Int64)
    /// The checkpoint was not made with this key for this node.
    case checkpointForged(Int64)
    /// The checkpoint belongs to another ledger: the row is not the end of the batch that the checkpoint names.
    case checkpointContradicted(Int64)
}

extension LedgerFinding {
    /// The same finding in a ledger that was also sealed under keys which are not known: then a seal that no key
    /// verifies does not show an alteration.
    package var withoutAllKeys: LedgerFinding {
        switch self {
        case .sealedByOthers(let range), .batchAltered(let range): .keyMissing(range)
        case .beginningForged, .rowsMissing, .tailMissing, .rowsUnsealed, .rowAltered, .rowMoved, .keyMissing,
            .batchUnproven, .batchMalformed, .entryUnreadable, .checkpointForged, .checkpointContradicted:
            self
        }
    }
}
