import ByteCoding
import CommandLineKit
import ContentKeys

/// Prints the list of keys page by page, so that a million keys take no more memory than a thousand.
struct KeyList {
    private let store: OpenedKeyStore
    private let context: CommandContext

    init(_ store: OpenedKeyStore, _ context: CommandContext) {
        self.store = store
        self.context = context
    }

    /// Prints a line for each key, or one object whose member `keys` is a list.
    func print(of contentID: ContentID?, asJSON: Bool) async throws(CommandError) {
        let maintenance = try store.maintenance()
        var isFirst = true
        if asJSON { try context.printPart(Array(#"{"keys":["#.utf8)) }
        try await store.forEachPage(of: contentID) { page async throws(CommandError) in
            var part: [UInt8] = []
            for key in page {
                let url = try await store.assetURL(of: key, maintenance)
                if asJSON {
                    if !isFirst { part.append(UInt8(ascii: ",")) }
                    part += JSONWriter.object { writer in
                        key.write(to: &writer)
                        writer.member("url", url)
                    }
                } else {
                    part += Array("\(KeyText.line(key))  \(url ?? "-")\n".utf8)
                }
                isFirst = false
            }
            try context.printPart(part)
        }
        if asJSON {
            try context.printPart(Array("]}\n".utf8))
        } else if isFirst {
            try context.print("no content keys; make one with: latchkey keys create")
        }
    }
}
