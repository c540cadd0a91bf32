import ByteCoding
import ContentKeys
import KeyCrypto
import TestSupport

@testable import PackagerAPI

/// CPIX documents of packagers, from their bytes to the answer. The input is one byte of plan, then the document.
///
///     offset  size  field
///          0     1  the version of SPEKE, as an index into `SPEKEVersion.allCases`
///
/// A document has one meaning or one error. An accepted document is within the limits. Its answer is well-formed, keeps
/// each element and attribute of the usage rules and periods, and has each key once, in its element. Without
/// recipients, the answer has the same bytes each time. An answer is not accepted as a request, because it has keys.
struct CPIXTarget: FuzzTarget {
    private static let key: [UInt8] = Array("sixteen byte key".utf8)

    /// Makes OpenSSL's random generators before the first input. Encryption uses them, and libFuzzer would report them
    /// as a leak of that input.
    init() throws {
        _ = try RandomBytes.generate(count: 1)
        _ = try SecretBytes.random(count: 1)
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        guard let plan = input.first else { return .refused }
        let version = SPEKEVersion.allCases[Int(plan) % SPEKEVersion.allCases.count]
        let body = Array(input.dropFirst())
        let outcome = Self.read(body, version)
        let again = Self.read(body, version)
        switch (outcome, again) {
        case (.failure(let error), .failure(let other)):
            try require(error == other, "a document has one error")
            try require(error.status == 422, "reading finds only faults of the packager: \(error)")
            try require(error.text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "an error is one line of ASCII")
            return .refused
        case (.success(let request), .success(let other)):
            try require(request.keys == other.keys && request.document == other.document, "a document has one meaning")
            try check(request, body)
            return .accepted
        case (.success, .failure), (.failure, .success):
            throw PropertyViolation(description: "a document is read or refused")
        }
    }

    private static func read(_ body: [UInt8], _ version: SPEKEVersion) -> Result<CPIXRequest, CPIXError> {
        do throws(CPIXError) {
            return .success(try CPIXRequest(parsing: body, version: version))
        } catch {
            return .failure(error)
        }
    }

    private func check(_ request: CPIXRequest, _ body: [UInt8]) throws {
        try require(body.count <= MarkupLimits.sizeMaximum, "an accepted document is within its size")
        let keyIDs = Set(request.keys.map(\.keyID))
        try require((1...CPIXRequest.keyCountMaximum).contains(keyIDs.count), "there are 1 to 64 keys")
        try require(keyIDs.count == request.keys.count, "no key is requested twice")
        try require(!request.systems.isEmpty, "signalling is requested")
        let keys = try request.keys.map { requested in
            try PackagedKey(
                keyID: requested.keyID, key: ContentKey(SecretBytes(copying: Self.key)),
                iv: requested.explicitIV ?? Bytes16(high: 1, low: 2))
        }
        let answer = try CPIXAnswer(to: request, keys: keys, urls: .standard)
        let root: MarkupElement
        do throws(MarkupError) {
            root = try MarkupReader.read(answer.bytes)
        } catch .tooLarge, .tooManyElements, .tooManyAttributes {
            // With the inserted data, the answer may exceed the limits of a request.
            return
        } catch {
            throw PropertyViolation(description: "an answer is well-formed: \(error)")
        }
        try checkEcho(request.document, root)
        try checkKeys(request, root)
        if request.recipients.isEmpty {
            let remembered = ReadDocument(request)
            for _ in 0..<2 {
                let second = try remembered.answer(keys: keys, urls: .standard)
                try require(second.bytes == answer.bytes, "an answer is the same each time")
            }
        }
        let refusal = Self.read(answer.bytes, request.version)
        guard case .failure(.keyInRequest) = refusal else {
            throw PropertyViolation(description: "an answer is refused as a request: \(refusal)")
        }
    }

    private func checkEcho(_ request: MarkupElement, _ answer: MarkupElement) throws {
        for name in ["ContentKeyUsageRuleList", "ContentKeyPeriodList"] {
            let before = request.elements(name, in: CPIXNamespace.cpix)
            let after = answer.elements(name, in: CPIXNamespace.cpix)
            try require(before == after, "\(name) is unchanged")
        }
        for attribute in request.attributes where attribute.name != "id" {
            try require(answer.attribute(attribute.name) == attribute.value, "the root keeps its attributes")
        }
    }

