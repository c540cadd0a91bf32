import ByteCoding
import Glibc

/// An object of the configuration file while it is read. It returns fields by name and type, and reports all problems
/// with them.
///
/// Code that reads a section reads all fields before it checks any, so that one reading finds every problem. Fields
/// that were not read are unknown. They are reported when the section has been read.
final class ConfigurationSection {
    /// The steps from the root to this section; empty for the root.
    private let place: [ConfigurationField.Step]
    private let position: TextPosition
    /// The object in the file; nil if the section is absent or is not an object.
    private let object: JSONObject?
    private let reading: ConfigurationReading
    /// Whether missing fields are reported. False for a section that is not an object, because that is already
    /// reported.
    private let reportsMissing: Bool
    /// When changes take effect, for fields that do not say it themselves.
    var effect: ConfigurationEffect
    private var knownNames: [String] = []

    init(
        place: [ConfigurationField.Step], position: TextPosition, object: JSONObject?, in reading: ConfigurationReading,
        effect: ConfigurationEffect, reportsMissing: Bool = true
    ) {
        self.place = place
        self.position = position
        self.object = object
        self.reading = reading
        self.effect = effect
        self.reportsMissing = reportsMissing
    }

    /// Reads the section with `read`, and then reports the fields that were not read.
    func read<Value>(_ read: (ConfigurationSection) -> Value?) -> Value? {
        let value = read(self)
        for member in object?.members ?? [] where !isKnown(member.name) {
            let path = path(to: member.name)
            let fault =
                RetiredField.at(path).map { ConfigurationFault.retired($0) }
                ?? .unknownKey(nearest: NearestName.of(member.name, among: knownNames))
            reading.report(path, at: member.namePosition, fault)
        }
        return value
    }

    // MARK: Fields

    /// The folder of the file, to which relative paths are relative.
    var directory: String { reading.directory }

    /// Reads an optional field. Returns nil if it is absent, or if a fault was reported.
    func optional<Value>(
        _ name: String, _ form: ConfigurationForm<Value>, effect: ConfigurationEffect? = nil
    ) -> Value? {
        let value = written(name, form)
        note(
            name, (form.expected, form.example),
            value.flatMap { text(of: $0, name, form) }.map { .text($0) } ?? .absent, effect: effect)
        return value
    }

    private func written<Value>(_ name: String, _ form: ConfigurationForm<Value>) -> Value? {
        node(name).flatMap { value(of: $0, path: path(to: name), form) }
    }

    /// Reads a field with a default. A variable of the environment may override it.
    package func value<Value>(
        _ name: String, _ form: ConfigurationForm<Value>, default standard: @autoclosure () -> Value,
        overriddenBy variable: EnvironmentOverride? = nil, effect: ConfigurationEffect? = nil
    ) -> Value {
        // The file's value is checked even if it is overridden.
        let written = written(name, form)
        let overriding = variable.flatMap { reading.override($0, form) }
        let value = overriding ?? written ?? standard()
        let origin: ConfigurationField.Origin =
            overriding != nil ? .environment : written != nil ? .file : .standard
        let text =
            overriding == nil
            ? text(of: value, name, form)
            : form.write.flatMap { $0(value) } ?? variable.flatMap { reading.text(of: $0) }
        note(name, (form.expected, form.example), text.map { .text($0) } ?? .absent, origin: origin, effect: effect)
        return value
    }

    /// Reads a required field. Returns nil only if a fault was reported.
    func required<Value>(
        _ name: String, _ form: ConfigurationForm<Value>, effect: ConfigurationEffect? = nil
    ) -> Value? {
        if node(name) == nil { reportMissing(name, expected: form.expected, example: form.example) }
        return optional(name, form, effect: effect)
    }

    /// Reads a list like `list`, for values whose order has no meaning.
    func set<Value: Hashable>(
        _ name: String, _ form: ConfigurationForm<Value>, allowsEmpty: Bool = false
    ) -> Set<Value>? {
        list(name, form, allowsEmpty: allowsEmpty).map { Set($0) }
    }

