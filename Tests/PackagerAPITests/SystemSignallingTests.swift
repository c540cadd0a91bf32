import ByteCoding
import ContentKeys
import Foundation
import TestSupport
import Testing

@testable import PackagerAPI

/// Signalling of Widevine and PlayReady (packagers, section 1.7), parsed by code that only the tests have.
@Suite struct SystemSignallingTests {
    private static let systems = [Documents.fairPlay, Documents.widevine, Documents.playReady]
    private let answer: MarkupElement

    init() throws {
        answer = try Documents.answer(Contract.of(["VIDEO", "AUDIO"], Self.systems).document)
    }

    private func systems(_ identifier: String) -> [MarkupElement] {
        answer.all("DRMSystem").filter { $0.attribute("systemId") == identifier }
    }

    /// Returns system id and data of a box of version 0.
    private static func opened(_ base64: String) throws -> (system: String, data: [UInt8]) {
        let box = try Base64.decode(base64)
        #expect(box.count >= 32)
        #expect(Array(box[4..<12]) == Array("pssh".utf8) + [0, 0, 0, 0])
        let sizes = [0, 28].map { box[$0..<$0 + 4].reduce(0) { $0 << 8 | Int($1) } }
        #expect(sizes == [box.count, box.count - 32])
        let system = try #require(KeyID(bytes: box[12..<28]))
        return (system.description, Array(box[32...]))
    }

    private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    @Test(arguments: [Documents.widevine, Documents.playReady])
    func fillsEachElementOnce(identifier: String) throws {
        #expect(systems(identifier).count == 2)
        for system in systems(identifier) {
            #expect(system.all("PSSH").map(\.text.isEmpty) == [false])
            #expect(system.all("ContentProtectionData").map(\.text.isEmpty) == [false])
            #expect(system.all("HLSSignalingData").map { $0.attribute("playlist") } == ["media", "master"])
            let lines = system.all("HLSSignalingData").compactMap(\.decodedText).compactMap(HLSLine.init)
            #expect(lines.map(\.tag) == ["#EXT-X-KEY", "#EXT-X-SESSION-KEY"])
            #expect(lines[0].attributes == lines[1].attributes)
            #expect(lines[0].attributes["METHOD"] == "SAMPLE-AES")
        }
    }

    @Test func signalsWidevine() throws {
        for (index, system) in systems(Documents.widevine).enumerated() {
            let keyID = try KeyID(parsing: Contract.keyID(index))
            let text = system.all("PSSH")[0].text
            let (identifier, data) = try Self.opened(text)
            #expect(identifier == Documents.widevine)
            // Field 2: the key id. Field 9: "cbcs" as a number, 0x63626373.
            #expect(data == [0x12, 0x10] + keyID.bytes + hex("48f3c6899b06"))
            let element = try MarkupReader.read(
                Array(system.all("ContentProtectionData")[0].decodedText?.utf8 ?? "".utf8))
            #expect(element.isNamed("pssh", in: "urn:mpeg:cenc:2013"))
            #expect(element.text == text)
            let line = try #require(system.all("HLSSignalingData")[0].decodedText.flatMap(HLSLine.init))
            #expect(line.attributes["URI"] == "data:text/plain;base64,\(text)")
            #expect(line.attributes["KEYFORMAT"] == "urn:uuid:\(Documents.widevine)")
            #expect(line.attributes["KEYFORMATVERSIONS"] == "1")
        }
    }

