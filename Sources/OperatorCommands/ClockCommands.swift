import Administration
import ByteCoding
package import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import POSIXSockets
import Records
import ServiceConfiguration
import StorageSQLite
import Telemetry

extension Command {
    /// `latchkey clock`
    package static let clock = Command(
        "clock",
        summary: "Show whether the node trusts the system's clock, and accept the clock",
        details: """
            After a step of the clock the daemon deletes nothing. While the clock is behind the time that the node knows, the daemon
            also serves only renewals by session tokens. It trusts the clock again by itself when the clock is right again, when the
            kernel has reported it as synchronised for 60 seconds, or after an hour without a step. Use `accept` if you know that the clock is
            right and do not want to wait.
            """,
        examples: [
            "latchkey clock show --config latchkey.json5",
            "latchkey clock accept --config latchkey.json5",
        ],
        commands: [showClock, acceptClock])

    private static let showClock = Command(
        "show",
        summary: "Show the system's clock, its state in the kernel, and the node's record of it",
        details: "The node's record is up to ten seconds old while the daemon runs.",
        examples: ["latchkey clock show --config latchkey.json5 --json"],
        options: [.config, .json],
        run: { arguments, context throws(CommandError) in
            let opened = try OpenedClock(arguments, context)
            defer { opened.store.stop() }
            let state = try opened.state()
            try context.printResult(state.text, or: state.write, arguments)
        })

    private static let acceptClock = Command(
        "accept",
        summary: "Confirm that the system's clock is right now",
        details: """
            Compare the clock with another one first: from then on the daemon deletes what has ended by this clock. Works on the node's
            own database, whether the daemon runs or not. A running daemon notices it within two seconds, and ignores it if the clock was
            stepped again since. The ledger gets a row.
            """,
        examples: ["latchkey clock accept --config latchkey.json5"],
        options: [.config],
        run: { arguments, context throws(CommandError) in
            let opened = try OpenedClock(arguments, context)
            defer { opened.store.stop() }
            let state = try opened.state()
            try await opened.accept(state)
            try context.print("accepted: \(UnixTime.text(state.now)) is right")
        })
}

/// The node's own database, which has the record of the clock.
private struct OpenedClock {

    let store: SQLiteDecisionStore

    /// Opens the database without the ledger's lock, which a running daemon holds. Throws if there is no file.
    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let file = try OpenedLedger.configuration(arguments.required(.config), context)
        let path = file.configuration.storage.databasePath
        var options = SQLiteDecisionStore.Options()
        options.locksLedger = false
        _ = try wrap(CommandError.opening(path), try LedgerReader.open(path: path))
        let chain = try OpenedLedger.prepared(file, context)
        store = try wrap(
            CommandError.opening(path), try SQLiteDecisionStore.open(path: path, chain: chain, options: options))
    }

    func state() throws(CommandError) -> ClockState {
        let reading = ClockReading(
            wall: SystemWallClock().wallTime, boot: SystemBootClock().monotonicTime)
        return ClockState(
            reading: reading, isSynchronised: KernelClock.isSynchronised,
            record: try wrap(CommandError.store, try store.clockRecord()))
    }

    func accept(_ state: ClockState) async throws(CommandError) {
        let entry = try entry(state)
        try await wrapAsync(
            CommandError.store, try await store.acceptClock(offset: state.reading.offset, entry))
    }

    private func entry(_ state: ClockState) throws(CommandError) -> LedgerEntry {
        let id = try wrap(
            { (error: CryptoError) in CommandError.failed("OpenSSL made no id (\(error))") },
            try LicenseID.naming(rowAt: state.now))
        var entry = LedgerEntry(kind: .clockAccepted, at: state.now, license: id, detail: state.detail)
        entry.actor = OperatingSystemUser.actor
        return entry
    }
}

/// The system's clocks, and the node's record of them.
private struct ClockState {
    let reading: ClockReading
    let isSynchronised: Bool
    /// Nil for a node that has not run.
    let record: ClockRecord?

    var now: Int64 { WallTime(nanosecondsSince1970: reading.wall).seconds }
    /// The seconds by which the clock is ahead of the last time that the node knows. Negative if it is behind.
    var difference: Int64? { record.map { now - $0.reference } }

    /// The detail of the ledger's row.
    var detail: String { difference.map { "\($0) s against the known time" } ?? "new" }

    var text: String {
        var lines = [
            "clock     \(UnixTime.text(now))",
            "kernel    \(isSynchronised ? "synchronised" : "not synchronised, or not known")",
        ]
        guard let record, let difference else { return (lines + ["known     nothing yet"]).joined(separator: "\n") }
        lines += [
            "known     \(UnixTime.text(record.reference)); the clock is \(difference < 0 ? "behind" : "ahead") by \(abs(difference)) s",
            "confirmed \(UnixTime.text(record.settled)): what has ended by this time is deleted",
            "standing  \(record.standing.isEmpty ? "unknown" : record.standing)",
        ]
        if record.acceptance.number > 0 { lines.append("accepted  \(record.acceptance.number.counted("time"))") }
        return lines.joined(separator: "\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.member("clock", UnixTime.text(now))
        writer.member("isSynchronised", isSynchronised)
        guard let record else { return }
        writer.member("known", UnixTime.text(record.reference))
        writer.member("settled", UnixTime.text(record.settled))
        writer.member("aheadSeconds", now - record.reference)
        writer.member("standing", record.standing)
        writer.member("accepted", record.acceptance.number)
    }
}
