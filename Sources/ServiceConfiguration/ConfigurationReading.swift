import ByteCoding

/// One reading of a configuration file: what all sections share while they read themselves.
final class ConfigurationReading {
    /// The folder of the file, to which relative paths are relative.
    let directory: String
    /// The place of every value by its path.
    let positions: [String: TextPosition]
    private let root: JSONNode
    private let environment: [String: String]
    private(set) var problems: [ConfigurationProblem] = []
    /// Every field that a section has asked for, in the order of reading.
    private(set) var fields: [ConfigurationField] = []

    init(_ root: JSONNode, directory: String, environment: [String: String]) {
        self.root = root
        self.directory = directory
        self.environment = environment
        positions = root.positionsByPath()
    }

    /// Reads the whole text, which must be one object.
    func read<Value>(_ read: (ConfigurationSection) -> Value?) -> Value? {
        guard let object = root.object else {
            report(
                "configuration", at: root.position,
                .wrongType(found: root.typeName, expected: "an object", example: "{ node: \"node-1\" }"))
            return nil
        }
        // A field that says nothing else needs a restart: that is never wrong, and never silent.
        return ConfigurationSection(place: [], position: root.position, object: object, in: self, effect: .restart)
            .read(read)
    }

    func note(_ field: ConfigurationField) {
        fields.append(field)
    }

    /// Takes back what was noted of fields that something else replaces.
    func forget(_ isReplaced: (ConfigurationField) -> Bool) {
        fields.removeAll(where: isReplaced)
    }

    func report(_ path: String, at position: TextPosition?, _ fault: ConfigurationFault) {
        problems.append(ConfigurationProblem(path: path, position: position, fault: fault))
    }

    /// What a variable holds, as the file would have it.
    func text(of variable: EnvironmentOverride) -> String? {
        environment[variable.rawValue].map(JSONNode.quoted)
    }

    /// The value of the variable as if the file had it, or nil if it is not set; what is wrong with it is reported.
    func override<Value>(_ variable: EnvironmentOverride, _ form: ConfigurationForm<Value>) -> Value? {
        guard let text = environment[variable.rawValue] else { return nil }
        let node = JSONNode(value: .string(text), position: .start)
        switch form.read(node) {
        case .value(let value): return value
        case .wrongType, .invalid:
            report(variable.rawValue, at: nil, .invalidValue(expected: form.expected, example: form.example))
            return nil
        case .fault(let fault):
            report(variable.rawValue, at: nil, fault)
            return nil
        }
    }
}

extension JSONNode {
    /// The type for messages.
    var typeName: JSONTypeName {
        switch value {
        case .null: .null
        case .bool: .boolean
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// The place of every value within this one, by the paths that problems name.
    func positionsByPath() -> [String: TextPosition] {
        var positions: [String: TextPosition] = [:]
        collectPositions(path: "", into: &positions)
        return positions
    }

    private func collectPositions(path: String, into positions: inout [String: TextPosition]) {
        positions[path] = position
        switch value {
        case .null, .bool, .number, .string: return
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                element.collectPositions(path: "\(path)[\(index)]", into: &positions)
            }
        case .object(let object):
            for member in object.members {
                let memberPath = path.isEmpty ? member.name : "\(path).\(member.name)"
                member.node.collectPositions(path: memberPath, into: &positions)
            }
        }
    }
}
