import ByteCoding
import ContentKeys

/// Checks a document and turns it into a `CPIXRequest`.
struct CPIXRequestReader {
    let root: MarkupElement
    let version: SPEKEVersion

    func read() throws(CPIXError) -> CPIXRequest {
        guard root.isNamed("CPIX", in: CPIXNamespace.cpix) else { throw .notCPIX }
        let contentID = try readContentID()
        try checkVersion()
        let keyElements = try elements("ContentKey", of: "ContentKeyList", atMost: CPIXRequest.keyCountMaximum)
        guard version != .v1 || keyElements.count == 1 else { throw .tooMany("ContentKey") }
        let keys = try keyElements.map { (element) throws(CPIXError) in try readKey(element) }
        guard Set(keys.map(\.keyID)).count == keys.count else { throw .repeatedElement("ContentKey") }
        let keyIDs = Set(keys.map(\.keyID))
        let schemes = Set(keys.compactMap(\.scheme))
        guard schemes.count <= 1 else { throw .mixedSchemes }
        let (systems, floors) = try readSystems(keyIDs, scheme: schemes.first, hdcp: keys.map { ($0.keyID, $0.hdcp) })
        let periods = try readPeriods()
        let contract = try readContract(keyIDs, periods)
        return CPIXRequest(
            version: version, contentID: contentID,
            keys: keys.map { key in
                let rule = contract.rules[key.keyID]
                return RequestedContentKey(
                    keyID: key.keyID, writtenKeyID: key.written, scheme: key.scheme, explicitIV: key.explicitIV,
                    track: rule?.track ?? .unlabelled, period: rule?.periodID.flatMap { periods[$0] },
                    floor: floors[key.keyID] ?? KeyFloor())
            },
            recipients: try readRecipients(), systems: systems, document: root)
    }

    // MARK: - The root

    func readContentID() throws(CPIXError) -> ContentID {
        let name = version == .v1 ? "id" : "contentId"
        guard let text = root.attribute(name), !text.isEmpty else {
            throw version == .v1 ? .missingAttribute(element: "CPIX", attribute: name) : .missingContentID
        }
        guard let contentID = try? ContentID(text) else { throw .invalidContentID }
        return contentID
    }

    private func checkVersion() throws(CPIXError) {
        let written = root.attribute("version")
        guard let expected = version.documentVersion else {
            // A document of SPEKE v2 without its header field must not be answered as a document of v1.
            let isSecond = SPEKEVersion.allCases.contains { $0.documentVersion != nil && $0.documentVersion == written }
            guard !isSecond else { throw .unsupportedSPEKEVersion }
            return
        }
        guard let written, !written.isEmpty else { throw .missingVersion }
        guard written.hasSameUTF8(as: expected) else { throw .unsupportedVersion }
    }

    // MARK: - Keys

    private struct Key {
        let keyID: KeyID
        let written: String
        let scheme: CommonEncryptionScheme?
        let explicitIV: Bytes16?
        let hdcp: KeyFloor.Output
    }

    private func readKey(_ element: MarkupElement) throws(CPIXError) -> Key {
        let (keyID, written) = try Self.keyID(of: element)
        let data = element.elements("Data", in: CPIXNamespace.cpix)
        guard data.allSatisfy({ $0.text.utf8.allSatisfy(Self.isSpace) }) else { throw .keyInRequest }
        return Key(
            keyID: keyID, written: written, scheme: try readScheme(of: element, written),
            explicitIV: try readIV(of: element), hdcp: try KeyFloor.Output(reading: element))
    }

    private func readScheme(of element: MarkupElement, _ keyID: String) throws(CPIXError) -> CommonEncryptionScheme? {
        let text = element.attribute("commonEncryptionScheme") ?? ""
        guard !text.isEmpty else {
            guard version == .v1 else { throw .missingScheme(keyID: keyID) }
            return nil
        }
        guard let scheme = CommonEncryptionScheme(rawValue: text), version == .v21 || scheme.isCommonEncryption else {
            throw .unsupportedScheme(keyID: keyID)
        }
        return scheme
    }