    @Test func signalsPlayReady() throws {
        for (index, system) in systems(Documents.playReady).enumerated() {
            let keyID = try KeyID(parsing: Contract.keyID(index))
            let text = system.all("PSSH")[0].text
            let (identifier, object) = try Self.opened(text)
            #expect(identifier == Documents.playReady)
            #expect(Self.littleEndian(object[0..<4]) == object.count)
            #expect([4..<6, 6..<8, 8..<10].map { Self.littleEndian(object[$0]) } == [1, 1, object.count - 10])
            let units = stride(from: 10, to: object.count, by: 2).map {
                UInt16(object[$0]) | UInt16(object[$0 + 1]) << 8
            }
            let header = try MarkupReader.read(Array(String(decoding: units, as: UTF16.self).utf8))
            #expect(header.isNamed("WRMHEADER", in: "http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader"))
            #expect(header.attribute("version") == "4.3.0.0")
            let key = try #require(header.all("KID").first)
            #expect(key.attribute("ALGID") == "AESCBC")
            let identifierBytes = try Base64.decode(key.attribute("VALUE") ?? "")
            let b = keyID.bytes
            #expect(identifierBytes == [b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6]] + b[8...])
            // The element contains two elements: `cenc:pssh`, then `mspr:pro`.
            let data = try #require(system.all("ContentProtectionData")[0].decodedText)
            let root = try MarkupReader.read(Array("<r>\(data)</r>".utf8))
            #expect(root.elements("pssh", in: "urn:mpeg:cenc:2013").map(\.text) == [text])
            #expect(root.elements("pro", in: "urn:microsoft:playready").map(\.text) == [Base64.encode(object)])
            let line = try #require(system.all("HLSSignalingData")[0].decodedText.flatMap(HLSLine.init))
            #expect(line.attributes["URI"] == "data:text/plain;charset=UTF-16;base64,\(Base64.encode(object))")
            #expect(line.attributes["KEYFORMAT"] == "com.microsoft.playready")
        }
    }

    /// One key is signalled for all three systems. FairPlay has only HLS lines.
    @Test func givesFairPlayItsLinesBesideTheOthers() {
        #expect(systems(Documents.fairPlay).map { $0.all("HLSSignalingData").count } == [2, 2])
        #expect(systems(Documents.fairPlay).allSatisfy { $0.all("PSSH").isEmpty })
    }

    @Test(
        arguments: [
            (CommonEncryptionScheme.cenc, "", "AESCTR", "SAMPLE-AES-CTR"),
            (.cens, "48f3dc959b06", "AESCTR", "SAMPLE-AES-CTR"),
            (.cbc1, "48b1c6899b06", "AESCBC", "SAMPLE-AES"), (.cbcs, "48f3c6899b06", "AESCBC", "SAMPLE-AES"),
            (.sampleAES, "48f3c6899b06", "AESCBC", "SAMPLE-AES"),
            (.sampleAESCounter, "48e3dc959b06", "AESCTR", "SAMPLE-AES-CTR"),
        ])
    func namesTheScheme(scheme: CommonEncryptionScheme, field: String, algorithm: String, method: String) throws {
        let keyID = try KeyID(parsing: Documents.videoKeyID)
        #expect(WidevineHeader.bytes(keyID, scheme).dropFirst(18) == hex(field)[...])
        #expect(PlayReadyHeader.header(keyID, scheme).contains("ALGID=\"\(algorithm)\""))
        #expect(SystemSignalling.widevine(keyID, scheme).keyLine.method == method)
        #expect(SystemSignalling.playReady(keyID, scheme).keyLine.method == method)
    }

    @Test func fillsWhatVersion1AsksForPlayReady() throws {
        let document = try Documents.text("v1_vod_fairplay").replacing(Documents.fairPlay, with: Documents.playReady)
            .replacing(
                "<cpix:URIExtXKey/>",
                with: "<cpix:PSSH/><cpix:ContentProtectionData/><speke:ProtectionHeader/><cpix:URIExtXKey/>")
        let answer = try Documents.answer(document, .v1)
        let (_, object) = try Self.opened(answer.all("PSSH")[0].text)
        #expect(answer.all("ProtectionHeader").map(\.text) == [Base64.encode(object)])
        #expect(answer.all("ContentProtectionData")[0].decodedText?.hasPrefix("<cenc:pssh") == true)
        // SPEKE v1 does not name a scheme. Without FairPlay the scheme is `cenc`.
        #expect(answer.all("KeyFormat")[0].decodedText == "com.microsoft.playready")
        #expect(answer.all("ContentKey").map { $0.attribute("explicitIV") } == [nil])
    }

    @Test func fillsTheHeaderOfSmoothStreaming() throws {
        let document = Contract.of(["VIDEO"], [Documents.playReady, Documents.widevine], scheme: "cenc").document
            .replacing("</cpix:DRMSystem>", with: "<cpix:SmoothStreamingProtectionHeaderData/></cpix:DRMSystem>")
        let answer = try Documents.answer(document)
        let (_, object) = try Self.opened(answer.all("PSSH")[0].text)
        #expect(answer.all("SmoothStreamingProtectionHeaderData").map(\.text) == [Base64.encode(object)])
    }
}
