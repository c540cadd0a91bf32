import ByteCoding
import Foundation
import PlayerMessages

/// A property list of playback sessions that have ended, binary or XML. Apple documents one member of it, the id of the
/// session (clients, section 4d).
enum SessionReport {
    /// The most sessions that one report may name; any more are left out.
    static let sessionCountMaximum = 64
    /// The size of the longest id in bytes: twice as many hexadecimal digits are what a row of the ledger takes.
    static let idSizeMaximum = 32

    /// The ids of the sessions, each once: text as it is, bytes in hexadecimal digits. Nil for bytes that are no
    /// property list within the bounds.
    static func sessions(in bytes: [UInt8]) -> [String]? {
        // The format, which the reader could write through a pointer, is not asked for.
        guard PropertyListBounds.accepts(bytes),
            let list = try? unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        else { return nil }
        var found: [String] = []
        collect(list, into: &found)
        return found
    }

    /// The bounds say how deep it goes.
    private static func collect(_ value: Any, into found: inout [String]) {
        guard found.count < sessionCountMaximum else { return }
        if let members = value as? [String: Any] {
            if let id = members["PlaybackSessionID"].flatMap(text), !found.contains(id) { found.append(id) }
            for (_, member) in members.sorted(by: { $0.key < $1.key }) { collect(member, into: &found) }
        } else if let elements = value as? [Any] {
            for element in elements { collect(element, into: &found) }
        }
    }

    private static func text(_ value: Any) -> String? {
        switch value {
        case let data as Data: (1...idSizeMaximum).contains(data.count) ? Hexadecimal.encode(Array(data)) : nil
        case let text as String:
            (1...2 * idSizeMaximum).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E) ~= $0 }
                ? text : nil
        case let number as UInt64: String(number)
        default: nil  // No id of a session.
        }
    }
}