    private func readIV(of element: MarkupElement) throws(CPIXError) -> Bytes16? {
        guard let text = element.attribute("explicitIV"), !text.isEmpty else { return nil }
        guard let bytes = try? Base64.decode(text), let iv = Bytes16(bytes) else {
            throw .invalidAttribute(element: "ContentKey", attribute: "explicitIV")
        }
        return iv
    }

    // MARK: - Systems

    private func readSystems(
        _ keyIDs: Set<KeyID>, scheme: CommonEncryptionScheme?, hdcp: [(KeyID, KeyFloor.Output)]
    ) throws(CPIXError) -> (Set<DRMSystem>, [KeyID: KeyFloor]) {
        let found = try elements("DRMSystem", of: "DRMSystemList", atMost: CPIXRequest.systemCountMaximum)
        var pairs: Set<SystemOfKey> = []
        var floors: [KeyID: KeyFloor] = [:]
        for (keyID, output) in hdcp { floors[keyID, default: KeyFloor()].leastHDCP = output.level }
        for element in found {
            let (keyID, _) = try Self.keyID(of: element)
            guard keyIDs.contains(keyID) else { throw .unknownKeyID(element: "DRMSystem") }
            let system = try readSystem(of: element)
            if system == .fairPlay, let scheme, !scheme.isForFairPlay {
                throw .incompatibleScheme(systemID: element.attribute("systemId") ?? system.identifier.description)
            }
            guard pairs.insert(SystemOfKey(keyID: keyID, system: system)).inserted else {
                throw .repeatedElement("DRMSystem")
            }
            try checkPlaylists(of: element)
            // What other systems demand of their devices says nothing about FairPlay's.
            if system == .fairPlay {
                floors[keyID, default: KeyFloor()].leastSecurityLevel = try KeyFloor.securityLevel(reading: element)
            }
        }
        // The element for DASH cannot be read, and FairPlay streams are not DASH.
        for (keyID, output) in hdcp where output == .onlyForDASH {
            guard !pairs.contains(SystemOfKey(keyID: keyID, system: .fairPlay)) else {
                throw .missingAttribute(element: "HDCPData", attribute: "HLSHDCPLevel")
            }
        }
        return (Set(pairs.map(\.system)), floors)
    }

    private struct SystemOfKey: Hashable {
        let keyID: KeyID
        let system: DRMSystem
    }

    private func readSystem(of element: MarkupElement) throws(CPIXError) -> DRMSystem {
        guard let text = element.attribute("systemId"), !text.isEmpty else {
            throw .missingAttribute(element: "DRMSystem", attribute: "systemId")
        }
        // An error text may repeat a UUID, and no other text of the request.
        guard text.utf8.count == 36, (try? KeyID(parsing: text)) != nil else {
            throw .invalidAttribute(element: "DRMSystem", attribute: "systemId")
        }
        guard let system = DRMSystem(identifier: text) else { throw .unsupportedSystem(systemID: text) }
        return system
    }

    private func checkPlaylists(of system: MarkupElement) throws(CPIXError) {
        var found: Set<HLSPlaylist> = []
        for element in system.elements("HLSSignalingData", in: CPIXNamespace.cpix) {
            guard let text = element.attribute("playlist") else {
                throw .missingAttribute(element: "HLSSignalingData", attribute: "playlist")
            }
            guard let playlist = HLSPlaylist(text) else {
                throw .invalidAttribute(element: "HLSSignalingData", attribute: "playlist")
            }
            guard found.insert(playlist).inserted else { throw .repeatedElement("HLSSignalingData") }
        }
    }

    // MARK: - Periods and usage rules

    private func readPeriods() throws(CPIXError) -> [String: KeyPeriod] {
        var periods: [String: KeyPeriod] = [:]
        guard let list = try list("ContentKeyPeriodList") else { return periods }
        for element in list.elements("ContentKeyPeriod", in: CPIXNamespace.cpix) {
            let period = try readPeriod(element)
            guard periods.updateValue(period, forKey: period.identifier) == nil else {
                throw .repeatedElement("ContentKeyPeriod")
            }
        }
        return periods
    }