    /// Reads a list of distinct plain values, at least one unless `allowsEmpty`. Returns nil if it is absent, or if a
    /// fault of the list itself was reported.
    func list<Value: Hashable>(
        _ name: String, _ form: ConfigurationForm<Value>, allowsEmpty: Bool = false,
        effect: ConfigurationEffect? = nil
    ) -> [Value]? {
        let listForm = ConfigurationForm<[JSONNode]>.list(
            of: form.expected, example: "[\(form.example)]", allowsEmpty: allowsEmpty)
        let elements = written(name, listForm)
        var texts: [String] = []
        defer {
            let text = elements == nil ? ConfigurationField.Value.absent : .text("[\(texts.joined(separator: ", "))]")
            note(name, (listForm.expected, listForm.example), text, effect: effect)
        }
        guard let elements else { return nil }
        var places: [Value: String] = [:]
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            let elementPath = "\(path(to: name))[\(index)]"
            guard let value = value(of: element, path: elementPath, form) else { continue }
            texts.append(form.write.flatMap { $0(value) } ?? element.text)
            if let other = places.updateValue(elementPath, forKey: value) {
                reading.report(elementPath, at: element.position, .duplicate(of: other))
            }
            values.append(value)
        }
        return values
    }

    /// Reads a required list like `list`.
    func requiredList<Value: Hashable>(_ name: String, _ form: ConfigurationForm<Value>) -> [Value]? {
        if node(name) == nil {
            reportMissing(name, expected: "a list of at least one: \(form.expected)", example: "[\(form.example)]")
        }
        return list(name, form)
    }

    /// Reads the file of an optional secret. If the field is absent, it is the file at `place`, if there is one.
    ///
    /// `place` is relative to the folder of the configuration. A file that cannot be looked for counts as there, so
    /// that the fault shows when it is read.
    func secret(_ name: String, inPlace place: String) -> SecretSource? {
        let form = ConfigurationForm.file(in: directory, example: place)
        guard !contains(name) else { return optional(name, form) }
        let path = FilePath.resolve(place, relativeTo: directory)
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return optional(name, form) }
        return value(name, form, default: .file(path: path))
    }

    // MARK: Sections

    /// Reads a section. If it is absent, all its fields have their defaults.
    func section<Value>(
        _ name: String, effect: ConfigurationEffect? = nil, _ read: (ConfigurationSection) -> Value?
    ) -> Value? {
        child([.name(name)], node(name), effect: effect, read)
    }

    /// Reads an optional section. Returns nil if it is absent, or if a fault was reported.
    ///
    /// The presence of the section is noted as a field too, with the section's `effect`.
    func optionalSection<Value>(
        _ name: String, effect: ConfigurationEffect? = nil, _ read: (ConfigurationSection) -> Value?
    ) -> Value? {
        notePresence(name, effect: effect ?? self.effect)
        return node(name).flatMap { child([.name(name)], $0, effect: effect, read) }
    }

    /// Notes the presence of a section that `section` reads.
    func notePresence(_ name: String, effect: ConfigurationEffect) {
        note(name, ("an object", "{ }"), node(name) == nil ? .absent : .section, effect: effect)
    }

    /// Reads a list of sections, at least one unless `allowsEmpty`. Returns nil if it is absent, or if a fault was
    /// reported.
    func sections<Value>(
        _ name: String, example: String, allowsEmpty: Bool = false, effect: ConfigurationEffect? = nil,
        _ read: (ConfigurationSection) -> Value?
    ) -> [Value]? {
        let form = ConfigurationForm<[JSONNode]>.list(of: "an object", example: example, allowsEmpty: allowsEmpty)
        let elements = written(name, form)
        note(name, (form.expected, form.example), elements.map { .sections($0.count) } ?? .absent, effect: effect)
        guard let elements else { return nil }
        let values = elements.enumerated().map { index, element in
            child([.name(name), .index(index)], element, effect: effect, read)
        }
        return values.contains { $0 == nil } ? nil : values.compactMap(\.self)
    }

    /// Reads a required list of sections.
    func requiredSections<Value>(
        _ name: String, example: String, _ read: (ConfigurationSection) -> Value?
    ) -> [Value]? {
        if node(name) == nil { reportMissing(name, expected: "a list of at least one object", example: example) }
        return sections(name, example: example, read)
    }

    /// Reads a section whose fields are sections under names that the operator chooses. Returns an empty dictionary if
    /// it is absent.
    ///
    /// Names have 1 to 64 visible ASCII characters. Invalid names and too many names are reported.
    func namedSections<Value>(
        _ name: String, countMaximum: Int, _ read: (ConfigurationSection) -> Value?
    ) -> [String: Value] {
        guard let node = node(name) else { return [:] }
        var values: [String: Value] = [:]
        _ = child([.name(name)], node) { section in
            for member in section.object?.members ?? [] {
                let isName =
                    (1...64).contains(member.name.utf8.count) && member.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                guard isName, values.count < countMaximum else {
                    section.knownNames.append(member.name)
                    let expected = "at most \(countMaximum) names of 1 to 64 visible ASCII characters"
                    section.report(member.name, .invalidValue(expected: expected, example: "HD: { }"))
                    continue
                }
                section.note(member.name, ("an object", "{ }"), .section)
                if let value = section.section(member.name, read) { values[member.name] = value }
            }
            return Optional(())
        }
        return values
    }

    // MARK: Checks of a section's own

    /// Whether the file has an object for this section. False if it is absent or has another type.
    var isObject: Bool { object != nil }

    /// Whether the field is present, with any value.
    func contains(_ name: String) -> Bool { node(name) != nil }

    /// Reads the value of a variable that overrides more than one field.
    func override<Value>(_ variable: EnvironmentOverride, _ form: ConfigurationForm<Value>) -> Value? {
        reading.override(variable, form)
    }

    /// Notes that a variable has replaced a list of sections by its first section with another value for one field.
    func noteOverride<Value>(
        of list: String, by name: String, _ form: ConfigurationForm<Value>, _ variable: EnvironmentOverride
    ) {
        let listPlace = place + [.name(list)]
        let first = listPlace + [.index(0)]
        reading.forget { field in
            field.place.starts(with: listPlace)
                && (!field.place.starts(with: first) || field.place == first + [.name(name)])
        }
        func note(_ place: [ConfigurationField.Step], _ value: ConfigurationField.Value) {
            reading.note(
                ConfigurationField(
                    place: place, expected: form.expected, example: form.example, value: value, origin: .environment,
                    effect: effect))
        }
        note(listPlace, .sections(1))
        note(first + [.name(name)], reading.text(of: variable).map { .text($0) } ?? .absent)
    }

    /// Reports a fault of a field, or of the section itself if `name` is nil.
    func report(_ name: String?, _ fault: ConfigurationFault) {
        guard let name else { return reading.report(path, at: position, fault) }
        reading.report(path(to: name), at: object?[name]?.position ?? position, fault)
    }

    /// Reports a fault of a value below this section. `path` is the value's path from here, such as
    /// `licensePaths[1].path`.
    func report(below path: String, _ fault: ConfigurationFault) {
        let place = self.path(to: path)
        reading.report(place, at: reading.positions[place] ?? position, fault)
    }

    /// Reports every name that equals an earlier one. `path` returns the path from here to the name at an index.
    func requireDistinct(_ names: [String], path: (Int) -> String) {
        var places: [String: String] = [:]
        for (index, name) in names.enumerated() {
            let place = self.path(to: path(index))
            if let other = places.updateValue(place, forKey: name) {
                reading.report(place, at: reading.positions[place], .duplicate(of: other))
            }
        }
    }

    // MARK: Private parts

    private func node(_ name: String) -> JSONNode? {
        if !isKnown(name) { knownNames.append(name) }
        return object?[name]
    }

    /// Whether a field with this name was read. Names are compared by their UTF-8, as in `JSONObject`.
    private func isKnown(_ name: String) -> Bool {
        knownNames.contains { $0.utf8.elementsEqual(name.utf8) }
    }

    /// The path of this section in messages; empty for the root.
    var path: String { ConfigurationField.path(place) }

    private func path(to name: String) -> String { ConfigurationField.path(place + [.name(name)]) }

    private func reportMissing(_ name: String, expected: String, example: String) {
        guard reportsMissing else { return }
        reading.report(path(to: name), at: position, .missing(expected: expected, example: example))
    }

    private func value<Value>(of node: JSONNode, path: String, _ form: ConfigurationForm<Value>) -> Value? {
        switch form.read(node) {
        case .value(let value): return value
        case .wrongType:
            let fault = ConfigurationFault.wrongType(
                found: node.typeName, expected: form.expected, example: form.example)
            reading.report(path, at: node.position, fault)
        case .invalid:
            reading.report(path, at: node.position, .invalidValue(expected: form.expected, example: form.example))
        case .refused(let reason):
            reading.report(
                path, at: node.position, .invalidValue(expected: form.expected, example: form.example), found: reason)
        case .fault(let fault): reading.report(path, at: node.position, fault)
        }
        return nil
    }

    /// The value in the syntax of the file: written by its form, or as it is in the file.
    private func text<Value>(of value: Value, _ name: String, _ form: ConfigurationForm<Value>) -> String? {
        form.write.flatMap { $0(value) } ?? node(name)?.text
    }

    private func note(
        _ name: String, _ form: (expected: String, example: String), _ value: ConfigurationField.Value,
        origin: ConfigurationField.Origin = .file, effect: ConfigurationEffect? = nil
    ) {
        reading.note(
            ConfigurationField(
                place: place + [.name(name)], expected: form.expected, example: form.example, value: value,
                origin: origin,
                effect: effect ?? self.effect))
    }

    private func child<Value>(
        _ steps: [ConfigurationField.Step], _ node: JSONNode?, effect: ConfigurationEffect? = nil,
        _ read: (ConfigurationSection) -> Value?
    ) -> Value? {
        let childPath = ConfigurationField.path(place + steps)
        if let node, node.object == nil {
            let fault = ConfigurationFault.wrongType(found: node.typeName, expected: "an object", example: "{ }")
            reading.report(childPath, at: node.position, fault)
        }
        let section = ConfigurationSection(
            place: place + steps, position: node?.position ?? position, object: node?.object, in: reading,
            effect: effect ?? self.effect, reportsMissing: reportsMissing && (node == nil || node?.object != nil))
        return section.read(read)
    }
}
