import ByteCoding
package import KeyCrypto

/// A batch from which renewals were removed before the batch itself is purged.
///
/// In such a rolled-up batch, a statement under the ledger key says that the remaining rows are complete. The statement
/// takes the place of the batch's locators, so that the seal is
///
///     offset  size  field
///          0    32  MAC of the batch as it was sealed, to which the next one is tied
///         32     1  form, 1
///         33    32  MAC of the batch before
///         65    32  MAC of the statement
///
/// The input of the statement's MAC is
///
///     size  field
///        8  "LKROLLUP"
///        1  size of the node's name, N
///        N  the node's name
///        8  first sequence
///        8  last sequence
///        8  time of the batch
///       32  MAC of the batch as it was sealed
///       32  MAC of the batch before
///
///     and for each row that remains, in the order of their sequences:
///        8  sequence
///        4  size of the body, B
///        B  body
///
/// with big-endian integers. Chain and checkpoints stay valid. Only the holder of the key can remove a row without
/// notice.
extension LedgerBatch {
    fileprivate static let rolledUpSealSize = macSize + 1 + 2 * macSize
    fileprivate static let rolledUpForm: UInt8 = 1

    /// Whether renewals were removed from the batch. The seal of any other batch has another size, a multiple of four.
    package var isRolledUp: Bool { seal.count == Self.rolledUpSealSize && seal[Self.macSize] == Self.rolledUpForm }

    /// The MAC to which a rolled-up batch was tied when it was sealed.
    var statedPrevious: [UInt8] { Array(seal.dropFirst(Self.macSize + 1).prefix(Self.macSize)) }

    fileprivate var statementMAC: ArraySlice<UInt8> { seal.suffix(Self.macSize) }
}

extension LedgerChain {
    /// Returns the batch without its renewals. Returns nil if it is not the batch that was sealed after `previous`.
    /// Such a batch stays unchanged, so that verification reports it.
    package func rollUp(
        _ batch: LedgerBatch, _ rows: [LedgerRow], keeping kept: [LedgerRow], previous: [UInt8]
    ) throws(CryptoError) -> LedgerBatch? {
        let isWhole = rows.first?.sequence == batch.first && rows.last?.sequence == batch.last
        guard !batch.isRolledUp, isWhole, batch.last &- batch.first == Int64(rows.count) - 1 else { return nil }
        let mac = batch.mac
        guard try isMAC(of: batch, rows.map(\.body), previous: previous) else { return nil }
        var rolled = batch
        rolled.seal = mac + [LedgerBatch.rolledUpForm] + previous
        rolled.seal += try code(for: statement(of: batch, kept[...], previous: previous))
        return rolled
    }

    /// Whether a batch, rolled up or not, follows `link` with exactly these rows.
    package func follows(_ batch: LedgerBatch, _ rows: [LedgerRow], _ link: LedgerLink) throws(CryptoError) -> Bool {
        guard batch.first == link.sequence + 1, batch.last >= batch.first else { return false }
        if batch.isRolledUp {
            guard batch.statedPrevious == link.mac else { return false }
            return try accepts(batch, rows[...])
        }
        guard rows.map(\.sequence) == Array(batch.first...batch.last) else { return false }
        return try accepts(batch, rows.map(\.body), after: link)
    }

    /// Whether one of this chain's keys made the statement of a rolled-up batch over exactly these rows.
    func accepts(_ batch: LedgerBatch, _ rows: ArraySlice<LedgerRow>) throws(CryptoError) -> Bool {
        try accepts(Array(batch.statementMAC), for: statement(of: batch, rows, previous: batch.statedPrevious))
    }

    private func statement(
        of batch: LedgerBatch, _ rows: ArraySlice<LedgerRow>, previous: [UInt8]
    ) -> [UInt8] {
        var message = ByteWriter(capacity: 160 + rows.reduce(0) { $0 + 12 + $1.body.count })
        message.write(Array("LKROLLUP".utf8))
        message.write(node)
        message.write(UInt64(bitPattern: batch.first))
        message.write(UInt64(bitPattern: batch.last))
        message.write(UInt64(bitPattern: batch.at))
        message.write(batch.mac)
        message.write(previous)
        for row in rows {
            message.write(UInt64(bitPattern: row.sequence))
            message.write(UInt32(row.body.count))
            message.write(row.body)
        }
        return message.bytes
    }
}

/// The renewals that are removed from a ledger together, counted for each playback.
package struct RenewalSummary: Sendable {
    private struct Playback {
        var first: LedgerEntry
        var last: LedgerEntry
        var count = 1
    }

    /// Identifies the playback of a renewal that does not say which license it follows.
    private struct Names: Hashable {
        let subject: Pseudonym?
        let device: Pseudonym?
        let keyID: KeyID?
    }

    private var playbacks: [Playback] = []
    private var indexByLicense: [LicenseID: Int] = [:]
    private var indexByNames: [Names: Int] = [:]

    package init() {}

    /// Adds a renewal. Renewals are added in the order of the ledger.
    package mutating func add(_ entry: LedgerEntry) {
        let names = Names(subject: entry.subject, device: entry.device, keyID: entry.keyID)
        let known = entry.previous.map { indexByLicense[$0] } ?? indexByNames[names]
        let index: Int
        if let known {
            index = known
            playbacks[index].last = entry
            playbacks[index].count += 1
        } else {
            index = playbacks.count
            playbacks.append(Playback(first: entry, last: entry))
        }
        if let previous = entry.previous { indexByLicense[previous] = index } else { indexByNames[names] = index }
        indexByLicense[entry.license] = index
    }

    /// Returns an entry for each playback. Its previous license is the one that the first renewal followed, and its end
    /// is the end of the last renewal. `name` returns an id for each entry.
    package func entries(
        at now: Int64, naming name: () throws(CryptoError) -> LicenseID
    ) throws(CryptoError) -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        for playback in playbacks {
            let (first, last) = (playback.first, playback.last)
            var entry = LedgerEntry(
                kind: .renewalsRolledUp, at: now, license: try name(), keyID: last.keyID, content: last.content,
                detail: "\(playback.count) from \(Self.time(first.at)) to \(Self.time(last.at))")
            entry.previous = first.previous
            entry.subject = last.subject
            entry.device = last.device
            entry.tokenID = last.tokenID
            entry.facts = last.facts
            entry.stated = last.stated
            entry.cookie = last.cookie
            entry.lease = last.lease
            entry.rental = last.rental
            entry.until = last.until
            entries.append(entry)
        }
        return entries
    }

    private static func time(_ seconds: Int64) -> String { UnixTime(seconds: seconds)?.description ?? String(seconds) }
}
