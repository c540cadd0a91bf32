import ByteCoding

/// The state that all sections share while one configuration file is read.
final class ConfigurationReading {
    /// The folder of the file, to which relative paths are relative.
    let directory: String
    /// The position of every value, by its path.
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
        // By default a change of a field needs a restart. That is never wrong, and the operator is told of it.
        return ConfigurationSection(place: [], position: root.position, object: object, in: self, effect: .restart)
            .read(read)
    }

    func note(_ field: ConfigurationField) {
        fields.append(field)
    }

    /// Removes noted fields that others replace.
    func forget(_ isReplaced: (ConfigurationField) -> Bool) {
        fields.removeAll(where: isReplaced)
    }

    func report(_ path: String, at position: TextPosition?, _ fault: ConfigurationFault, found: String? = nil) {
        problems.append(ConfigurationProblem(path: path, position: position, fault: fault, found: found))
    }

    /// The value of a variable in the syntax of the file; nil if the variable is not set.
    func text(of variable: EnvironmentOverride) -> String? {
        environment[variable.rawValue].map(JSONNode.quoted)
    }

    /// Reads the value of a variable like a value of the file. Returns nil if the variable is not set, or if a fault of
    /// its value was reported.
    func override<Value>(_ variable: EnvironmentOverride, _ form: ConfigurationForm<Value>) -> Value? {
        guard let text = environment[variable.rawValue] else { return nil }
        let node = JSONNode(value: .string(text), position: .start)
        switch form.read(node) {
        case .value(let value): return value
        case .wrongType, .invalid:
            report(variable.rawValue, at: nil, .invalidValue(expected: form.expected, example: form.example))
            return nil
        case .refused(let reason):
            let fault = ConfigurationFault.invalidValue(expected: form.expected, example: form.example)
            report(variable.rawValue, at: nil, fault, found: reason)
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

    /// The position of every value in this node, by its path as problems name it.
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
