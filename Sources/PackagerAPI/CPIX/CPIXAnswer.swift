package import ByteCoding
package import ContentKeys
import KeyCrypto

/// The document that answers a packager: the request with keys and signalling filled in.
///
/// The same request and the same keys give the same bytes, unless the keys are encrypted: each encryption uses fresh
/// random keys.
package struct CPIXAnswer: Sendable {
    /// The document in UTF-8. It holds keys, so it must only be sent to the packager.
    package let bytes: [UInt8]

    /// Makes the answer to a request.
    ///
    /// Throws `ivConflict` if a key has another IV than the request asks for, and the errors with status 500.
    package init(
        to request: CPIXRequest, keys: [PackagedKey], urls: SKDTemplate, authority: String? = nil
    ) throws(CPIXError) {
        bytes = try CPIXAnswerDraft(to: request, keys: keys, urls: urls, authority: authority).filled(with: keys)
    }

    /// Makes an answer of the bytes of a filled draft.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// An answer without its keys. It can be used again as long as the request gets the same keys.
final class CPIXAnswerDraft: Sendable {
    private let bytes: [UInt8]
    private let keyPlaces: [MarkupWriter.KeyPlace]
    /// The IV of each key, in the keys' order.
    private let ivs: [(keyID: KeyID, iv: Bytes16)]
    private let urls: SKDTemplate
    private let authority: String?

    /// Throws the same errors as `CPIXAnswer`. The draft of a request for encrypted keys contains the encrypted keys,
    /// so it serves for one answer only.
    init(to request: CPIXRequest, keys: [PackagedKey], urls: SKDTemplate, authority: String?) throws(CPIXError) {
        var filler = try DocumentFiller(request: request, keys: keys, urls: urls, authority: authority)
        let writer = MarkupWriter(try filler.fill())
        bytes = writer.bytes
        keyPlaces = writer.keyPlaces
        ivs = keys.map { ($0.keyID, $0.iv) }
        self.urls = urls
        self.authority = authority
    }

    /// Whether the draft fits these arguments, so that only the bytes of the keys need to be filled in.
    func fits(_ keys: [PackagedKey], urls: SKDTemplate, authority: String?) -> Bool {
        keys.count == ivs.count && zip(keys, ivs).allSatisfy { $0.keyID == $1.keyID && $0.iv == $1.iv }
            && fits(urls: urls, authority: authority)
    }

    /// The same, of keys that fit.
    func fits(urls: SKDTemplate, authority: String?) -> Bool {
        authority == self.authority && urls == self.urls
    }

    /// Returns the document with the keys filled in at their places.
    func filled(with keys: [PackagedKey]) -> [UInt8] {
        var filled: [UInt8] = []
        filled.reserveCapacity(bytes.count)
        var copied = 0
        for place in keyPlaces {
            guard let key = keys.first(where: { $0.keyID == place.keyID }) else { continue }
            filled += bytes[copied..<place.offset]
            Base64.append(key.key.bytes.revealed(), to: &filled)
            copied = place.offset + MarkupWriter.KeyPlace.size
        }
        filled += bytes[copied...]
        return filled
    }
}

extension CPIXAnswer: CustomStringConvertible, CustomReflectable {
    package var description: String { "CPIX answer of \(bytes.count) bytes" }

    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

/// A content key as a packager gets it.
package struct PackagedKey: Sendable {
    package let keyID: KeyID
    package let key: ContentKey
    package let iv: Bytes16

    /// Throws `ivEqualsKey` if the IV equals the key: the IV is public, so it would disclose the key (packagers,
    /// section 1.5).
    package init(keyID: KeyID, key: ContentKey, iv: Bytes16) throws(ContentKeyError) {
        guard key.bytes.revealedBytes16() != iv else { throw .ivEqualsKey }
        self.keyID = keyID
        self.key = key
        self.iv = iv
    }

    /// Makes a packaged key of a key in the store, whose IV never equals the key.
    package init(_ record: ContentKeyRecord) {
        keyID = record.keyID
        key = record.key
        iv = record.iv
    }
}

/// Fills a request's document.
private struct DocumentFiller {
    private let request: CPIXRequest
    private let keys: [KeyID: PackagedKey]
    private let urls: [KeyID: String]

    init(
        request: CPIXRequest, keys: [PackagedKey], urls: SKDTemplate, authority: String?
    ) throws(CPIXError) {
        self.request = request
        self.keys = Dictionary(keys.map { ($0.keyID, $0) }) { first, _ in first }
        var found: [KeyID: String] = [:]
        for requested in request.keys {
            guard let key = self.keys[requested.keyID] else { throw .keyNotGiven(requested.keyID) }
            if let iv = requested.explicitIV, iv != key.iv { throw .ivConflict(keyID: requested.keyID) }
            guard request.systems.contains(.fairPlay) else { continue }
            let names = SKDNames(
                contentID: request.contentID, keyID: requested.keyID, iv: key.iv,
                periodIndex: requested.period?.index, trackLabel: requested.track.label, authority: authority)
            found[requested.keyID] = try wrap(CPIXError.keyURL, try urls.url(for: names))
        }
        guard Set(found.values).count == found.count else { throw .sharedKeyURL }
        self.urls = found
    }

    mutating func fill() throws(CPIXError) -> MarkupElement {
        var root = request.document
        // In v2 an `id` is ignored, and must not be in the answer (packagers, section 1.4).
        if request.version != .v1 { root.setAttribute("id", to: nil) }
        let plan = NamePlan(for: neededNames, in: &root)
        try fillKeys(in: &root, plan)
        try root.update("DRMSystemList", in: CPIXNamespace.cpix) { (list) throws(CPIXError) in
            try list.update("DRMSystem", in: CPIXNamespace.cpix) { (element) throws(CPIXError) in
                try fillSystem(&element, plan)
            }
        }
        return root
    }

    private var neededNames: [NamePlan.Name] {
        var names = [
            NamePlan.Name(namespace: CPIXNamespace.cpix, prefix: "cpix"),
            NamePlan.Name(namespace: CPIXNamespace.pskc, prefix: "pskc", needsPrefix: true),
        ]
        if request.version == .v1 { names.append(NamePlan.Name(namespace: CPIXNamespace.speke, prefix: "speke")) }
        if !request.recipients.isEmpty {
            names.append(NamePlan.Name(namespace: CPIXNamespace.encryption, prefix: "enc"))
        }
        return names
    }

    // MARK: - Keys

    private func fillKeys(in root: inout MarkupElement, _ plan: NamePlan) throws(CPIXError) {
        guard !request.recipients.isEmpty else {
            return fillKeys(in: &root, plan) { key in
                [.element(plan.element("PlainValue", in: CPIXNamespace.pskc, [.key(key.keyID)]))]
            }
        }
        do throws(CryptoError) {
            let delivery = try KeyDelivery()
            var recipients = request.recipients[...]
            try root.update("DeliveryDataList", in: CPIXNamespace.cpix) { (list) throws(CryptoError) in
                try list.update("DeliveryData", in: CPIXNamespace.cpix) { (element) throws(CryptoError) in
                    // The request has one recipient for each of these elements, in the same order.
                    guard let recipient = recipients.popFirst() else { return }
                    try delivery.fill(&element, for: recipient, plan)
                }
            }
            try fillKeys(in: &root, plan) { (key) throws(CryptoError) in try delivery.secret(key.key, plan) }
        } catch {
            throw .cryptography(error)
        }
    }

    private func fillKeys<Failure: Error>(
        in root: inout MarkupElement, _ plan: NamePlan, secret: (PackagedKey) throws(Failure) -> [MarkupNode]
    ) throws(Failure) {
        var requested = request.keys[...]
        try root.update("ContentKeyList", in: CPIXNamespace.cpix) { (list) throws(Failure) in
            try list.update("ContentKey", in: CPIXNamespace.cpix) { (element) throws(Failure) in
                guard let next = requested.popFirst(), let key = keys[next.keyID] else { return }
                let secret = plan.element("Secret", in: CPIXNamespace.pskc, try secret(key))
                element.remove("Data", in: CPIXNamespace.cpix)
                element.children.append(.element(plan.element("Data", in: CPIXNamespace.cpix, [.element(secret)])))
                if hasConstantIV(next) { element.setAttribute("explicitIV", to: Base64.encode(key.iv.bytes)) }
            }
        }
    }

    /// Whether all samples have the key's IV. In counter mode each sample has an IV of its own.
    private func hasConstantIV(_ key: RequestedContentKey) -> Bool {
        key.explicitIV != nil || request.scheme(of: key).isCounterMode == false
    }

    // MARK: - Signalling

    private func fillSystem(_ element: inout MarkupElement, _ plan: NamePlan) throws(CPIXError) {
        let (keyID, _) = try CPIXRequestReader.keyID(of: element)
        guard let system = element.attribute("systemId").flatMap(DRMSystem.init(identifier:)),
            let requested = request.keys.first(where: { $0.keyID == keyID })
        else { return }
        let signalling =
            switch system {
            case .fairPlay: SystemSignalling.fairPlay(url: urls[keyID] ?? "")
            case .widevine: SystemSignalling.widevine(keyID, request.scheme(of: requested))
            case .playReady: SystemSignalling.playReady(keyID, request.scheme(of: requested))
            }
        var filler = SystemFiller(element: element, plan: plan)
        filler.fill(signalling, version: request.version)
        element = filler.element
    }
}

/// Fills one `DRMSystem` (packagers, sections 1.3, 1.4 and 1.7).
///
/// Adds mandatory elements that the request leaves out, and removes elements that the system does not have.
private struct SystemFiller {
    private(set) var element: MarkupElement
    let plan: NamePlan

    /// The order of the elements in the schema.
    private static let order = [
        "PSSH", "ContentProtectionData", "URIExtXKey", "HLSSignalingData", "SmoothStreamingProtectionHeaderData",
    ]

    mutating func fill(_ signalling: SystemSignalling, version: SPEKEVersion) {
        let base64 = { (bytes: [UInt8]) in Base64.encode(bytes) }
        let line = signalling.keyLine
        set("PSSH", to: signalling.protectionBox.map(base64), isMandatory: version != .v1)
        set(
            "ContentProtectionData", to: signalling.contentProtection.map { base64(Array($0.utf8)) },
            isMandatory: version != .v1)
        set("SmoothStreamingProtectionHeaderData", to: signalling.smoothStreamingHeader.map(base64), isMandatory: false)
        switch version {
        case .v1:
            let isFairPlay = line.keyFormat == HLSKeyLine.fairPlayKeyFormat
            set("URIExtXKey", to: base64(Array(line.uri.utf8)), isMandatory: isFairPlay)
            for (name, value) in [("KeyFormat", line.keyFormat), ("KeyFormatVersions", line.keyFormatVersions)] {
                set(name, in: CPIXNamespace.speke, to: base64(Array(value.utf8)), isMandatory: isFairPlay)
            }
            set(
                "ProtectionHeader", in: CPIXNamespace.speke, to: signalling.smoothStreamingHeader.map(base64),
                isMandatory: false)
        case .v20, .v21: setPlaylists(line)
        }
    }

    /// Sets the text of the element, or removes the element if `text` is nil. A mandatory element is added if it is
    /// missing.
    private mutating func set(
        _ name: String, in namespace: String = CPIXNamespace.cpix, to text: String?, isMandatory: Bool
    ) {
        guard let text else { return element.remove(name, in: namespace) }
        let isThere = !element.elements(name, in: namespace).isEmpty
        element.update(name, in: namespace) { $0.children = [.text(text)] }
        if !isThere, isMandatory { add(plan.element(name, in: namespace, [.text(text)])) }
    }

    /// Fills in the key line of each playlist. The name of the playlist stays as the request has it.
    private mutating func setPlaylists(_ line: HLSKeyLine) {
        var missing: [HLSPlaylist] = [.media, .multivariant]
        element.update("HLSSignalingData", in: CPIXNamespace.cpix) { data in
            guard let playlist = data.attribute("playlist").flatMap(HLSPlaylist.init) else { return }
            missing.removeAll { $0 == playlist }
            data.children = [.text(Base64.encode(Array(line.text(for: playlist).utf8)))]
        }
        for playlist in missing {
            add(
                plan.element(
                    "HLSSignalingData", in: CPIXNamespace.cpix,
                    attributes: [MarkupAttribute(name: "playlist", value: playlist.name)],
                    [.text(Base64.encode(Array(line.text(for: playlist).utf8)))]))
        }
    }

    /// Adds an element at its place in the schema: before the first element that must follow it.
    private mutating func add(_ added: MarkupElement) {
        let rank = Self.order.firstIndex(of: added.localName) ?? Self.order.endIndex
        let place = element.children.firstIndex { child in
            guard case .element(let other) = child else { return false }
            return (Self.order.firstIndex(of: other.localName) ?? Self.order.endIndex) > rank
        }
        element.children.insert(.element(added), at: place ?? element.children.endIndex)
    }
}

extension HLSPlaylist {
    /// The name of the playlist in SPEKE.
    fileprivate var name: String {
        switch self {
        case .media: "media"
        case .multivariant: "master"
        }
    }
}

extension HLSKeyLine {
    fileprivate func text(for playlist: HLSPlaylist) -> String {
        switch playlist {
        case .media: mediaLine
        case .multivariant: multivariantLine
        }
    }
}
