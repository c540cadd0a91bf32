import ByteCoding

/// When a changed value of the configuration takes effect.
package enum ConfigurationEffect: Sendable {
    /// With SIGHUP, for the next request or connection.
    case reload
    /// When the daemon starts again.
    case restart
}

/// A field of the configuration that was read: its place, its value in force, and when a change of it takes effect.
///
/// The fields are noted by the readers themselves, as they ask for each. So what a section reads, `--print-config`
/// prints and a reload compares: a new field cannot be left out.
package struct ConfigurationField: Equatable, Sendable {
    /// Where the value in force comes from.
    package enum Origin: Equatable, Sendable {
        case file
        case standard
        case environment
    }

    package enum Value: Equatable, Sendable {
        /// The field is absent and has no default.
        case absent
        /// As the file would have it.
        case text(String)
        /// A section that may be absent; its fields follow by themselves.
        case section
        /// A list of so many sections; their fields follow by themselves.
        case sections(Int)
    }

    /// A step on the way to a field.
    package enum Step: Hashable, Sendable {
        case name(String)
        /// Of a list.
        case index(Int)
    }

    package let place: [Step]
    /// What the field takes, in words.
    package let expected: String
    /// A value as the file would have it.
    package let example: String
    package let value: Value
    package let origin: Origin
    package let effect: ConfigurationEffect

    /// The way to the field as messages have it, `listeners.public[0].address`.
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
    /// The paths of the fields that only a restart puts in force and whose value differs in `others`, absent ones too.
    package func pathsThatNeedRestart(toBecome others: [ConfigurationField]) -> [String] {
        filter { $0.effect == .restart }.pathsThatDiffer(from: others.filter { $0.effect == .restart })
    }

    /// The paths of the fields whose value differs in `others`, absent ones too. Sorted.
    func pathsThatDiffer(from others: [ConfigurationField]) -> [String] {
        let (own, other) = (values, others.values)
        return Set(own.keys).union(other.keys).filter { own[$0] != other[$0] }.sorted()
    }

    private var values: [String: ConfigurationField.Value] {
        Dictionary(filter { $0.value != .absent }.map { ($0.path, $0.value) }) { $1 }
    }
}

extension JSONNode {
    /// The node as JSON in one line.
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
        // The writer quotes and escapes; what stands around the text is cut off again.
        let member = JSONWriter.object { $0.member("", text) }
        return String(decoding: member.dropFirst(#"{"":"#.utf8.count).dropLast(), as: UTF8.self)
    }
}