    private func checkKeys(_ request: CPIXRequest, _ answer: MarkupElement) throws {
        let elements = answer.elements("ContentKeyList", in: CPIXNamespace.cpix)
            .flatMap { $0.elements("ContentKey", in: CPIXNamespace.cpix) }
        try require(elements.count == request.keys.count, "each key has its element")
        for (element, key) in zip(elements, request.keys) {
            try require(element.attribute("kid") == key.writtenKeyID, "a key id is returned as it was written")
            let secrets = element.elements("Data", in: CPIXNamespace.cpix)
                .flatMap { $0.elements("Secret", in: CPIXNamespace.pskc) }
            try require(secrets.count == 1, "a key occurs once")
            let plain = secrets[0].elements("PlainValue", in: CPIXNamespace.pskc)
            let encrypted = secrets[0].elements("EncryptedValue", in: CPIXNamespace.pskc)
            if request.recipients.isEmpty {
                try require(plain.map(\.text) == [Base64.encode(Self.key)], "a key is in the clear")
            } else {
                try require(plain.isEmpty && encrypted.count == 1, "a key is encrypted if there are recipients")
            }
        }
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        try SeedDocuments.all().map { version, document in
            [UInt8(SPEKEVersion.allCases.firstIndex(of: version) ?? 0)] + Array(document.utf8)
        }
    }

    /// Most changes are of the tree, so that the code after the parser is reached.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard var plan = input.first else { return ByteMutation.mutate(input, using: &generator) }
        let body = Array(input.dropFirst())
        if Int.random(in: 0..<32, using: &generator) == 0 { plan = UInt8.random(in: 0..<3, using: &generator) }
        guard Int.random(in: 0..<8, using: &generator) > 0, var root = try? MarkupReader.read(body) else {
            return [plan] + ByteMutation.mutate(body, using: &generator)
        }
        MarkupMutation.change(&root, using: &generator)
        return [plan] + MarkupWriter(root).bytes
    }
}

/// Accepted requests of each version and form.
private enum SeedDocuments {
    private static let head = """
        xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
        xmlns:speke="urn:aws:amazon:com:speke"
        """
    private static let systems = [DRMSystem.fairPlay, .widevine, .playReady].map(\.identifier.description)

    static func all() throws -> [(SPEKEVersion, String)] {
        let plain = second(version: "2.3", scheme: "cbcs", playlist: "master", trackTypes: ["VIDEO", "AUDIO"])
        let live = second(version: "2.4", scheme: "SAMPLE-AES", playlist: "multiVariant", trackTypes: ["HD", "AUDIO"])
        return [
            (.v1, first), (.v20, plain), (.v21, live),
            (
                .v20,
                plain.replacing("cpix:", with: "k:").replacing("xmlns:cpix", with: "xmlns:k")
                    .replacing(" xmlns:pskc=\"urn:ietf:params:xml:ns:keyprov:pskc\"", with: "")
            ),
            (.v20, plain.replacing("<cpix:ContentKeyList>", with: try recipient() + "<cpix:ContentKeyList>")),
        ]
    }

    private static let first = """
        <cpix:CPIX id="channel-9" \(head)><cpix:ContentKeyList><cpix:ContentKey kid="\(keyID(0))" \
        explicitIV="Dx4tPEtaaXiHlqW0w9Lh8A=="/></cpix:ContentKeyList><cpix:DRMSystemList>\
        <cpix:DRMSystem kid="\(keyID(0))" systemId="\(systems[0])"><cpix:URIExtXKey/><speke:KeyFormat/>\
        <speke:KeyFormatVersions/><cpix:PSSH/></cpix:DRMSystem></cpix:DRMSystemList><cpix:ContentKeyPeriodList>\
        <cpix:ContentKeyPeriod id="kp-7" index="7"/></cpix:ContentKeyPeriodList><cpix:ContentKeyUsageRuleList>\
        <cpix:ContentKeyUsageRule kid="\(keyID(0))"><cpix:KeyPeriodFilter periodId="kp-7"/>\
        </cpix:ContentKeyUsageRule></cpix:ContentKeyUsageRuleList></cpix:CPIX>
        """

