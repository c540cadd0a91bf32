import Testing

@testable import ServiceConfiguration

@Suite struct UnconfinedWorkersWarningTests {
    @Test func namesTheCredentialsWithWorkers() throws {
        let warning = try #require(UnconfinedWorkersWarning(["apple-26", "bridge"], isConfined: false))
        #expect(warning.description.contains("Landlock") && warning.description.contains("apple-26, bridge"))
    }

    @Test func isNotGivenWithoutCause() {
        #expect(UnconfinedWorkersWarning(["apple-26"], isConfined: true) == nil)
        #expect(UnconfinedWorkersWarning([], isConfined: false) == nil)
    }
}
