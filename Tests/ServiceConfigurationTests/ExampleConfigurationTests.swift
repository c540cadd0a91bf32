import Foundation
import TestSupport
import Testing

@testable import ServiceConfiguration

/// `Config/latchkey.json5` is what an operator reads first, so it must be short and correct.
@Suite struct ExampleConfigurationTests {
    private static let fieldsMaximum = 60
    private let file: ConfigurationFile

    init() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Config/latchkey.json5").standardizedFileURL.path
        file = try ConfigurationFile(path: path, environment: [:])
    }

    @Test func itHasFewFields() {
        let written = file.fields.filter { $0.origin == .file && $0.value != .absent && $0.value != .section }
        #expect((30...Self.fieldsMaximum).contains(written.count), "\(written.count): \(written.map(\.path))")
    }

    @Test func itsListenersNeedCredentialsAndTLS() {
        #expect(file.configuration.listeners.public.allSatisfy { $0.transport.tls != nil })
        #expect(file.configuration.listeners.admin.allSatisfy { $0.isGuarded })
        #expect(file.warnings.isEmpty)
    }

    /// The table of what was taken away is used: each of these fields is refused with what takes its place.
    @Test(arguments: RetiredField.all.keys.sorted())
    func formerFieldsAreRefused(path: String) throws {
        let retired = try #require(RetiredField.at(path))
        let names = path.split(separator: ".").map(String.init)
        let lists: Set<String> = ["credentials", "admin"]
        let text = names.reversed().reduce("1") { inner, name in
            lists.contains(name) ? "{ \(name): [\(inner)] }" : "{ \(name): \(inner) }"
        }
        let problems = ConfigurationText.problems(text)
        let found = problems.filter { $0.fault == .retired(retired) }
        #expect(found.map { $0.path.replacing("[0]", with: "") } == [path], "\(problems)")
    }

    @Test func aNewNameIsSaid() {
        let text = ConfigurationText.make(entitlement: "floor: { offline: false }")
        let problems = ConfigurationText.problems(text)
        #expect(problems.map(\.path) == ["entitlement.floor"])
        #expect(problems.map { "\($0.fault)" } == ["this field has the name \"limitsForEveryLicense\" now"])
    }
}
