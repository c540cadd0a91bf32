import ByteCoding
import ContentKeys
import KeyCrypto
import Synchronization
import Testing

@testable import PackagerAPI

/// Repeated documents and their answers.
@Suite struct RecentDocumentsTests {
    private static func body(_ name: String = "v2_vod_fairplay_video_audio") throws -> [UInt8] {
        try Documents.bytes(name + ".xml")
    }

    /// Returns a document for another content, with the same size as the first one.
    private static func body(number: Int) throws -> [UInt8] {
        Array(try Documents.text("v2_vod_fairplay_video_audio").replacing("movie-001", with: "movie-00\(number)").utf8)
    }

    @Test func readsADocumentOnce() throws {
        let documents = RecentDocuments()
        let first = try documents.document(Self.body(), version: .v20)
        #expect(try documents.document(Self.body(), version: .v20) === first)
        #expect(try documents.document(Self.body(number: 2), version: .v20) !== first)
        #expect(first.request.contentID.text == "movie-001")
    }

    /// In another version, the same bytes are another request.
    @Test func readsADocumentAgainInAnotherVersion() throws {
        let documents = RecentDocuments()
        _ = try documents.document(Self.body(), version: .v20)
        #expect(throws: CPIXError.unsupportedVersion) { _ = try documents.document(Self.body(), version: .v21) }
        let noID = CPIXError.missingAttribute(element: "CPIX", attribute: "id")
        #expect(throws: noID) { _ = try documents.document(Self.body(), version: .v1) }
    }

