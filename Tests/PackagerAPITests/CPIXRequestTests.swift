import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto
import Testing

@testable import PackagerAPI

/// Which requests are read and which are refused (packagers, sections 1.3 and 1.4). Each invalid document differs from
/// a valid one in a single point.
@Suite struct CPIXRequestTests {
    private static let name = "v2_vod_fairplay_video_audio"
    private let second: String
    private let first: String
    private let live: String

    init() throws {
        second = try Documents.text(Self.name)
        first = try Documents.text("v1_live_fairplay_period7_iv")
        live = try Documents.text("v21_live_fairplay_start_end_multivariant")
    }

    /// Returns the error after a change to a document. The change must have an effect.
    private func refusal(
        of document: String, _ version: SPEKEVersion = .v20, replacing old: String, with new: String,
        location: SourceLocation = #_sourceLocation
    ) -> CPIXError? {
        #expect(document.contains(old), "the change applies", sourceLocation: location)
        return Documents.refusal(document.replacing(old, with: new), version)
    }

    // MARK: - The floor of a key

    /// The first key with a demand for outputs, and its FairPlay system with demands for devices.
    private func demanding(_ output: String = "", system: String = "", content: String = "") -> String {
        let key = "<cpix:ContentKey kid=\"7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11\" commonEncryptionScheme=\"cbcs\""
        let drm = "<cpix:DRMSystem kid=\"7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11\""
        return live.replacing(key + "/>", with: key + ">\(output)</cpix:ContentKey>")
            .replacing(drm, with: drm + " \(system)")
            .replacing(
                "<cpix:HLSSignalingData playlist=\"media\"/>",
                with: content + "<cpix:HLSSignalingData playlist=\"media\"/>")
    }

    @Test(arguments: zip(["NONE", "TYPE-0", "TYPE-1"], ContentKeyAttributes.HDCP.allCases))
    func readsTheLeastOutputProtection(word: String, level: ContentKeyAttributes.HDCP) throws {
        let document = demanding("<cpix:HDCPData HLSHDCPLevel=\"\(word)\"/>")
        let request = try CPIXRequest(parsing: Array(document.utf8), version: .v21)
        #expect(request.keys.map(\.floor.leastHDCP) == [level, nil])
        #expect(KeyOrder(request).keys.map(\.leastHDCP) == [level, nil])
    }

    @Test(arguments: [
        "<cpix:HDCPOutputProtectionData/>", "", "<cpix:HDCPOutputProtectionData> </cpix:HDCPOutputProtectionData>",
    ])
    func anEmptyElementDemandsNothing(element: String) throws {
        let document = demanding("<cpix:HDCPData>\(element)</cpix:HDCPData>")
        let request = try CPIXRequest(parsing: Array(document.utf8), version: .v21)
        #expect(request.keys.map(\.floor) == [KeyFloor(), KeyFloor()])
    }

    @Test(
        arguments: [
            ("HLSAllowedCPC=\"com.apple.streamingkeydelivery:AppleMain/Main\"", .main),
            ("HLSAllowedCPC=\"com.apple.streamingkeydelivery:AppleMain/Baseline\"", .baseline),
            ("HLSAllowedCPC=\"\" robustness=\"\"", nil), ("HLSAllowedCPC=\"\" robustness=\"Main\"", .main),
            ("HLSAllowedCPC=\"Main\"", .main), ("robustness=\"AppleBaseline\"", .baseline),
            ("robustness=\"Main\" HLSAllowedCPC=\"Baseline\"", .main),
        ] as [(String, ContentKeyAttributes.SecurityLevel?)])
    func readsTheLeastSecurityLevel(attributes: String, level: ContentKeyAttributes.SecurityLevel?) throws {
        let request = try CPIXRequest(parsing: Array(demanding(system: attributes).utf8), version: .v21)
        #expect(request.keys.map(\.floor.leastSecurityLevel) == [level, nil])
        #expect(KeyOrder(request).keys.map(\.leastSecurityLevel) == [level, nil])
    }

    @Test func readsTheRobustnessOfTheContentProtection() throws {
        let document = demanding(content: "<cpix:ContentProtectionData robustness=\"AppleMain\"/>")
        let request = try CPIXRequest(parsing: Array(document.utf8), version: .v21)
        #expect(request.keys.map(\.floor.leastSecurityLevel) == [.main, .main])
    }

