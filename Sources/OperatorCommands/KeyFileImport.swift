import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Records

/// Stores the keys of a whole file.
struct KeyFileImport {
    package static let file = CommandOption(
        "--file", .value("FILE|-"), help: "many keys, as CSV or as JSON lines, in place of --content, --key and --iv")

    /// The number of keys that one transaction stores.
    private static let batchSize = 1000

    private let path: String
    private let store: OpenedKeyStore
    private let context: CommandContext
    private let printsJSON: Bool

    init(_ path: String, _ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let others = [
            KeyArguments.importedContent, KeyArguments.another, KeyArguments.key, KeyArguments.iv, KeyArguments.keyID,
            KeyArguments.alias,
        ]
        if let other = (others + KeyPolicyArguments.options).first(where: arguments.isSet) {
            throw .usage("\(other.name) is for one key, and cannot be used with --file")
        }
        self.path = path
        self.context = context
        printsJSON = arguments.isSet(.json)
        store = try OpenedKeyStore(configuration: arguments.required(.config), context)
    }

    func run() async throws(CommandError) {
        var keys = try KeyFile(path, context)
        let maintenance = try store.maintenance()
        let records = try KeyRecords(store.file, context)
        var progress = CommandProgress(context, unit: "keys")
        var (readCount, storedCount) = (0, 0)
        do throws(CommandError) {
            while true {
                let firstLine = keys.lineNumber + 1
                var batch: [KeyImport] = []
                while batch.count < Self.batchSize, let key = try keys.next() { batch.append(key) }
                if batch.isEmpty { break }
                let newCount: Int
                do throws(StoreError) {
                    newCount = try await maintenance.store(batch)
                } catch {
                    let lines =
                        firstLine == keys.lineNumber
                        ? "line \(firstLine)" : "lines \(firstLine) to \(keys.lineNumber)"
                    throw .failed("\(lines): \(error.explanation)")
                }
                storedCount += newCount
                try records.write(Self.deeds(batch, newCount: newCount))
                readCount += batch.count
                progress.show(readCount, share: keys.share)
            }
            progress.clear()
        } catch {
            progress.clear()
            context.note("stored before the error: \(storedCount.counted("key"))")
            throw error
        }
        // JSON has a key in its first line, or an error.
        guard readCount > 0 else { throw .failed("the file has a header, but no keys after it") }
        try report(readCount, storedCount)
    }

    /// The rows for a batch: one for each of its keys if at least one key was new.
    ///
    /// The store does not tell which keys were new. So if only some were, every row says how many.
    private static func deeds(_ batch: [KeyImport], newCount: Int) -> [KeyRecords.Deed] {
        guard newCount > 0 else { return [] }
        let detail = newCount < batch.count ? "one of \(batch.count) keys, of which \(newCount) are new" : ""
        return batch.map { item in
            KeyRecords.Deed(
                kind: .keyImported, keyID: item.record.keyID, contentID: item.record.contentID, detail: detail)
        }
    }

    private func report(_ readCount: Int, _ storedCount: Int) throws(CommandError) {
        if printsJSON {
            try context.printObject { writer in
                writer.member("stored", storedCount)
                writer.member("alreadyPresent", readCount - storedCount)
            }
        } else {
            try context.print("\(storedCount.counted("key")) stored, \(readCount - storedCount) existed already")
        }
    }
}
