import Testing

@testable import PackagerAPI

/// The rules for versions (packagers, section 1.2).
@Suite struct SPEKEVersionTests {
    @Test func readsTheVersionOfTheHeader() throws {
        #expect(try SPEKEVersion(headerValue: nil) == .v1)
        #expect(try SPEKEVersion(headerValue: "2.0") == .v20)
        #expect(try SPEKEVersion(headerValue: "2.1") == .v21)
    }

    @Test(arguments: ["", "1.0", "2", "2.2", "3.0", "2.0 ", "v2.0"])
    func refusesOtherVersions(value: String) {
        #expect(throws: CPIXError.unsupportedSPEKEVersion) { _ = try SPEKEVersion(headerValue: value) }
        #expect(CPIXError.unsupportedSPEKEVersion.text == "Unsupported SPEKE version")
    }

    @Test(
        arguments: [
            ("/speke", SPEKERoute.copyProtection(nil)), ("/speke/v1.0/copyProtection", .copyProtection(.v1)),
            ("/speke/v2.0/copyProtection", .copyProtection(.v20)),
            ("/speke/v2.1/copyProtection", .copyProtection(.v21)),
            ("/speke/v1.0/heartbeat", .heartbeat),
        ])
    func knowsItsPaths(path: String, route: SPEKERoute) {
        #expect(SPEKERoute(path: path) == route)
    }

    @Test(arguments: ["/", "/speke/", "/speke/v2.0/heartbeat", "/speke/v3.0/copyProtection", "/Speke"])
    func knowsNoOtherPath(path: String) {
        #expect(SPEKERoute(path: path) == nil)
    }

    /// The versions in the path and in the header must agree.
    @Test(arguments: [SPEKEVersion?.none, .v1, .v20, .v21], SPEKEVersion.allCases)
    func letsPathAndHeaderAgree(ofPath: SPEKEVersion?, ofHeader: SPEKEVersion) throws {
        let route = SPEKERoute.copyProtection(ofPath)
        if ofPath == nil || ofPath == ofHeader {
            #expect(try route.version(headerValue: ofHeader.headerValue) == ofHeader)
        } else {
            #expect(throws: CPIXError.unsupportedSPEKEVersion) {
                _ = try route.version(headerValue: ofHeader.headerValue)
            }
        }
    }

    @Test func hasAHeartbeatInVersion1() throws {
        #expect(try SPEKERoute.heartbeat.version(headerValue: nil) == .v1)
        #expect(throws: CPIXError.unsupportedSPEKEVersion) { _ = try SPEKERoute.heartbeat.version(headerValue: "2.0") }
        #expect(!SPEKERoute.heartbeatText.isEmpty)
    }

    @Test(
        arguments: [
            "application/xml", "text/xml", "Application/XML", "application/xml; charset=utf-8",
            "text/xml;charset=UTF-8",
            "application/xml ; charset=\"utf-8\"",
        ])
    func readsDocumentsOfTheseTypes(type: String) {
        #expect(SPEKEHeader.isReadable(contentType: type))
    }

    @Test(
        arguments: [
            "", "application/json", "application/xml; charset=utf-16", "application/xml; boundary=x",
            "application/xml;", "application/xmlx",
            "multipart/form-data",
        ])
    func readsNoOther(type: String) {
        #expect(!SPEKEHeader.isReadable(contentType: type))
    }

    @Test func namesItselfInAnswers() {
        func fields(_ version: SPEKEVersion) -> [String] {
            SPEKEHeader.answerFields(version, server: "Latchkey/1").map { "\($0.name): \($0.value)" }
        }
        #expect(fields(.v1) == ["Speke-User-Agent: Latchkey/1"])
        #expect(fields(.v20) == ["X-Speke-User-Agent: Latchkey/1", "X-Speke-Version: 2.0"])
        #expect(fields(.v21) == ["X-Speke-User-Agent: Latchkey/1", "X-Speke-Version: 2.1"])
        #expect(SPEKEHeader.answerContentType == "application/xml")
    }
}