    /// The demands for other systems are in the words of those systems, and are no demand for FairPlay devices.
    @Test func passesOverTheDemandsForOtherSystems() throws {
        let widevine = demanding(system: "robustness=\"HW_SECURE_ALL\"").replacing(
            "robustness=\"HW_SECURE_ALL\" systemId=\"94ce86fb-07ff-4f43-adb8-93d2fa968ca2\"",
            with: "robustness=\"HW_SECURE_ALL\" systemId=\"edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"")
        let request = try CPIXRequest(parsing: Array(widevine.utf8), version: .v21)
        #expect(request.keys.map(\.floor) == [KeyFloor(), KeyFloor()])
    }

    /// A demand that cannot be read is refused, because the key would have no floor.
    @Test(arguments: ["type-1", "TYPE-2", "", "2.2"])
    func refusesUnknownOutputProtection(word: String) {
        let document = demanding("<cpix:HDCPData HLSHDCPLevel=\"\(word)\"/>")
        #expect(
            Documents.refusal(document, .v21) == .invalidAttribute(element: "HDCPData", attribute: "HLSHDCPLevel"))
    }

    @Test func refusesDemandsThatCannotBeRead() {
        let twice = demanding("<cpix:HDCPData HLSHDCPLevel=\"NONE\"/><cpix:HDCPData HLSHDCPLevel=\"TYPE-1\"/>")
        #expect(Documents.refusal(twice, .v21) == .repeatedElement("HDCPData"))
        let data = "<cpix:HDCPOutputProtectionData>PGE+</cpix:HDCPOutputProtectionData>"
        let dash = demanding("<cpix:HDCPData>\(data)</cpix:HDCPData>")
        #expect(Documents.refusal(dash, .v21) == .missingAttribute(element: "HDCPData", attribute: "HLSHDCPLevel"))
        for (name, value) in [("HLSAllowedCPC", "HW_SECURE_ALL"), ("robustness", "3000"), ("robustness", "main")] {
            #expect(
                Documents.refusal(demanding(system: "\(name)=\"\(value)\""), .v21)
                    == .invalidAttribute(element: "DRMSystem", attribute: name))
        }
    }

    /// The answer repeats the demands, with the key after them, as the schema orders them.
    @Test func repeatsTheDemandsInTheAnswer() throws {
        let document = demanding("<cpix:HDCPData HLSHDCPLevel=\"TYPE-1\"/>", system: "HLSAllowedCPC=\"Main\"")
        let request = try CPIXRequest(parsing: Array(document.utf8), version: .v21)
        let keys = try request.keys.map { key in
            try PackagedKey(
                keyID: key.keyID, key: ContentKey(SecretBytes(copying: [UInt8](repeating: 1, count: 16))), iv: .zero)
        }
        let answer = String(decoding: try CPIXAnswer(to: request, keys: keys, urls: .standard).bytes, as: UTF8.self)
        let demand = try #require(answer.firstRange(of: "<cpix:HDCPData HLSHDCPLevel=\"TYPE-1\"/>"))
        let key = try #require(answer.firstRange(of: "<cpix:Data>"))
        #expect(demand.upperBound <= key.lowerBound && answer.contains("HLSAllowedCPC=\"Main\""))
    }

    // MARK: - The root

    @Test(arguments: ["", "   ", "not XML", "<a/>", "<CPIX contentId=\"a\" version=\"2.3\"/>"])
    func refusesWhatIsNotCPIX(text: String) {
        #expect(Documents.refusal(text)?.status == 422)
    }

    @Test func knowsTheRootByItsNamespace() {
        #expect(refusal(of: second, replacing: "urn:dashif:org:cpix", with: "urn:dashif:org:other") == .notCPIX)
    }

    @Test func needsAContentID() {
        #expect(refusal(of: second, replacing: "contentId=\"movie-001\"", with: "contentId=\"\"") == .missingContentID)
        #expect(
            refusal(of: second, replacing: "contentId=\"movie-001\"", with: "id=\"movie-001\"") == .missingContentID)
        #expect(refusal(of: second, replacing: "movie-001", with: "movie 001") == .invalidContentID)
        let long = String(repeating: "a", count: 201)
        #expect(refusal(of: second, replacing: "movie-001", with: long) == .invalidContentID)
        #expect(refusal(of: second, replacing: "movie-001", with: String(long.dropFirst())) == nil)
        #expect(
            refusal(of: first, .v1, replacing: "id=\"channel-9\"", with: "")
                == .missingAttribute(element: "CPIX", attribute: "id"))
    }

    @Test func needsTheVersionThatGoesWithTheHeader() {
        #expect(refusal(of: second, replacing: " version=\"2.3\"", with: "") == .missingVersion)
        #expect(refusal(of: second, replacing: "version=\"2.3\"", with: "version=\"\"") == .missingVersion)
        #expect(CPIXError.missingVersion.text == "Missing CPIX@version")
        for version in ["2.2", "2.4", "4.0", "2.30", " 2.3"] {
            let change = "contentId=\"movie-001\" version=\"\(version)\""
            #expect(
                refusal(of: second, replacing: "contentId=\"movie-001\" version=\"2.3\"", with: change)
                    == .unsupportedVersion)
        }
        #expect(Documents.refusal(second, .v21) == .unsupportedVersion)
        #expect(Documents.refusal(live, .v20) == .unsupportedVersion)
    }

    /// An encryptor must not fall back to version 1 (packagers, section 1.2).
    @Test func doesNotAnswerVersion2AsVersion1() {
        for version in ["2.3", "2.4"] {
            let change = "<cpix:CPIX version=\"\(version)\" id=\"channel-9\""
            #expect(
                refusal(of: first, .v1, replacing: "<cpix:CPIX id=\"channel-9\"", with: change)
                    == .unsupportedSPEKEVersion)
        }
        #expect(Documents.refusal(first, .v20) == .missingContentID)
    }

    // MARK: - Lists

    @Test(arguments: ["ContentKeyList", "DRMSystemList", "ContentKeyUsageRuleList"])
    func needsEachListOnce(list: String) throws {
        let renamed = refusal(of: second, replacing: "cpix:\(list)>", with: "cpix:Other>")
        let isContract = list == "ContentKeyUsageRuleList"
        #expect(renamed == (isContract ? .missingContract : .missingElement(list)))
        let twice = refusal(
            of: second, replacing: "<cpix:\(list)>", with: "<cpix:\(list)></cpix:\(list)><cpix:\(list)>")
        #expect(twice == .repeatedElement(list))
    }

    @Test(arguments: ["ContentKey", "DRMSystem", "ContentKeyUsageRule"])
    func needsWhatIsInEachList(element: String) {
        let document = second.replacing("<cpix:\(element) ", with: "<cpix:Other ")
            .replacing("</cpix:\(element)>", with: "</cpix:Other>")
        let isContract = element == "ContentKeyUsageRule"
        #expect(Documents.refusal(document) == (isContract ? .missingContract : .missingElement(element)))
    }

    // MARK: - Keys

    @Test func needsAKeyIDOnEachKey() {
        let key = "<cpix:ContentKey kid=\"\(Documents.videoKeyID)\""
        let missing = CPIXError.missingAttribute(element: "ContentKey", attribute: "kid")
        #expect(refusal(of: second, replacing: key, with: "<cpix:ContentKey") == missing)
        #expect(refusal(of: second, replacing: key, with: "<cpix:ContentKey kid=\"\"") == missing)
        let invalid = CPIXError.invalidAttribute(element: "ContentKey", attribute: "kid")
        for text in [
            "1", "7b1d0c9e52a44e0b9c610a5f3b8d2e11", Documents.videoKeyID + "0", "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e1g",
        ] {
            #expect(refusal(of: second, replacing: key, with: "<cpix:ContentKey kid=\"\(text)\"") == invalid)
        }
    }

    @Test func refusesAKeyIDTwice() {
        let key = "<cpix:ContentKey kid=\"\(Documents.audioKeyID)\""
        for text in [Documents.videoKeyID, Documents.videoKeyID.uppercased()] {
            let change = "<cpix:ContentKey kid=\"\(text)\""
            #expect(refusal(of: second, replacing: key, with: change) == .repeatedElement("ContentKey"))
        }
    }

    @Test func readsKeyIDsInEitherCase() throws {
        let upper = second.replacing(Documents.videoKeyID, with: Documents.videoKeyID.uppercased())
        let request = try CPIXRequest(parsing: Array(upper.utf8), version: .v20)
        #expect(request.keys.map(\.keyID.description) == [Documents.videoKeyID, Documents.audioKeyID])
        let mixed = second.replacing(
            "<cpix:ContentKey kid=\"\(Documents.videoKeyID)",
            with: "<cpix:ContentKey kid=\"\(Documents.videoKeyID.uppercased())")
        #expect(Documents.refusal(mixed) == nil)
    }

    @Test func needsASchemeOnEachKeyOfVersion2() {
        let key = "kid=\"\(Documents.audioKeyID)\" commonEncryptionScheme=\"cbcs\""
        for change in [
            "kid=\"\(Documents.audioKeyID)\"", "kid=\"\(Documents.audioKeyID)\" commonEncryptionScheme=\"\"",
        ] {
            let error = refusal(of: second, replacing: key, with: change)
            #expect(error == .missingScheme(keyID: Documents.audioKeyID))
            #expect(error?.text == "Missing ContentKey@commonEncryptionScheme for KID \(Documents.audioKeyID)")
        }
    }

    @Test(arguments: ["CBCS", "cbc", "aes", "AES-128", "NONE"])
    func refusesUnknownSchemes(scheme: String) {
        let change = "commonEncryptionScheme=\"\(scheme)\""
        #expect(
            refusal(of: second, replacing: "commonEncryptionScheme=\"cbcs\"", with: change)
                == .unsupportedScheme(keyID: Documents.videoKeyID))
    }

    @Test(arguments: CommonEncryptionScheme.allCases)
    func letsFairPlayHaveItsSchemesOnly(scheme: CommonEncryptionScheme) {
        let change = "commonEncryptionScheme=\"\(scheme.rawValue)\""
        let error = refusal(of: live, .v21, replacing: "commonEncryptionScheme=\"cbcs\"", with: change)
        #expect(error == (scheme.isForFairPlay ? nil : .incompatibleScheme(systemID: Documents.fairPlay)))
        // Version 2.0 allows the four schemes of common encryption, and systems other than FairPlay accept all of them.
        let widevine = second.replacing("commonEncryptionScheme=\"cbcs\"", with: change)
            .replacing(Documents.fairPlay, with: Documents.widevine)
        let isKnown = ["cenc", "cens", "cbc1", "cbcs"].contains(scheme.rawValue)
        #expect(Documents.refusal(widevine) == (isKnown ? nil : .unsupportedScheme(keyID: Documents.videoKeyID)))
    }

    @Test func echoesTheSystemOfAWrongSchemeAsItWasWritten() {
        let upper = Documents.fairPlay.uppercased()
        let document = second.replacing(Documents.fairPlay, with: upper).replacing("\"cbcs\"", with: "\"cenc\"")
        #expect(
            Documents.refusal(document)?.text
                == "ContentKey@commonEncryptionScheme non compatible with DRMSystem \(upper)")
    }

    @Test func readsAnExplicitIVOf16Bytes() {
        let old = "explicitIV=\"Dx4tPEtaaXiHlqW0w9Lh8A==\""
        let invalid = CPIXError.invalidAttribute(element: "ContentKey", attribute: "explicitIV")
        for text in [
            "AAAA", "Dx4tPEtaaXiHlqW0w9Lh8A", "Dx4tPEtaaXiHlqW0w9Lh8AA=", "!", "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ] {
            #expect(refusal(of: first, .v1, replacing: old, with: "explicitIV=\"\(text)\"") == invalid)
        }
        #expect(refusal(of: first, .v1, replacing: old, with: "") == nil)
    }

    @Test func refusesADocumentThatCarriesAKey() {
        let key = "commonEncryptionScheme=\"cbcs\"/>"
        func with(_ value: String) -> String {
            "commonEncryptionScheme=\"cbcs\"><cpix:Data><pskc:Secret><pskc:PlainValue>\(value)</pskc:PlainValue>"
                + "</pskc:Secret></cpix:Data></cpix:ContentKey>"
        }
        #expect(refusal(of: second, replacing: key, with: with("AAAAAAAAAAAAAAAAAAAAAA==")) == .keyInRequest)
        #expect(refusal(of: second, replacing: key, with: with(" \n")) == nil)
    }

    @Test func boundsTheNumberOfKeys() {
        func document(_ count: Int) -> String {
            let rules = (0..<count).map { Contract.Rule(trackType: "T\($0)", filters: "<cpix:VideoFilter/>") }
            return Contract(name: "\(count) keys", rules: rules, systems: [Documents.fairPlay], scheme: "cbcs").document
        }
        #expect(Documents.refusal(document(64)) == nil)
        #expect(Documents.refusal(document(65)) == .tooMany("ContentKey"))
    }

    @Test func hasOneKeyInVersion1() {
        let key = "<cpix:ContentKey kid=\"\(Documents.videoKeyID)\""
        let change = "<cpix:ContentKey kid=\"\(Documents.audioKeyID)\"/>" + key
        #expect(refusal(of: first, .v1, replacing: key, with: change) == .tooMany("ContentKey"))
    }

    // MARK: - Systems

    @Test func needsAKeyIDAndASystemOnEachDRMSystem() {
        let head = "<cpix:DRMSystem kid=\"\(Documents.videoKeyID)\" systemId=\"\(Documents.fairPlay)\""
        #expect(
            refusal(of: second, replacing: head, with: "<cpix:DRMSystem systemId=\"\(Documents.fairPlay)\"")
                == .missingAttribute(element: "DRMSystem", attribute: "kid"))
        #expect(
            refusal(of: second, replacing: head, with: "<cpix:DRMSystem kid=\"\(Documents.videoKeyID)\"")
                == .missingAttribute(element: "DRMSystem", attribute: "systemId"))
        #expect(
            refusal(of: second, replacing: Documents.fairPlay, with: "fairplay")
                == .invalidAttribute(element: "DRMSystem", attribute: "systemId"))
        let other = "1077efec-c0b2-4d02-ace3-3c1e52e2fb4b"
        #expect(refusal(of: second, replacing: Documents.fairPlay, with: other) == .unsupportedSystem(systemID: other))
        let unknown = "00000000-52a4-4e0b-9c61-0a5f3b8d2e11"
        let change = "<cpix:DRMSystem kid=\"\(unknown)\" systemId=\"\(Documents.fairPlay)\""
        #expect(refusal(of: second, replacing: head, with: change) == .unknownKeyID(element: "DRMSystem"))
        let twice = "<cpix:DRMSystem kid=\"\(Documents.audioKeyID)\" systemId=\"\(Documents.fairPlay)\""
        #expect(refusal(of: second, replacing: head, with: twice) == .repeatedElement("DRMSystem"))
    }

    @Test func boundsTheNumberOfSystems() {
        let entry = "<cpix:DRMSystem kid=\"\(Documents.videoKeyID)\" systemId=\"\(Documents.fairPlay)\"/>"
        let change = String(repeating: entry, count: 255) + "<cpix:DRMSystemList>"
        let document = second.replacing("<cpix:DRMSystemList>", with: "<cpix:DRMSystemList>" + change.dropLast(20))
        #expect(Documents.refusal(document) == .tooMany("DRMSystem"))
    }

    @Test func readsBothNamesOfTheMultivariantPlaylist() {
        #expect(refusal(of: second, replacing: "\"master\"", with: "\"multiVariant\"") == nil)
        #expect(refusal(of: live, .v21, replacing: "\"multiVariant\"", with: "\"master\"") == nil)
        #expect(
            refusal(of: second, replacing: "\"master\"", with: "\"main\"")
                == .invalidAttribute(element: "HLSSignalingData", attribute: "playlist"))
        #expect(
            refusal(of: second, replacing: " playlist=\"master\"", with: "")
                == .missingAttribute(element: "HLSSignalingData", attribute: "playlist"))
        #expect(refusal(of: second, replacing: "\"master\"", with: "\"media\"") == .repeatedElement("HLSSignalingData"))
    }

    // MARK: - Periods

    @Test func needsIdentifierAndIndexOfAPeriod() {
        for (attribute, text) in [("id", "id=\"kp-7\""), ("index", "index=\"7\"")] {
            #expect(
                refusal(
                    of: first, .v1, replacing: "<cpix:ContentKeyPeriod id=\"kp-7\" index=\"7\"/>",
                    with: "<cpix:ContentKeyPeriod \(text)/>")
                    == .missingAttribute(element: "ContentKeyPeriod", attribute: attribute == "id" ? "index" : "id"))
        }
        let invalid = CPIXError.invalidAttribute(element: "ContentKeyPeriod", attribute: "index")
        for index in ["-1", "4294967296", "+7", "7.0", "x", String(repeating: "1", count: 40)] {
            #expect(refusal(of: first, .v1, replacing: "index=\"7\"", with: "index=\"\(index)\"") == invalid)
        }
        #expect(refusal(of: first, .v1, replacing: "index=\"7\"", with: "index=\"4294967295\"") == nil)
        #expect(refusal(of: first, .v1, replacing: "periodId=\"kp-7\"", with: "periodId=\"kp-8\"") == .unknownPeriod)
        #expect(
            refusal(of: first, .v1, replacing: " periodId=\"kp-7\"", with: "")
                == .missingAttribute(element: "KeyPeriodFilter", attribute: "periodId"))
        let period = "<cpix:ContentKeyPeriod id=\"kp-7\" index=\"7\"/>"
        #expect(
            refusal(of: first, .v1, replacing: period, with: period + period) == .repeatedElement("ContentKeyPeriod"))
    }

    @Test func readsTheTimesOfAPeriod() {
        for (old, new) in [("start=\"2026-11-20T22:00:00Z\"", "start"), ("end=\"2026-11-20T23:00:00Z\"", "end")] {
            #expect(
                refusal(of: live, .v21, replacing: old, with: "\(new)=\"yesterday\"")
                    == .invalidAttribute(element: "ContentKeyPeriod", attribute: new))
        }
        #expect(
            refusal(of: live, .v21, replacing: "2026-11-20T23", with: "2026-11-20T22")
                == .invalidAttribute(element: "ContentKeyPeriod", attribute: "end"))
        let offsets = "startOffset=\"PT0S\" endOffset=\"PT1H\""
        let times = "start=\"2026-11-20T22:00:00Z\" end=\"2026-11-20T23:00:00Z\""
        #expect(refusal(of: live, .v21, replacing: times, with: offsets) == nil)
    }

    /// MediaPackage sends the list of periods even without rotation.
    @Test func takesAPeriodThatNoKeyHas() throws {
        let filter = "<cpix:KeyPeriodFilter periodId=\"kp-7\"/>"
        let request = try CPIXRequest(parsing: Array(first.replacing(filter, with: "").utf8), version: .v1)
        #expect(request.keys.map(\.period) == [nil])
    }

    // MARK: - Recipients

    @Test func needsACertificateOfEachRecipient() throws {
        let document = try Documents.text("v2_vod_fairplay_encrypted_delivery")
        #expect(Documents.refusal(document) == nil)
        for change in ["<ds:Other>MIID", "<ds:X509Certificate>AAAA", "<ds:X509Certificate>!MIID"] {
            let end = change.hasPrefix("<ds:Other>") ? "</ds:Other>" : "</ds:X509Certificate>"
            let broken = document.replacing("<ds:X509Certificate>MIID", with: change)
                .replacing("</ds:X509Certificate>", with: end)
            #expect(Documents.refusal(broken) == .recipientCertificate)
        }
        let list = try #require(document.range(of: "<cpix:DeliveryData id="))
        let end = try #require(document.range(of: "</cpix:DeliveryDataList>"))
        // Without this check, a packager that asks for encryption would get its keys unencrypted.
        let empty = document.replacingCharacters(in: list.lowerBound..<end.lowerBound, with: "")
        #expect(Documents.refusal(empty) == .missingElement("DeliveryData"))
        let recipient = String(document[list.lowerBound..<end.lowerBound])
        for (count, expected) in [(8, CPIXError?.none), (9, .tooMany("DeliveryData"))] {
            let change = String(repeating: recipient, count: count) + "</cpix:DeliveryDataList>"
            let many = document.replacing(recipient + "</cpix:DeliveryDataList>", with: change)
            #expect(Documents.refusal(many) == expected)
        }
    }
}
