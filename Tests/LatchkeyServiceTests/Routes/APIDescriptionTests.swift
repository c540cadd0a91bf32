import Administration
import ByteCoding
import CommandLineKit
import ContentKeys
import Foundation
import HTTPMessages
import HTTPServing
import Licensing
import PackagerAPI
import PlayerMessages
import Records
import Testing

@testable import AdminRoutes
@testable import Entitlements
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import ServiceConfiguration
@testable import Upkeep

/// The description of the API says what the code serves: the same paths, methods, codes, statuses and words, in both
/// directions. A route or a code that one of them lacks fails here.
@Suite struct APIDescriptionTests {
    private let document: Part
    private let publicDocument: Part
    private let fixture: RoutesFixture

    init() throws {
        document = try Part(parsing: APIDescription.bodies.allListeners)
        publicDocument = try Part(parsing: APIDescription.bodies.publicListener)
        fixture = try RoutesFixture()
    }

    // MARK: Paths and methods

    @Test func describesEveryPublicPathAndNoOther() throws {
        let addresses = PublicAddresses(
            licensePaths: Configuration.LicensePath.standard,
            redeemPaths: [Configuration.ExpressPlay.redeemPathDefault], servesTokens: true, servesEntitlements: true)
        let paths =
            BuiltInPath.allCases.map(\.rawValue) + [BuiltInPath.keysOfContent + "{contentId}"]
            + [Configuration.ExpressPlay.redeemPathDefault]
            + Configuration.LicensePath.standard.map { Self.template(of: $0.pattern) }
        var served: [String: Set<String>] = [:]
        for path in paths {
            let address = try #require(addresses.address(at: Self.sample(of: path)), "nothing is served at \(path)")
            served[path] = Self.methods(address.methods)
        }
        #expect(document.operations(of: "public") == served)
        #expect(publicDocument.operations(of: "public") == served)
    }