    private static func second(version: String, scheme: String, playlist: String, trackTypes: [String]) -> String {
        let keys = trackTypes.indices.map {
            "<cpix:ContentKey kid=\"\(keyID($0))\" commonEncryptionScheme=\"\(scheme)\"/>"
        }
        let entries = trackTypes.indices.flatMap { index in
            systems.map { system in
                "<cpix:DRMSystem kid=\"\(keyID(index))\" systemId=\"\(system)\"><cpix:PSSH/>"
                    + "<cpix:ContentProtectionData/>"
                    + "<cpix:HLSSignalingData playlist=\"media\"/><cpix:HLSSignalingData playlist=\"\(playlist)\"/>"
                    + "</cpix:DRMSystem>"
            }
        }
        let rules = trackTypes.enumerated().map { index, trackType in
            let filter = trackType == "AUDIO" ? "AudioFilter minChannels=\"2\"" : "VideoFilter maxPixels=\"2073600\""
            return "<cpix:ContentKeyUsageRule kid=\"\(keyID(index))\" intendedTrackType=\"\(trackType)\">"
                + "<cpix:KeyPeriodFilter periodId=\"p\"/><cpix:\(filter)/></cpix:ContentKeyUsageRule>"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <cpix:CPIX contentId="movie-001" id="x" version="\(version)" \(head)>
            <cpix:ContentKeyList>\(keys.joined())</cpix:ContentKeyList>
            <cpix:DRMSystemList>\(entries.joined())</cpix:DRMSystemList>
            <cpix:ContentKeyPeriodList><cpix:ContentKeyPeriod id="p" index="42" start="2026-11-20T22:00:00Z" \
            end="2026-11-20T23:00:00Z"/></cpix:ContentKeyPeriodList>
            <cpix:ContentKeyUsageRuleList>\(rules.joined())</cpix:ContentKeyUsageRuleList>
            </cpix:CPIX>
            """
    }

    private static func recipient() throws -> String {
        let key = try RSAPrivateKey.generate(bits: 2048)
        let certificate = try CertificateSamples.make(for: key)
        return "<cpix:DeliveryDataList><cpix:DeliveryData><cpix:DeliveryKey><ds:X509Data "
            + "xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\"><ds:X509Certificate>\(Base64.encode(certificate.der))"
            + "</ds:X509Certificate></ds:X509Data></cpix:DeliveryKey></cpix:DeliveryData></cpix:DeliveryDataList>"
    }

    private static func keyID(_ index: Int) -> String { "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e1\(index)" }
}

/// Changes of a tree that keep it well-formed.
private enum MarkupMutation {
    private static let names = [
        "PSSH", "ContentProtectionData", "HLSSignalingData", "VideoFilter", "AudioFilter", "KeyPeriodFilter", "Data",
        "DRMSystem", "ContentKey", "ContentKeyUsageRule", "ContentKeyPeriod", "DeliveryData", "Unknown",
    ]
    private static let attributeNames = [
        "kid", "systemId", "commonEncryptionScheme", "explicitIV", "intendedTrackType", "playlist", "periodId", "id",
        "index", "start", "end", "minPixels", "maxPixels", "minChannels", "hdr", "unknown", "contentId", "version",
    ]
    private static let values = [
        "", "0", "1", "-1", "4294967295", "4294967296", "ALL", "VIDEO", "AUDIO", "SD+HD1", "media", "master",
        "multiVariant", "cbcs", "cenc", "cbc1", "2.3", "2.4", "p", "Dx4tPEtaaXiHlqW0w9Lh8A==", "a&b<c>\"d'\n\t\u{E9}",
        "2026-11-20T22:00:00Z", "movie-001",
    ]

    /// Makes one change, in the element itself or in one of its descendants.
    static func change(_ element: inout MarkupElement, using generator: inout SeededGenerator) {
        let places = element.children.indices.filter { index in
            if case .element = element.children[index] { true } else { false }
        }
        if let place = places.randomElement(using: &generator), Int.random(in: 0..<4, using: &generator) > 0,
            case .element(var child) = element.children[place]
        {
            change(&child, using: &generator)
            element.children[place] = .element(child)
            return
        }
        switch Int.random(in: 0..<7, using: &generator) {
        case 0:
            let name = element.attributes.randomElement(using: &generator)?.name ?? "id"
            element.setAttribute(name, to: nil)
        case 1:
            let name = element.attributes.randomElement(using: &generator)?.name ?? "id"
            element.setAttribute(name, to: values.randomElement(using: &generator))
        case 2:
            guard let name = attributeNames.randomElement(using: &generator) else { return }
            element.setAttribute(name, to: values.randomElement(using: &generator))
        case 3:
            if let place = places.randomElement(using: &generator) { element.children.remove(at: place) }
        case 4:
            if let place = places.randomElement(using: &generator) {
                element.children.insert(element.children[place], at: place)
            }
        case 5:
            guard let name = names.randomElement(using: &generator) else { return }
            element.children.append(
                .element(MarkupElement(prefix: element.prefix, localName: name, namespace: element.namespace)))
        default:
            element.children.append(.text(values.randomElement(using: &generator) ?? ""))
        }
    }
}
