import HTTPMessages
import PlayerMessages
import TestSupport
import Testing

@testable import ServiceConfiguration

/// Further license paths of the configuration. `BrokenConfigurationTests` has the refused ones.
@Suite struct LicensePathsTests {
    private func paths(_ rest: String) throws -> [Configuration.LicensePath] {
        try ConfigurationFile(
            parsing: Array(ConfigurationText.make(rest: rest).utf8), path: "/etc/latchkey.json5", environment: [:]
        ).configuration.licensePaths
    }

    @Test func theStandardPathsAreThoseOfKnownPlayers() throws {
        let standard = try paths("")
        #expect(
            standard.map { "\($0.pattern) \($0.serves.rawValue) \($0.dialect.rawValue)" } == [
                "/fps/license/{kid} license standard", "/fps/v1/license license standard",
                "/fps/v1/license/{kid} license standard", "/fps/v1/certificate certificate standard",
                "/*/contentlicenseservice/v1/licenses license nagra",
                "/*/contentlicenseservice/v1/certificates certificate nagra",
            ])
        // The standard paths meet the rules for configured ones.
        for (index, path) in standard.enumerated() {
            #expect(PathPattern(path.pattern.description) == path.pattern)
            #expect(!BuiltInPath.allCases.contains { path.pattern.fits($0.rawValue) })
            #expect(!standard.prefix(index).contains { $0.pattern.overlaps(path.pattern) })
        }
    }

    @Test func aListTakesTheirPlace() throws {
        #expect(try paths("licensePaths: [],") == [])
        let path = try #require(PathPattern("/ksm"))
        let other = try #require(PathPattern("/nagra/{tenant}/licenses"))
        #expect(
            try paths(
                """
                licensePaths: [
                  { path: "/ksm", serves: "both", certificateFormat: "json" },
                  { path: "/nagra/{tenant}/licenses", dialect: "nagra", answer: "json" },
                ],
                """) == [
                    .init(path, serves: .both, certificateFormat: .json),
                    .init(other, dialect: .nagra, answer: .json),
                ])
    }

    /// A configuration that is older than the standard paths must stay valid.
    @Test func aPathOfExpressPlayMayBeAStandardOne() throws {
        #expect(try paths(#"expressPlay: { redeemPaths: ["/fps/v1/license"] },"#).count == 6)
    }

    @Test(arguments: AnswerShape.names)
    func everyNamedShapeCanBeConfigured(name: String) throws {
        let path = try #require(try paths(#"licensePaths: [{ path: "/a", answer: "\#(name)" }],"#).first)
        #expect(path.answer == AnswerShape(named: name))
    }
}
