package import ByteCoding
import FairPlay
package import Records
package import StorageSQLite

extension LedgerEntry.Kind {
    /// The name of the kind in output. It must never change, because programs read it.
    package var word: String {
        switch self {
        case .licenseIssued: "license_issued"
        case .licenseRenewed: "license_renewed"
        case .licenseRefused: "license_refused"
        case .syncReportAccepted: "sync_report_accepted"
        case .keyRevealed: "key_revealed"
        case .revoked: "revoked"
        case .revocationLifted: "revocation_lifted"
        case .refusalsOmitted: "refusals_omitted"
        case .renewalsRolledUp: "renewals_rolled_up"
        case .sessionEndReported: "session_end_reported"
        case .keyDelivered: "key_delivered"
        case .rotationSet: "rotation_set"
        case .tokenMinted: "token_minted"
        case .keyCreated: "key_created"
        case .keyImported: "key_imported"
        case .keyAliased: "key_aliased"
        case .keyAliasRemoved: "key_alias_removed"
        case .keyWithdrawn: "key_withdrawn"
        case .keyRestored: "key_restored"
        case .keyDeleted: "key_deleted"
        case .keyRestoreAccepted: "key_restore_accepted"
        case .nodeStarted: "node_started"
        case .configurationReloaded: "configuration_reloaded"
        case .nodeStopped: "node_stopped"
        case .clockAccepted: "clock_accepted"
        case .deviceRemoved: "device_removed"
        case .playbackEnded: "playback_ended"
        case .rentalForgotten: "rental_forgotten"
        case .rowsPurged: "rows_purged"
        case .sharedRowsPurged: "shared_rows_purged"
        case .ledgerRejoined: "ledger_rejoined"
        case .storeRestored: "store_restored"
        }
    }
}

extension LedgerFind {
    /// Writes the members of an entry for `--json`. A member is null if the entry has no value for it.
    package func write(to writer: inout JSONWriter) {
        writer.member("sequence", sequence)
        writer.member("at", Self.time(entry.at))
        writeOtherMembers(to: &writer)
    }

    /// Writes the members of an entry for an admin listener. `node` is the id of the node whose ledger has the entry.
    package func write(to writer: inout JSONWriter, node: String) {
        writer.member("sequence", sequence)
        writer.member("node", node)
        writer.member("at", entry.at)
        writer.member("time", Self.time(entry.at))
        writer.member("text", words)
        writeOtherMembers(to: &writer)
    }

    private func writeOtherMembers(to writer: inout JSONWriter) {
        writer.member("kind", entry.kind.word)
        writer.member("license", entry.license.description)
        writer.member("previous", entry.previous?.description)
        writer.member("kid", entry.keyID?.description)
        writer.member("content", entry.content)
        writer.member("subject", entry.subject.map(Self.digits))
        writer.member("device", entry.device.map(Self.digits))
        writer.member("issuer", entry.issuer)
        writer.member("token", entry.tokenID)
        writer.member("cookie", entry.cookie)
        writer.member("cmcdSession", entry.facts[.playerSession])
        writer.member("cmcdContent", entry.facts[.playerContent])
        writer.object("stated", entry.stated) { $1.write(to: &$0) }
        writer.member("detail", entry.detail)
        writer.member("lease", entry.lease.map { Int64($0) })
        writer.member("rental", entry.rental.map { Int64($0) })
        writer.member("until", entry.until.map(Self.time))
        writer.member("playback", entry.playback.map { Int64($0) })
        writer.member("renewAfter", entry.renewAfter.map(Self.time))
        writer.member("actor", entry.actor)
        writer.member("request", entry.request)
        writer.object("report", entry.report) { $1.write(to: &$0) }
    }

    /// The entry as one line of text, without the members that it does not have.
    package var text: String {
        "\(sequence)  \(Self.time(entry.at))  \(words)"
    }

    /// What the entry says, without its sequence and its time.
    package var words: String {
        let members: [(name: String, value: String?)] = [
            ("license", entry.license.description), ("after", entry.previous?.description),
            ("kid", entry.keyID?.description), ("content", entry.content), ("subject", entry.subject.map(Self.digits)),
            ("device", entry.device.map(Self.digits)), ("issuer", entry.issuer), ("token", entry.tokenID),
            ("cookie", entry.cookie), ("cmcd_session", entry.facts[.playerSession]),
            ("cmcd_content", entry.facts[.playerContent]),
            ("lease", entry.lease.map { "\($0)s" }), ("rental", entry.rental.map { "\($0)s" }),
            ("until", entry.until.map(Self.time)), ("playback", entry.playback.map { "\($0)s" }),
            ("renew", entry.renewAfter.map(Self.time)), ("by", entry.actor), ("request", entry.request),
            ("flags", entry.report?.flagText), ("outcome", entry.report?.outcome),
            ("title", entry.report.map { Hexadecimal.encode($0.titleID.bytes) }),
            ("streams", entry.report.map { $0.streamIDTexts.joined(separator: ",") }),
        ]
        // Clients, issuers and packagers choose some of these texts.
        let detail = entry.detail.isEmpty ? "" : "  " + VisibleText.shown(entry.detail)
        let parts = members.compactMap { member in member.value.map { "  \(member.name) \(VisibleText.shown($0))" } }
        let stated = entry.stated.map { "  stated (\($0.text))" } ?? ""
        return entry.kind.word + detail + parts.joined() + stated
    }

    /// The first half of a pseudonym, which is all that a ledger stores, as hexadecimal digits.
    private static func digits(_ pseudonym: Pseudonym) -> String { Hexadecimal.encode(pseudonym.bytes.prefix(16)) }

    private static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds)?.description ?? String(seconds)
    }
}

extension DeviceSummary {
    /// The words for what the device has stated; null for what it has not.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("deviceClass", classWord)
        writer.member("osVersion", operatingSystem.map(Self.version))
        writer.member("securityLevel", securityLevel?.word)
        writer.member("output", output.word)
        writer.member("playbackState", playback?.word)
        writer.member("machine", machine?.word)
        writer.member("denyListVersion", denyList.map { Int64($0) })
        writer.member("capabilities", capabilities.map { Int64($0) })
        writer.member("protocolVersion", Int64(versions.used))
        writer.member("protocolVersionNewest", Int64(versions.newest))
    }
}

extension DeviceReport {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("flags", flagText)
        writer.member("outcome", outcome)
        writer.member("titleID", Hexadecimal.encode(titleID.bytes))
        writer.member("streamIDs", streamIDTexts)
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
