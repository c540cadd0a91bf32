import Foundation

@testable import PlayerMessages

/// Compares what Foundation reads from property lists with the bounds that accepted them.
enum PropertyListCheck {
    /// Reads a list as the daemon does, and compares it with the bounds.
    static func read(_ bytes: [UInt8]) throws {
        guard PropertyListBounds.accepts(bytes),
            let list = try? unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        else { return }
        var sum = Sum()
        try sum.add(list, depth: 0)
        // A binary list may refer to one text many times. XML cannot: its texts are no larger than its bytes.
        try require(
            sum.size <= max(PropertyListBounds.copiedSizeMaximum, bytes.count),
            "a report has no more text and data than were counted")
    }

    private struct Sum {
        /// The bytes of data plus the UTF-16 units of text. Each unit takes at least one byte in the list.
        var size = 0
        private var count = 0

        mutating func add(_ value: Any, depth: Int) throws {
            count += 1
            try require(count <= PropertyListBounds.visitMaximum, "a report has no more objects than were counted")
            // XML may lack `<plist>`, and the bounds count no level for an element that ends itself.
            try require(depth <= PropertyListBounds.depthMaximum + 2, "a report is no deeper than its bounds")
            switch value {
            case let text as String: size += text.utf16.count
            case let data as Data: size += data.count
            case let members as [String: Any]:
                for (name, member) in members {
                    size += name.utf16.count
                    try add(member, depth: depth + 1)
                }
            case let elements as [Any]:
                for element in elements { try add(element, depth: depth + 1) }
            default: break  // Numbers and dates have a fixed size.
            }
        }
    }
}
