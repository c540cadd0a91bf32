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
        if asJSON { try await printObject(of: contentID) } else { try await printLines(of: contentID) }
    }

    private func printLines(of contentID: ContentID?) async throws(CommandError) {
        let context = context
        var isEmpty = true
        try await store.forEachPage(of: contentID) { page throws(CommandError) in
            guard !page.isEmpty else { return }
            isEmpty = false
            try context.print(page.map { KeyText.line($0) }.joined(separator: "\n"))
        }
        if isEmpty { try context.print("no content keys; make one with: latchkey keys create") }
    }

    private func printObject(of contentID: ContentID?) async throws(CommandError) {
        let context = context
        var isFirst = true
        try context.printPart(Array(#"{"keys":["#.utf8))
        try await store.forEachPage(of: contentID) { page throws(CommandError) in
            var part: [UInt8] = []
            for key in page {
                if !isFirst { part.append(UInt8(ascii: ",")) }
                isFirst = false
                part += JSONWriter.object { key.write(to: &$0) }
            }
            try context.printPart(part)
        }
        try context.printPart(Array("]}\n".utf8))
    }
}
