package import ContentKeys

/// What a document demands of the devices that get a key (CPIX 2.4): `HDCPData@HLSHDCPLevel` of the key, and of its
/// FairPlay system `HLSAllowedCPC` and `robustness`. A new key gets it as its own floor.
package struct KeyFloor: Hashable, Sendable {
    package var leastHDCP: ContentKeyAttributes.HDCP?
    package var leastSecurityLevel: ContentKeyAttributes.SecurityLevel?

    /// What the `HDCPData` of a key says.
    enum Output: Hashable {
        case nothing
        /// It has only a value that is copied into DASH manifests.
        case onlyForDASH
        case least(ContentKeyAttributes.HDCP)

        var level: ContentKeyAttributes.HDCP? { if case .least(let level) = self { level } else { nil } }

        /// Reads a `ContentKey`. Throws `repeatedElement`, and `invalidAttribute` for a level that HLS does not have.
        init(reading key: MarkupElement) throws(CPIXError) {
            let found = key.elements("HDCPData", in: CPIXNamespace.cpix)
            guard found.count <= 1 else { throw .repeatedElement("HDCPData") }
            guard let data = found.first else {
                self = .nothing
                return
            }
            guard let text = data.attribute("HLSHDCPLevel") else {
                // AWS sends an empty element for what a key server may fill in.
                let outputs = data.elements("HDCPOutputProtectionData", in: CPIXNamespace.cpix)
                self = outputs.allSatisfy { $0.text.utf8.allSatisfy { $0 <= 0x20 } } ? .nothing : .onlyForDASH
                return
            }
            guard let level = ContentKeyAttributes.HDCP.allCases.first(where: { $0.playlistWord == text }) else {
                throw .invalidAttribute(element: "HDCPData", attribute: "HLSHDCPLevel")
            }
            self = .least(level)
        }
    }

    /// The strictest level of the attributes of a FairPlay `DRMSystem`; nil if it has none of them.
    static func securityLevel(reading system: MarkupElement) throws(CPIXError) -> ContentKeyAttributes.SecurityLevel? {
        var levels: [ContentKeyAttributes.SecurityLevel] = []
        let contents = system.elements("ContentProtectionData", in: CPIXNamespace.cpix)
        let attributes =
            [(system, "HLSAllowedCPC"), (system, "robustness")] + contents.map { ($0, "robustness") }
        for (element, name) in attributes {
            guard let text = element.attribute(name), !text.isEmpty else { continue }
            guard let level = AllowedConfigurations.securityLevel(ofFairPlay: text) else {
                throw .invalidAttribute(element: element.localName, attribute: name)
            }
            levels.append(level)
        }
        return levels.max()
    }
}