    @Test func refusesABadDocumentEachTime() throws {
        let documents = RecentDocuments()
        for _ in 0..<2 {
            #expect(throws: CPIXError.missingContentID) {
                _ = try documents.document(Self.body("neg_no_contentid"), version: .v20)
            }
        }
    }

    /// Each half has room for two documents.
    @Test func forgetsTheOldest() throws {
        let documents = RecentDocuments(size: try 4 * Self.body().count + 1)
        let first = try documents.document(Self.body(number: 1), version: .v20)
        let second = try documents.document(Self.body(number: 2), version: .v20)
        _ = try documents.document(Self.body(number: 3), version: .v20)
        // This document was requested again, so it moves to the younger half.
        #expect(try documents.document(Self.body(number: 2), version: .v20) === second)
        _ = try documents.document(Self.body(number: 4), version: .v20)
        #expect(try documents.document(Self.body(number: 2), version: .v20) === second)
        #expect(try documents.document(Self.body(number: 1), version: .v20) !== first)
    }

    @Test func keepsNoDocumentThatIsLargerThanItsRoom() throws {
        let documents = RecentDocuments(size: try 2 * Self.body().count - 2)
        let first = try documents.document(Self.body(), version: .v20)
        #expect(try documents.document(Self.body(), version: .v20) !== first)
    }

    // MARK: - Answers

    private static func answer(
        _ document: ReadDocument, _ keys: [PackagedKey], _ urls: SKDTemplate = .standard, authority: String? = nil
    ) throws -> [UInt8] {
        let answer = try document.answer(keys: keys, urls: urls, authority: authority).bytes
        let other = try CPIXAnswer(to: document.request, keys: keys, urls: urls, authority: authority).bytes
        #expect(answer == other)
        return answer
    }

    @Test(
        arguments: [
            ("v1_vod_fairplay", SPEKEVersion.v1), ("v2_vod_fairplay_video_audio", .v20),
            ("v2_live_fairplay_period", .v20), ("v21_live_fairplay_start_end_multivariant", .v21),
        ])
    func answersAgainAsTheFirstTime(name: String, version: SPEKEVersion) throws {
        let document = try RecentDocuments().document(Self.body(name), version: version)
        let keys = Documents.keys(for: document.request)
        let first = try Self.answer(document, keys)
        #expect(try Self.answer(document, keys) == first)
        #expect(try Self.answer(document, keys.reversed()) == first)
        for key in keys {
            let text = Base64.encode(key.key.bytes.revealed())
            #expect(String(decoding: first, as: UTF8.self).contains(">\(text)<"))
        }
    }

    /// A key may have the same id and other bytes, for example after a database was restored.
    @Test func givesTheKeysOfThisTime() throws {
        let document = try RecentDocuments().document(Self.body(), version: .v20)
        let keys = Documents.keys(for: document.request)
        let first = try Self.answer(document, keys)
        let others = try keys.map { key in
            try PackagedKey(keyID: key.keyID, key: ContentKey(SecretBytes.random(count: 16)), iv: key.iv)
        }
        let second = try Self.answer(document, others)
        #expect(second != first)
        #expect(second.count == first.count)
    }

    @Test func answersAnewForOtherIVsAndURLs() throws {
        let document = try RecentDocuments().document(Self.body(), version: .v20)
        let keys = Documents.keys(for: document.request)
        let urls = try SKDTemplate(presetOrTemplate: "uuid-iv")
        var answers = [try Self.answer(document, keys, urls)]
        let otherIVs = keys.map { PackagedKey.sample($0.keyID, iv: Bytes16(high: $0.iv.low, low: $0.iv.high)) }
        answers.append(try Self.answer(document, otherIVs, urls))
        answers.append(try Self.answer(document, otherIVs))
        let link = try SKDTemplate(presetOrTemplate: "license-url")
        answers.append(try Self.answer(document, otherIVs, link, authority: "a.example"))
        answers.append(try Self.answer(document, otherIVs, link, authority: "b.example"))
        #expect(Set(answers).count == 5)
    }

    // MARK: - Repeated deliveries

    /// A delivery that may be repeated some times.
    private final class Delivery: RepeatableDelivery {
        let keys: [ContentKeyRecord]
        private let left: Mutex<Int>

        init(_ document: ReadDocument, repetitions: Int) throws {
            keys = try Documents.keys(for: document.request).map { key in
                try ContentKeyRecord(
                    attributes: ContentKeyAttributes(
                        keyID: key.keyID, contentID: document.contentID, createdAt: 0), key: key.key, iv: key.iv)
            }
            left = Mutex(repetitions)
        }

        func countOneMore() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }

    @Test func answersAPackagerAgainAsLongAsTheDeliveryMayBeRepeated() throws {
        let document = try RecentDocuments().document(Self.body(), version: .v20)
        let packager = Packager(name: "p")
        #expect(document.answerAgain(to: packager, urls: .standard, authority: nil) == nil)
        let delivery = try Delivery(document, repetitions: 2)
        let first = try document.answer(delivery, to: packager, urls: .standard, authority: nil).bytes
        #expect(try Self.answer(document, delivery.keys.map(PackagedKey.init)) == first)
        for _ in 1...2 {
            #expect(document.answerAgain(to: packager, urls: .standard, authority: nil)?.bytes == first)
        }
        #expect(document.answerAgain(to: packager, urls: .standard, authority: nil) == nil)
    }

    /// Another packager, or the same one after a reload, is judged by its own rules.
    @Test func answersNoOtherPackagerAndNoOtherURLsAgain() throws {
        let document = try RecentDocuments().document(Self.body(), version: .v20)
        let packager = Packager(name: "p")
        _ = try document.answer(
            try Delivery(document, repetitions: 1), to: packager, urls: .standard, authority: "a.example")
        #expect(document.answerAgain(to: Packager(name: "p"), urls: .standard, authority: "a.example") == nil)
        #expect(document.answerAgain(to: packager, urls: .standard, authority: "b.example") == nil)
        let other = try SKDTemplate(presetOrTemplate: "uuid-iv")
        #expect(document.answerAgain(to: packager, urls: other, authority: "a.example") == nil)
        // None of these was counted as a delivery.
        #expect(document.answerAgain(to: packager, urls: .standard, authority: "a.example") != nil)
    }

    @Test func refusesWhatTheFirstAnswerWouldHaveRefused() throws {
        let document = try RecentDocuments().document(Self.body("v1_live_fairplay_period7_iv"), version: .v1)
        let keys = Documents.keys(for: document.request)
        _ = try Self.answer(document, keys)
        let other = PackagedKey.sample(keys[0].keyID, iv: Bytes16(high: 1, low: 2))
        #expect(throws: CPIXError.ivConflict(keyID: keys[0].keyID)) {
            _ = try document.answer(keys: [other], urls: .standard)
        }
        #expect(throws: CPIXError.keyNotGiven(keys[0].keyID)) {
            _ = try document.answer(keys: [], urls: .standard)
        }
    }

    /// Encrypted keys differ in each answer, although the keys are the same.
    @Test func encryptsKeysAgainEachTime() throws {
        let document = try RecentDocuments().document(Self.body("v2_vod_fairplay_encrypted_delivery"), version: .v20)
        let keys = Documents.keys(for: document.request)
        let first = try document.answer(keys: keys, urls: .standard).bytes
        let second = try document.answer(keys: keys, urls: .standard).bytes
        let values = try [first, second].map { try MarkupReader.read($0).all("CipherValue").map(\.text) }
        #expect(values[0].count == values[1].count)
        #expect(values[0].count >= 4)
        #expect(Set(values[0]).isDisjoint(with: values[1]))
    }
}