    @Test func describesEveryAdminPathAndNoOther() throws {
        // A path of both listeners has OPTIONS on the public one alone.
        let described = document.operations(of: "admin").mapValues { $0.subtracting(["OPTIONS"]) }
        let served = Dictionary(
            uniqueKeysWithValues: AdminAddress.all.map { ($0.path, Self.methods($0.address.entry.methods)) })
        #expect(described == served)
        for (path, address) in AdminAddress.all { #expect(AdminAddress(path: Self.sample(of: path)) == address) }
    }

    /// The routes themselves, and not a list of them, refuse what is not described.
    @Test func admissionFollowsTheDescription() async throws {
        let authorization: HTTPFields = [
            "Host": "localhost", "Authorization": "Bearer \(RoutesFixture.adminToken)",
        ]
        for (path, methods) in document.operations(of: "admin") {
            for method in HTTPMethod.allCases {
                let response = await fixture.askAdmin(method, Self.sample(of: path), authorization)
                let isServed = methods.subtracting(["OPTIONS"]).contains(method.rawValue)
                // The fixture has no revocations and no accounts, whose addresses are not there then.
                guard response.fields["X-Error-Code"] != "not_found" else { continue }
                #expect((response.status != .methodNotAllowed) == isServed, "\(method.rawValue) \(path)")
            }
        }
    }

    @Test func describesToStrangersNothingOfAdminListeners() throws {
        func isPublic(_ path: String) -> Bool { document["paths"][path]["x-listeners"].texts.contains("public") }
        #expect(publicDocument["paths"].names == document["paths"].names.filter(isPublic))
        let adminOnly = document["paths"].names.filter { !isPublic($0) }
        #expect(adminOnly.contains("/v1/revocations") && adminOnly.contains("/metrics"))
        // "/" alone is also the value of an example.
        let text = String(decoding: APIDescription.bodies.publicListener, as: UTF8.self)
        for path in adminOnly where path != "/" { #expect(!text.contains("\"\(path)\"")) }
        for name in ["Revocation", "Explanation", "DevicesPage", "Refusal"] {
            #expect(document["components"]["schemas"].names.contains(name))
            #expect(!publicDocument["components"]["schemas"].names.contains(name))
        }
    }

    @Test func everyReferenceOfBothTextsLeadsToAPart() {
        for text in [document, publicDocument] {
            let references = text.references
            #expect(references.count > 50)
            for reference in references {
                let place = reference.split(separator: "/").dropFirst().reduce(text) { $0[String($1)] }
                #expect(place.isThere, "\(reference) leads nowhere")
            }
        }
    }

    @Test func isTheFileWithoutBlanks() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/CEmbedded/openapi.json")
        let source = try Part(parsing: Array(Data(contentsOf: file)))
        #expect(source.canonical == document.canonical)
        #expect(document["info"]["version"].text == LatchkeyVersion.current)
        #expect(document["openapi"].text == "3.1.0")
    }

    @Test func everyPathHasAListener() {
        for path in document["paths"].names {
            let listeners = Set(document["paths"][path]["x-listeners"].texts)
            #expect(!listeners.isEmpty && listeners.isSubset(of: ["public", "admin"]), "\(path)")
        }
    }

    /// A part that only a left-out part names is left out, and one that is named by steps is not.
    @Test func leavesOutWhatOnlyOperatorsNeed() {
        let bodies = APIDescription.Bodies(
            of: Array(
                """
                {"tags": [{"name": "a"}, {"name": "b"}], "paths": {
                  "/open": {"x-listeners": ["public"], "get": {"tags": ["a"], "security": [{"one": []}],
                    "$ref": "#/components/schemas/A"}},
                  "/closed": {"x-listeners": ["admin"], "get": {"tags": ["b"], "security": [{"two": []}],
                    "$ref": "#/components/schemas/C"}}},
                 "components": {
                  "schemas": {"A": {"$ref": "#/components/schemas/B"}, "B": {"type": "string"}, "C": {}},
                  "parameters": {"P": {}}, "securitySchemes": {"one": {}, "two": {}}}}
                """.utf8))
        #expect(
            String(decoding: bodies.publicListener, as: UTF8.self) == """
                {"tags":[{"name":"a"}],"paths":{"/open":{"x-listeners":["public"],"get":{"tags":["a"],\
                "security":[{"one":[]}],"$ref":"#/components/schemas/A"}}},"components":{"schemas":{\
                "A":{"$ref":"#/components/schemas/B"},"B":{"type":"string"}},"securitySchemes":{"one":{}}}}
                """)
    }

    // MARK: Serving

    @Test func isServedToEveryoneOnThePublicListener() async throws {
        let response = await fixture.ask(.get, "/openapi.json")
        #expect(response.status == .ok && response.fields["Content-Type"] == "application/json")
        #expect(response.fields["Access-Control-Allow-Origin"] == "*")
        #expect(response.body == APIDescription.bodies.publicListener)
        #expect(await fixture.ask(.head, "/openapi.json").status == .ok)
        let refused = await fixture.ask(.post, "/openapi.json")
        #expect(refused.status == .methodNotAllowed && refused.fields["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test func isServedWholeToAdministratorsAlone() async throws {
        let response = await fixture.askAdmin(
            .get, "/openapi.json", ["Authorization": "Bearer \(RoutesFixture.adminToken)"])
        #expect(response.status == .ok && response.body == APIDescription.bodies.allListeners)
        let refused = await fixture.askAdmin(.get, "/openapi.json")
        #expect(refused.status == .unauthorized && refused.fields["X-Error-Code"] == "admin_token_invalid")
        #expect(try await RoutesFixture(adminToken: nil).askAdmin(.get, "/openapi.json").status == .ok)
    }

    // MARK: Codes

    @Test func hasTheCodesOfTheOneTable() {
        #expect(document["components"]["schemas"]["ErrorCode"]["enum"].texts == ProblemCode.allCases.map(\.rawValue))
    }

