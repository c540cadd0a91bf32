import ByteCoding
import FairPlay
import Records
import StorageSQLite

extension LedgerEntry.Kind {
    /// The name of the kind in output. It must never change, because programs read it.
    var word: String {
        switch self {
        case .licenseIssued: "licenseIssued"
        case .licenseRenewed: "licenseRenewed"
        case .licenseRefused: "licenseRefused"
        case .syncReportAccepted: "syncReportAccepted"
        case .keyRevealed: "keyRevealed"
        case .revoked: "revoked"
        case .revocationLifted: "revocationLifted"
        case .refusalsOmitted: "refusalsOmitted"
        case .renewalsRolledUp: "renewalsRolledUp"
        case .sessionEndReported: "sessionEndReported"
        case .keyDelivered: "keyDelivered"
        case .rotationSet: "rotationSet"
        case .tokenMinted: "tokenMinted"
        case .keyCreated: "keyCreated"
        case .keyImported: "keyImported"
        case .keyAliased: "keyAliased"
        case .keyWithdrawn: "keyWithdrawn"
        case .keyRestored: "keyRestored"
        case .keyDeleted: "keyDeleted"
        case .keyRestoreAccepted: "keyRestoreAccepted"
        case .nodeStarted: "nodeStarted"
        case .configurationReloaded: "configurationReloaded"
        case .nodeStopped: "nodeStopped"
        case .clockAccepted: "clockAccepted"
        case .deviceRemoved: "deviceRemoved"
        case .playbackEnded: "playbackEnded"
        case .rentalForgotten: "rentalForgotten"
        case .rowsPurged: "rowsPurged"
        case .sharedRowsPurged: "sharedRowsPurged"
        case .ledgerRejoined: "ledgerRejoined"
        }
    }
}

extension LedgerFind {
    /// Writes the members of an entry for `--json`. A member is null if the entry has no value for it.
    func write(to writer: inout JSONWriter) {
        writer.member("sequence", sequence)
        writer.member("at", Self.time(entry.at))
        writer.member("kind", entry.kind.word)
        writer.member("license", entry.license.description)
        writer.member("previous", entry.previous?.description)
        writer.member("kid", entry.keyID?.description)
        writer.member("content", entry.content)
        writer.member("subject", entry.subject.map(Self.digits))
        writer.member("device", entry.device.map(Self.digits))
        writer.member("token", entry.tokenID)
        writer.member("cookie", entry.cookie)
        writer.member("detail", entry.detail)
        writer.name("lease")
        if let lease = entry.lease { writer.unsigned(UInt64(lease)) } else { writer.null() }
        writer.name("rental")
        if let rental = entry.rental { writer.unsigned(UInt64(rental)) } else { writer.null() }
        writer.member("until", entry.until.map(Self.time))
        writer.name("playback")
        if let playback = entry.playback { writer.unsigned(UInt64(playback)) } else { writer.null() }
        writer.member("renewAfter", entry.renewAfter.map(Self.time))
        writer.member("actor", entry.actor)
        writer.member("request", entry.request)
        writer.name("report")
        if let report = entry.report { writer.object { report.write(to: &$0) } } else { writer.null() }
    }

    /// The entry as one line of text, without the members that it does not have.
    var text: String {
        let words: [(name: String, value: String?)] = [
            ("licence", entry.license.description), ("after", entry.previous?.description),
            ("kid", entry.keyID?.description), ("content", entry.content), ("subject", entry.subject.map(Self.digits)),
            ("device", entry.device.map(Self.digits)), ("token", entry.tokenID), ("cookie", entry.cookie),
            ("lease", entry.lease.map { "\($0)s" }), ("rental", entry.rental.map { "\($0)s" }),
            ("until", entry.until.map(Self.time)), ("playback", entry.playback.map { "\($0)s" }),
            ("renew", entry.renewAfter.map(Self.time)), ("by", entry.actor), ("request", entry.request),
            ("flags", entry.report?.flagText), ("outcome", entry.report?.outcome),
            ("title", entry.report.map { Hexadecimal.encode($0.titleID.bytes) }),
            ("streams", entry.report.map { $0.streamIDTexts.joined(separator: ",") }),
        ]
        let start = "\(sequence)  \(Self.time(entry.at))  \(entry.kind.word)"
        let detail = entry.detail.isEmpty ? "" : "  " + Self.printable(entry.detail)
        let parts = words.compactMap { word in word.value.map { "  \(word.name) \(Self.printable($0))" } }
        return start + detail + parts.joined()
    }

    /// The first half of a pseudonym, which is all that a ledger stores, as hexadecimal digits.
    private static func digits(_ pseudonym: Pseudonym) -> String { Hexadecimal.encode(pseudonym.bytes.prefix(16)) }

    private static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? String(seconds)
    }

    /// Replaces control characters, so that a text that a client has chosen cannot control the terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "?" : $0 }))
    }
}