    private func readPeriod(_ element: MarkupElement) throws(CPIXError) -> KeyPeriod {
        func required(_ name: String) throws(CPIXError) -> String {
            guard let text = element.attribute(name), !text.isEmpty else {
                throw .missingAttribute(element: "ContentKeyPeriod", attribute: name)
            }
            return text
        }
        func time(_ name: String) throws(CPIXError) -> UnixTime? {
            guard let text = element.attribute(name) else { return nil }
            guard let time = try? RFC3339.parse(text) else {
                throw .invalidAttribute(element: "ContentKeyPeriod", attribute: name)
            }
            return time
        }
        let identifier = try required("id")
        guard let index = DecimalNumber.parse(try required("index")).flatMap({ UInt32(exactly: $0) }) else {
            throw .invalidAttribute(element: "ContentKeyPeriod", attribute: "index")
        }
        let start = try time("start")
        let end = try time("end")
        if let start, let end, end <= start {
            throw .invalidAttribute(element: "ContentKeyPeriod", attribute: "end")
        }
        return KeyPeriod(identifier: identifier, index: index, start: start, end: end)
    }

    private func readContract(
        _ keyIDs: Set<KeyID>, _ periods: [String: KeyPeriod]
    ) throws(CPIXError) -> EncryptionContract {
        guard let list = try list("ContentKeyUsageRuleList") else {
            guard version == .v1 else { throw .missingContract }
            return EncryptionContract(rules: [:])
        }
        let rules = list.elements("ContentKeyUsageRule", in: CPIXNamespace.cpix)
        return version == .v1
            ? try EncryptionContract(readingVersion1: rules, keyIDs: keyIDs, periods: periods)
            : try EncryptionContract(reading: rules, keyIDs: keyIDs, periods: periods)
    }

    // MARK: - Recipients

    private func readRecipients() throws(CPIXError) -> [DeliveryRecipient] {
        guard root.elements("DeliveryDataList", in: CPIXNamespace.cpix).count > 0 else { return [] }
        let found = try elements("DeliveryData", of: "DeliveryDataList", atMost: CPIXRequest.recipientCountMaximum)
        return try found.map { (element) throws(CPIXError) in
            let certificates = element.elements("DeliveryKey", in: CPIXNamespace.cpix)
                .flatMap { $0.elements("X509Data", in: CPIXNamespace.signature) }
                .flatMap { $0.elements("X509Certificate", in: CPIXNamespace.signature) }
            guard certificates.count == 1 else { throw .recipientCertificate }
            return try DeliveryRecipient(base64: certificates[0].text)
        }
    }

    // MARK: - Elements

    /// The list with this name; nil if there is none. Throws if there are several.
    private func list(_ name: String) throws(CPIXError) -> MarkupElement? {
        let found = root.elements(name, in: CPIXNamespace.cpix)
        guard found.count <= 1 else { throw .repeatedElement(name) }
        return found.first
    }

    /// The elements of a mandatory list. There must be at least one.
    private func elements(
        _ name: String, of listName: String, atMost countMaximum: Int
    ) throws(CPIXError) -> [MarkupElement] {
        guard let list = try list(listName) else { throw .missingElement(listName) }
        let found = list.elements(name, in: CPIXNamespace.cpix)
        guard !found.isEmpty else { throw .missingElement(name) }
        guard found.count <= countMaximum else { throw .tooMany(name) }
        return found
    }

    /// The key id of an element, parsed and as it was written.
    static func keyID(of element: MarkupElement) throws(CPIXError) -> (KeyID, written: String) {
        guard let text = element.attribute("kid"), !text.isEmpty else {
            throw .missingAttribute(element: element.localName, attribute: "kid")
        }
        guard text.utf8.count == 36, let keyID = try? KeyID(parsing: text) else {
            throw .invalidAttribute(element: element.localName, attribute: "kid")
        }
        return (keyID, text)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

/// The playlist that an `HLSSignalingData` is for. CPIX 2.4 has the value `multiVariant` in place of `master`
/// (packagers, section 1.4).
enum HLSPlaylist: Hashable {
    case media
    case multivariant

    init?(_ text: String) {
        switch text {
        case "media": self = .media
        case "master", "multiVariant": self = .multivariant
        default: return nil
        }
    }
}

/// Whole numbers in XML attributes of CPIX documents.
enum DecimalNumber {
    /// Reads a number of 1 to 18 digits; returns nil for any other text.
    static func parse(_ text: String) -> UInt64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }
}