    /// The codes of a status, in refusals of both shapes.
    @Test(arguments: ["Problem", "NAGRAProblem"])
    func hasEachCodeUnderItsStatus(shape: String) throws {
        let schemas = document["components"]["schemas"]
        var found: Set<String> = []
        for name in schemas.names where name.hasPrefix(shape) && name != shape {
            let status = try #require(UInt16(name.dropFirst(shape.count)))
            #expect(schemas[name]["properties"]["status"]["const"].number == Int64(status))
            let codes = ProblemCode.allCases.filter { $0.status.code == status }
            #expect(schemas[name]["properties"]["code"]["enum"].texts == codes.map(\.rawValue), "\(name)")
            found.formUnion(codes.map(\.rawValue))
        }
        // No operation has method_not_allowed: it is what other methods get.
        let missing = Set(ProblemCode.allCases.map(\.rawValue)).subtracting(found)
        if shape == "Problem" { #expect(missing == ["method_not_allowed"]) } else { #expect(!found.isEmpty) }
    }

    @Test func namesTheCodesOfHTTPItselfOnce() {
        let problems: [HTTPProblem] = [
            .malformed(.requestLine), .headTimeout, .bodyTimeout, .bodyTooLarge, .targetTooLong, .headTooLarge,
            .expectationFailed, .overloaded, .methodNotImplemented, .transferCodingNotImplemented, .versionNotSupported,
            .tooManyParameters, .contentCodingNotSupported,
        ]
        let codes = Set(problems.map { Problem(for: $0).code } + [.internalError])
        #expect(document["x-error-codes-of-http"].texts == ProblemCode.allCases.filter(codes.contains).map(\.rawValue))
    }

    /// The statuses of an operation are those of its codes, and those that ExpressPlay's own numbers have.
    @Test func eachOperationHasTheStatusesOfItsCodes() throws {
        let ofHTTP = document["x-error-codes-of-http"].texts
        var checked = 0
        for (name, operation) in document.allOperations {
            let codes = try (operation["x-error-codes"].texts + ofHTTP).map { try #require(ProblemCode(rawValue: $0)) }
            var statuses = Set(codes.map { String($0.status.code) })
            let words = name.split(separator: " ").map(String.init)
            switch (words[0], words[1]) {
            case ("OPTIONS", _): break
            case (_, "/hms/fp/token"), (_, "/sees/SEESServlet"): statuses.formUnion(["401", "403", "503"])
            case (_, "/readyz"): statuses.insert("503")
            default: break  // Every other answer has a code of the table.
            }
            let described = operation["responses"].names.filter { $0 >= "400" }
            #expect(Set(described) == statuses, "\(name)")
            #expect(operation["responses"].names.contains { $0.hasPrefix("2") }, "\(name)")
            #expect(!operation["operationId"].text.isEmpty && !operation["summary"].text.isEmpty)
            checked += 1
        }
        #expect(checked > 50)
        let names = document.allOperations.map { $0.operation["operationId"].text }
        #expect(Set(names).count == names.count)
    }

    // MARK: Closed lists

    @Test func hasTheWordsOfEachClosedList() throws {
        let schemas = document["components"]["schemas"]
        let parameters = document["components"]["parameters"]
        func words(of parameter: String) -> [String] { parameters[parameter]["schema"]["enum"].texts }
        #expect(words(of: "Format") == AnswerShape.names)
        let sender = schemas["Administrator"]["properties"]
        #expect(sender["roles"]["items"]["enum"].texts == AdminRole.allCases.map(\.rawValue))
        #expect(sender["permissions"]["items"]["enum"].texts == AdminPermission.allCases.map(\.rawValue))
        #expect(words(of: "CertificateFormat") == Configuration.CertificateFormat.allCases.map(\.rawValue))
        #expect(Set(words(of: "KeyFormat")) == Set(KeyExportFormat.allCases.map(\.rawValue)))
        #expect(Set(words(of: "RevocationKind")) == Set(Revocation.Kind.allCases.map(\.rawValue)))
        #expect(
            schemas["RevocationOrder"]["properties"]["kind"]["enum"].texts
                == schemas["Revocation"]["properties"]["kind"]["enum"].texts)
        #expect(
            Set(schemas["LicenseObject"]["oneOf"].elements.map { $0["required"].texts })
                == Set(RequestShape.ObjectMember.allCases.map { [$0.rawValue] }))
        #expect(
            Set(schemas["KeyOrder"]["properties"]["scheme"]["enum"].texts)
                == Set(EncryptionScheme.allCases.map(\.rawValue)))
        let form = Set(ExpressPlayForm.Name.allCases.map(\.rawValue) + UnusedParameter.allCases.map(\.rawValue))
        #expect(Set(schemas["TokenForm"]["properties"].names) == form)
        #expect(
            schemas["ExpressPlayCode"]["enum"].elements.compactMap(\.number)
                == ExpressPlayCode.allCases.map { Int64($0.rawValue) })
        #expect(
            Set(schemas["AppleStatus"]["enum"].elements.compactMap(\.number))
                == Set(ProblemCode.allCases.compactMap(\.appleStatus)))
    }

    /// Each place that a token may come in has a scheme, and licenses name all of them.
    @Test func hasASchemeForEachPlaceOfAToken() throws {
        let schemes = document["components"]["securitySchemes"]
        let operation = document["paths"]["/fps/license"]["post"]
        let named = operation["security"].elements.flatMap(\.names)
        let places = Set(
            named.map { name -> String in
                let scheme = schemes[name]
                return scheme["type"].text == "http"
                    ? "header Authorization" : "\(scheme["in"].text) \(scheme["name"].text)"
            })
        let expected = TokenSource.allCases.flatMap { source in
            (source.header.map { ["header \($0)"] } ?? []) + source.queryNames.map { "query \($0)" }
        }
        #expect(places == Set(expected))
    }

    // MARK: Helpers

    private static func methods(_ list: String) -> Set<String> { Set(list.components(separatedBy: ", ")) }

    private static func template(of pattern: PathPattern) -> String {
        let segments = pattern.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .parameter(let name): "{\(name)}"
            }
        }
        return "/" + ((pattern.hasWildcard ? ["{prefix}"] : []) + segments).joined(separator: "/")
    }

    /// A path with a value for each name in braces.
    private static func sample(of path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "movie-1" : String($0) }.joined(separator: "/")
    }
}