extension DeviceReport {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("flags", flagText)
        writer.member("outcome", outcome)
        writer.member("titleID", Hexadecimal.encode(titleID.bytes))
        writer.name("streamIDs")
        writer.array { writer in for text in streamIDTexts { writer.string(text) } }
    }

    /// The flags as sixteen hexadecimal digits.
    fileprivate var flagText: String {
        Hexadecimal.encode(Array(Bytes16(high: 0, low: flags).bytes.suffix(8)))
    }

    fileprivate var streamIDTexts: [String] { streamIDs.map { Hexadecimal.encode($0.bytes) } }

    /// The outcome that the device reports, in one word: the first of these flags that is set.
    fileprivate var outcome: String {
        let words: [(flag: SyncFlags, word: String)] = [
            (.success, "success"), (.objectNotFound, "objectNotFound"), (.objectExpired, "objectExpired"),
        ]
        return words.first { SyncFlags(rawValue: flags).contains($0.flag) }?.word ?? "none"
    }
}

extension LedgerVerified {
    /// The most rows about purges that are printed in full.
    private static let linesMaximum = 20

    /// The purges that the ledger records. The latest ones have a line each.
    var purgeLines: [String] {
        var lines: [String] = []
        if let purgedThrough { lines.append("entries through \(purgedThrough) were purged") }
        if purges.count > Self.linesMaximum {
            let older = purges.dropLast(Self.linesMaximum)
            lines.append("\(older.count) older statements of purges: \(older.reduce(0) { $0 + $1.rowCount }) entries")
        }
        return lines + purges.suffix(Self.linesMaximum).map(\.text)
    }

    /// Writes the members about purges for `--json`.
    func writePurges(to writer: inout JSONWriter) {
        writer.name("purgedThrough")
        if let purgedThrough { writer.integer(purgedThrough) } else { writer.null() }
        writer.name("purges")
        writer.array { writer in for purge in purges { writer.object { purge.write(to: &$0) } } }
    }
}

extension LedgerPurge {
    fileprivate var text: String {
        let act = place == .ledger ? "purged" : "purged from the copy in PostgreSQL"
        return "\(time)  \(act): \(rowCount) entries through \(through), kept for \(retention) s"
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("at", time)
        writer.member("place", place == .ledger ? "ledger" : "copy")
        writer.member("entries", rowCount)
        writer.member("through", through)
        writer.member("retention", retention)
    }

    private var time: String { UnixTime(seconds: at)?.description ?? String(at) }
}

extension LedgerFinding {
    /// The finding as one line of text.
    var text: String {
        switch self {
        case .beginningForged: "the beginning: not signed with this ledger's key; older entries may be missing"
        case .rowsMissing(let range): "\(Self.text(range)): missing"
        case .tailMissing(let range): "\(Self.text(range)): missing at the end, although a checkpoint has seen them"
        case .rowsUnsealed(let range): "\(Self.text(range)): not sealed by any batch"
        case .rowAltered(let sequence): "\(sequence): altered"
        case .rowMoved(let from, let to): "\(to): has the entry that was recorded as \(from)"
        case .sealedByOthers(let range):
            "\(Self.text(range)): none of these is sealed under ledger.key or ledger.olderKeys for this node; another key or another node "
                + "made the ledger, or all of it was altered"
        case .batchAltered(let range): "\(Self.text(range)): one of these or their seal was altered"
        case .batchUnproven(let range): "\(Self.text(range)): not proven, because the batch before them is missing"
        case .batchMalformed(let range): "\(Self.text(range)): their batch has a form that Latchkey does not write"
        case .entryUnreadable(let sequence): "\(sequence): sealed, but not readable by this version"
        case .checkpointForged(let sequence):
            "the checkpoint of \(sequence): not signed with this ledger's key for this node"
        case .checkpointContradicted(let sequence): "\(sequence): a checkpoint has seen another ledger up to here"
        }
    }

    /// Writes the members of a finding for `--json`.
    func write(to writer: inout JSONWriter) {
        writer.member("finding", word)
        let range = sequences
        writer.name("first")
        if let range { writer.integer(range.lowerBound) } else { writer.null() }
        writer.name("last")
        if let range { writer.integer(range.upperBound) } else { writer.null() }
    }

    private var word: String {
        switch self {
        case .beginningForged: "beginningForged"
        case .rowsMissing: "rowsMissing"
        case .tailMissing: "tailMissing"
        case .rowsUnsealed: "rowsUnsealed"
        case .rowAltered: "rowAltered"
        case .rowMoved: "rowMoved"
        case .sealedByOthers: "sealedByOthers"
        case .batchAltered: "batchAltered"
        case .batchUnproven: "batchUnproven"
        case .batchMalformed: "batchMalformed"
        case .entryUnreadable: "entryUnreadable"
        case .checkpointForged: "checkpointForged"
        case .checkpointContradicted: "checkpointContradicted"
        }
    }

    private var sequences: ClosedRange<Int64>? {
        switch self {
        case .beginningForged: nil
        case .rowsMissing(let range), .tailMissing(let range), .rowsUnsealed(let range), .sealedByOthers(let range),
            .batchAltered(let range),
            .batchUnproven(let range), .batchMalformed(let range):
            range
        case .rowAltered(let sequence), .rowMoved(_, let sequence), .entryUnreadable(let sequence),
            .checkpointForged(let sequence), .checkpointContradicted(let sequence):
            sequence...sequence
        }
    }

    private static func text(_ range: ClosedRange<Int64>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
