import ByteCoding

/// When a changed value of the configuration takes effect.
package enum ConfigurationEffect: Sendable {
    /// On SIGHUP, for the next request or connection.
    case reload
    /// When the daemon starts again.
    case restart
}

/// A field of the configuration that was read: its place, its value in force, and when a change of it takes effect.
///
/// A field is noted when a section reads it. `--print-config` prints the noted fields, and a reload compares them. So a
/// new field cannot be forgotten there.
package struct ConfigurationField: Equatable, Sendable {
    /// The source of the value in force.
    package enum Origin: Equatable, Sendable {
        case file
        case standard
        case environment
    }

    package enum Value: Equatable, Sendable {
        /// The field is absent and has no default.
        case absent
        /// The value in the syntax of the file.
        case text(String)
        /// An optional section. Its fields are noted separately.
        case section
        /// A list with this number of sections. Their fields are noted separately.
        case sections(Int)
    }

    /// A step of the path to a field.
    package enum Step: Hashable, Sendable {
        case name(String)
        /// The index in a list.
        case index(Int)
    }

    package let place: [Step]
    /// A description of the values that the field allows.
    package let expected: String
    /// An example of a value in the syntax of the file.
    package let example: String
    package let value: Value
    package let origin: Origin
    package let effect: ConfigurationEffect

    /// The path of the field in messages, such as `listeners.public[0].address`.
    package var path: String { Self.path(place) }

    static func path(_ place: [Step]) -> String {
        place.reduce("") { path, step in
            switch step {
            case .name(let name): path.isEmpty ? name : "\(path).\(name)"
            case .index(let index): "\(path)[\(index)]"
            }
        }
    }
}

extension [ConfigurationField] {
    /// The sorted paths of the fields whose value differs in `others`. A field that only one of the two has differs
    /// too.
    func pathsThatDiffer(from others: [ConfigurationField]) -> [String] {
        let (own, other) = (values, others.values)
        return Set(own.keys).union(other.keys).filter { own[$0] != other[$0] }.sorted()
    }

    private var values: [String: ConfigurationField.Value] {
        Dictionary(filter { $0.value != .absent }.map { ($0.path, $0.value) }) { $1 }
    }
}

extension JSONNode {
    /// The node as JSON on one line.
    var text: String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let number): number.text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        case .object(let object):
            object.members.isEmpty
                ? "{ }"
                : "{ " + object.members.map { "\(Self.quoted($0.name)): \($0.node.text)" }.joined(separator: ", ")
                    + " }"
        }
    }

    static func quoted(_ text: String) -> String {
        // Lets the writer quote and escape the text as a member, and then removes the rest of the object.
        let member = JSONWriter.object { $0.member("", text) }
        return String(decoding: member.dropFirst(#"{"":"#.utf8.count).dropLast(), as: UTF8.self)
    }
}
