import ByteCoding
import TestSupport
import Testing

@testable import PlayerMessages

/// Reads every request of the corpus without a server. `Tests/Interop/test_player_corpus.py` sends the same requests to
/// a daemon.
@Suite struct PlayerCorpusTests {
    @Test(arguments: try PlayerCorpus.cases())
    func readsARequestAsTheCorpusSays(_ one: PlayerCorpusCase) throws {
        let outcome = Self.outcome(of: one)
        if let name = one.expected["error"]?.string {
            guard case .failure(let error) = outcome else { return #expect(Bool(false), "read as \(outcome)") }
            #expect(Self.name(of: error) == name)
            return
        }
        if one.expected["report"]?.bool == true {
            guard case .success(.sessionReport(let report)) = outcome else {
                return #expect(Bool(false), "read as \(outcome)")
            }
            return #expect(report == one.body)
        }
        guard case .success(.request(let request)) = outcome else {
            return #expect(Bool(false), "read as \(outcome)")
        }
        try check(request, one.expected)
    }

    private func check(_ request: PlayerRequest, _ expected: JSONObject) throws {
        #expect(request.shape.name == expected["shape"]?.string)
        if case .object(let member) = request.shape { #expect(member.rawValue == expected["member"]?.string) }
        let names = try #require(expected["keys"]?.array).compactMap(\.string)
        #expect(request.keys.map(\.spc) == names.map(PlayerCorpus.sampleSPC))
        let hints = request.keys.map(\.assetHint)
        #expect(hints[0] == (try Self.text(expected["assetHint"])) || expected["assetHint"] == nil)
        if let expected = expected["assetHints"]?.array { #expect(hints == (try expected.map { try Self.text($0) })) }
        #expect(request.token == (try Self.text(expected["token"])))
        if let labels = expected["labels"]?.array {
            #expect(request.keys.map { Self.text(ofLabel: $0.label) } == (try labels.map(Self.expectedText)))
        }
        if let offline = expected["offline"]?.array {
            #expect(request.keys.map(\.isOffline) == offline.compactMap(\.bool))
        }
    }

    /// The content type matters only to multipart bodies, because it contains their boundary. Every other request is
    /// read in the same way under each type.
    @Test(arguments: try PlayerCorpus.cases())
    func readsTheSameUnderEveryType(_ one: PlayerCorpusCase) {
        let outcome = "\(Self.outcome(of: one))"
        for type in [nil, "application/json", "application/x-www-form-urlencoded", "application/octet-stream"] {
            #expect("\(Self.outcome(of: one.body, type))" == outcome)
        }
    }

    @Test func theCorpusHasEveryShapeAndEveryMember() throws {
        let expected = try PlayerCorpus.cases().map(\.expected)
        #expect(Set(expected.compactMap { $0["shape"]?.string }) == Set(RequestShape.names))
        let members = Set(expected.compactMap { $0["member"]?.string })
        #expect(members == Set(RequestShape.ObjectMember.allCases.map(\.rawValue)))
    }

    private static func outcome(of one: PlayerCorpusCase) -> Result<PlayerMessage, PlayerMessageError> {
        outcome(of: one.body, one.contentType)
    }

    private static func outcome(of body: [UInt8], _ type: String?) -> Result<PlayerMessage, PlayerMessageError> {
        do throws(PlayerMessageError) {
            return .success(try PlayerMessageReader.read(body, contentType: type))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the name of the case, without its associated values.
    private static func name(of error: PlayerMessageError) -> String {
        String("\(error)".prefix { $0 != "(" })
    }

    private static func text(_ node: JSONNode?) throws -> String? {
        try node?.string.map { String(decoding: try PlayerCorpus.expand($0), as: UTF8.self) }
    }

    /// Returns a text in quotes, or the digits of a number, so that `1` and `"1"` differ.
    private static func text(ofLabel label: JSONNode?) -> String? {
        label.flatMap { label in label.string.map { "\"\($0)\"" } ?? label.number?.text }
    }

    private static func expectedText(_ label: JSONNode) throws -> String? {
        try text(label).map { "\"\($0)\"" } ?? label.number?.text
    }
}
