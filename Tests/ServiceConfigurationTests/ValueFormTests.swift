import ByteCoding
import Testing

@testable import ServiceConfiguration

@Suite struct SecretSourceTests {
    @Test(arguments: [
        ("a/b", SecretSource.file(path: "/etc/latchkey/a/b")), ("/a/b", .file(path: "/a/b")),
        ("./abc=", .file(path: "/etc/latchkey/./abc=")),
        ("credential:kek", .credential(name: "kek")), ("environment:KEK", .environment(variable: "KEK")),
    ])
    func readsEachForm(text: String, source: SecretSource) {
        #expect(SecretSource(text, relativeTo: "/etc/latchkey") == source)
    }

    @Test(arguments: [
        "", "a\0b", "credential:", "credential:a/b", "credential:..", "credential:.", "credential:a b", "environment:",
        "environment:A=B", "101112131415161718191a1b1c1d1e1f", "EBESExQVFhcYGRobHB0eHw==", "environment:A B",
        String(repeating: "x", count: 4096),
    ])
    func refusesWhatCannotExist(text: String) {
        #expect(SecretSource(text, relativeTo: "/etc/latchkey") == nil)
    }

    @Test(arguments: [("/", "/x"), ("/etc", "/etc/x"), (".", "x")])
    func resolvesRelativePaths(directory: String, path: String) {
        #expect(SecretSource("x", relativeTo: directory) == .file(path: path))
    }
}