/// A part of the description. A part that is not there has no texts, no names and no elements.
private struct Part {
    private let node: JSONNode?

    private init(_ node: JSONNode?) { self.node = node }

    init(parsing text: [UInt8]) throws {
        node = try JSONReader.parse(text, limits: JSONLimits(sizeMaximum: 1_000_000, depthMaximum: 64))
    }

    subscript(name: String) -> Part { Part(node?.object?[name]) }

    var isThere: Bool { node != nil }
    var names: [String] { node?.object?.members.map(\.name) ?? [] }
    var elements: [Part] { node?.array?.map { Part($0) } ?? [] }
    var texts: [String] { elements.compactMap { $0.node?.string } }
    var text: String { node?.string ?? "" }
    var number: Int64? { node?.number?.signed }

    /// The same text for the same value.
    var canonical: String {
        guard let node else { return "" }
        var writer = JSONWriter(expectedSize: 1000)
        writer.node(node)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Every `$ref` within the part.
    var references: Set<String> {
        var found: Set<String> = []
        if let reference = node?.object?["$ref"]?.string { found.insert(reference) }
        for name in names { found.formUnion(self[name].references) }
        for element in elements { found.formUnion(element.references) }
        return found
    }

    private static let methodNames = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]

    /// The methods of each path of a listener.
    func operations(of listener: String) -> [String: Set<String>] {
        let paths = self["paths"]
        let own = paths.names.filter { paths[$0]["x-listeners"].texts.contains(listener) }
        return Dictionary(
            uniqueKeysWithValues: own.map { path in
                (path, Set(paths[path].names.filter(Self.methodNames.contains).map { $0.uppercased() }))
            })
    }

    /// Every operation, by its method and path.
    var allOperations: [(name: String, operation: Part)] {
        let paths = self["paths"]
        return paths.names.flatMap { path in
            paths[path].names.filter(Self.methodNames.contains).map { method in
                ("\(method.uppercased()) \(path)", paths[path][method])
            }
        }
    }
}
