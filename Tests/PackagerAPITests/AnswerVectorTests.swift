import ByteCoding
import ContentKeys
import Foundation
import Testing

@testable import PackagerAPI

/// The answers in `Tests/Vectors/speke/answers`, which other implementations read (`Tests/Interop/test_cpix.py`). Each
/// one is what Latchkey now answers to the request of the same name.
@Suite struct AnswerVectorTests {
    private static let folder = Documents.folder.appending(path: "answers")

    private static let plain: [(String, SPEKEVersion)] = [
        ("v1_vod_fairplay", .v1), ("v1_live_fairplay_period7_iv", .v1), ("v2_vod_fairplay_video_audio", .v20),
        ("v2_live_fairplay_period", .v20), ("v2_odd_prefixes", .v20),
        ("v21_live_fairplay_start_end_multivariant", .v21),
    ]
    private static let encrypted = "v2_vod_fairplay_encrypted_delivery"
    private static let allSystems = "v2_all_systems"

    private static func answer(_ text: String, _ version: SPEKEVersion) throws -> [UInt8] {
        let request = try CPIXRequest(parsing: Array(text.utf8), version: version)
        return try CPIXAnswer(to: request, keys: Documents.keys(for: request), urls: .standard).bytes
    }

    private static func written(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "\(name).xml")))
    }

    private static var allSystemsRequest: String {
        Contract.of(["SD", "HD", "AUDIO"], [Documents.fairPlay, Documents.widevine, Documents.playReady]).document
    }

    @Test(arguments: plain)
    func answersAsWritten(name: String, version: SPEKEVersion) throws {
        #expect(try Self.answer(Documents.text(name), version) == Self.written(name))
    }

    @Test func answersForAllSystemsAsWritten() throws {
        #expect(try Self.answer(Self.allSystemsRequest, .v20) == Self.written(Self.allSystems))
    }

    /// Everything but the random values is the same.
    @Test func encryptsAsWritten() throws {
        func blank(_ bytes: [UInt8]) -> String {
            String(decoding: bytes, as: UTF8.self)
                .replacing(/<(enc:CipherValue|pskc:ValueMAC)>[A-Za-z0-9+\/=]+</) { "<\($0.1)>random<" }
        }
        let now = blank(try Self.answer(Documents.text(Self.encrypted), .v20))
        #expect(now.contains("<enc:CipherValue>random<"))
        #expect(now == blank(try Self.written(Self.encrypted)))
    }

    /// Writes the answers to their files again.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["LATCHKEY_WRITE_VECTORS"] != nil,
            "set LATCHKEY_WRITE_VECTORS to write them again"))
    func writesAllAnswers() throws {
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        var answers: [String: [UInt8]] = [:]
        for (name, version) in Self.plain { answers[name] = try Self.answer(Documents.text(name), version) }
        answers[Self.encrypted] = try Self.answer(Documents.text(Self.encrypted), .v20)
        answers[Self.allSystems] = try Self.answer(Self.allSystemsRequest, .v20)
        for (name, bytes) in answers { try Data(bytes).write(to: Self.folder.appending(path: "\(name).xml")) }
        #expect(answers.count == 8)
    }
}
