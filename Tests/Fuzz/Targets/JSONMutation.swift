import ByteCoding
import TestSupport

/// Changes of a JSON text that keep it valid: values are replaced, doubled, moved and left out.
struct JSONMutation {
    /// JSON texts of values that replace other values.
    let values: [String]

    /// Values that often cause faults, without regard to their meaning.
    static let oddValues = [
        "null", "true", "false", "0", "-0", "1", "-1", "1.5", "1e3", "1e-3", "0.1e1", "18446744073709551615",
        "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "9007199254740993", "1e308", "1e999",
        "4e-400", #""""#, #""a""#, #""\u0000""#, #""\ud83d\ude00""#, #""\u212a""#, "\"\u{7F}\u{85}é\"", "[]", "{}",
        "[[]]", #"{"":{}}"#, #"["a",1,{"b":null}]"#,
    ]

    /// Makes one change of the text, or of its bytes if it is not JSON.
    func mutate(_ text: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let limits = JSONLimits(sizeMaximum: 1 << 20, depthMaximum: 128)
        guard let node = try? JSONReader.parse(text, dialect: .json5, limits: limits),
            Int.random(in: 0..<8, using: &generator) > 0
        else { return ByteMutation.mutate(text, using: &generator) }
        var change = Change(
            index: Int.random(in: 0..<Self.count(node), using: &generator), values: values, all: node,
            generator: generator)
        var writer = JSONWriter(expectedSize: text.count)
        change.write(node, to: &writer)
        generator = change.generator
        return writer.bytes
    }

    /// The number of values, including the outermost one.
    private static func count(_ node: JSONNode) -> Int {
        switch node.value {
        case .null, .bool, .number, .string: 1
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .object(let object): object.members.reduce(1) { $0 + count($1.node) }
        }
    }

    /// Writes a value again with one change.
    private struct Change {
        /// The number of values before the one that changes.
        var index: Int
        let values: [String]
        let all: JSONNode
        var generator: SeededGenerator

        mutating func write(_ node: JSONNode, to writer: inout JSONWriter) {
            index -= 1
            if index == -1 { return replace(node, to: &writer) }
            writeContents(node, to: &writer)
        }

        private mutating func writeContents(_ node: JSONNode, to writer: inout JSONWriter) {
            switch node.value {
            case .null, .bool, .number, .string: writer.node(node)
            case .array(let elements):
                writer.array { writer in for element in elements { write(element, to: &writer) } }
            case .object(let object):
                writer.object { writer in for member in object.members { write(member, to: &writer) } }
            }
        }

        /// Writes a member. If its value is to change, the member may instead be left out, be doubled or get another
        /// name.
        private mutating func write(_ member: JSONMember, to writer: inout JSONWriter) {
            guard index == 0 else {
                writer.name(member.name)
                return write(member.node, to: &writer)
            }
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: index -= 1
            case 1:
                index -= 1
                for _ in 0..<2 {
                    writer.name(member.name)
                    writer.node(member.node)
                }
            case 2:
                index -= 1
                writer.name(anyName() ?? "")
                writer.node(member.node)
            default:
                writer.name(member.name)
                write(member.node, to: &writer)
            }
        }

        private mutating func replace(_ node: JSONNode, to writer: inout JSONWriter) {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: writer.array { writer in for _ in 0..<2 { writer.node(node) } }
            case 1:
                writer.object { writer in
                    writer.name(anyName() ?? "a")
                    writer.node(node)
                }
            case 2: writer.node(anyNode(in: all))
            case 3: writeNear(node, to: &writer)
            default: write(text: values.randomElement(using: &generator) ?? "null", to: &writer)
            }
        }

        private func write(text: String, to writer: inout JSONWriter) {
            if let node = try? JSONReader.parse(Array(text.utf8)) { writer.node(node) } else { writer.null() }
        }

        /// Writes a slightly different value of the same kind.
        private mutating func writeNear(_ node: JSONNode, to writer: inout JSONWriter) {
            if let number = node.number?.signed {
                writer.integer(number &+ Int64.random(in: -2...2, using: &generator))
            } else if let text = node.string {
                let bytes = ByteMutation.mutate(Array(text.utf8), using: &generator)
                writer.string(String(decoding: bytes, as: UTF8.self))
            } else if let bool = node.bool {
                writer.bool(!bool)
            } else {
                writer.node(node)
            }
        }

        private mutating func anyNode(in node: JSONNode) -> JSONNode {
            let inner: [JSONNode] = node.array ?? node.object?.members.map(\.node) ?? []
            guard let next = inner.randomElement(using: &generator), Bool.random(using: &generator) else { return node }
            return anyNode(in: next)
        }

        private mutating func anyName() -> String? {
            anyNode(in: all).object?.members.randomElement(using: &generator)?.name
        }
    }
}
