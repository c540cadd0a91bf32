package import ByteCoding

/// A template for the `skd:` URL of a content key, which packagers put into playlists.
///
/// A template is text with fields in braces. `{contentId}`, `{kid}` (a UUID), `{kidHex}`, `{iv}`, `{period}`, `{track}`
/// and `{authority}` are replaced. Each value is percent-encoded, except for the unreserved characters of RFC 3986.
/// `AssetReference` reads the URLs of all presets (packagers, section 4).
package struct SKDTemplate: Hashable, Sendable {
    /// The largest size of a URL, in bytes, which is the largest size of an alias.
    package static let urlSizeMaximum = 200

    /// The template, or the name of its preset, as it was given.
    package let source: String
    private let parts: [Part]

    /// `skd://` and the key id. It is short, the same in upper and lower case, and different for each key.
    package static let standard = SKDTemplate(source: "skd://{kid}", parts: [.text("skd://"), .field(.kid)])

    private init(source: String, parts: [Part]) {
        self.source = source
        self.parts = parts
    }

    /// Reads a template. Throws `unknownField` for braces with an unknown name or without a name. Throws
    /// `invalidCharacter` for characters that a quoted string of a playlist cannot contain.
    package init(parsing template: String) throws(SKDTemplateError) {
        var parts: [Part] = []
        var rest = template[...]
        while let opening = rest.firstIndex(of: "{") {
            if opening > rest.startIndex { parts.append(.text(String(rest[..<opening]))) }
            let name = rest[opening...].dropFirst().prefix { $0 != "}" }
            guard name.endIndex < rest.endIndex, let field = Field(rawValue: String(name)) else { throw .unknownField }
            parts.append(.field(field))
            rest = rest[name.endIndex...].dropFirst()
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        for case .text(let text) in parts {
            guard text.utf8.allSatisfy(Self.isAllowed), !text.contains("}") else { throw .invalidCharacter }
        }
        self.init(source: template, parts: parts)
    }

    /// The text of the template, even if a preset was named.
    package var template: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): "{\(field.rawValue)}"
            }
        }.joined()
    }

    /// Whether a URL names a key, or a content that has one. Otherwise no device can find a key by the URL.
    package var namesKeys: Bool {
        parts.contains { part in
            switch part {
            case .text: false
            case .field(let field): field.namesKeys
            }
        }
    }

    /// Whether a URL contains the key's initialization vector, directly or within JSON.
    package var needsIV: Bool { parts.contains(.field(.iv)) || parts.contains(.field(.json)) }

    /// Whether the template contains the host of the licence server.
    package var needsAuthority: Bool { parts.contains(.field(.authority)) }

    /// Returns the URL of a key. Throws `fieldMissing` if the key has no value for a field, and `tooLong` if the URL is
    /// too long.
    package func url(for names: SKDNames) throws(SKDTemplateError) -> String {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .field(let field):
                guard let value = field.value(names) else { throw .fieldMissing(field.rawValue) }
                url += value
            }
        }
        guard url.utf8.count <= Self.urlSizeMaximum else { throw .tooLong(url.utf8.count) }
        return url
    }

    /// Whether the byte is printable ASCII, but not a space or a quotation mark (RFC 8216, section 4.2).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"")
    }

    private enum Part: Hashable {
        case text(String)
        case field(Field)
    }

    private enum Field: String {
        case contentID = "contentId"
        case kid
        case kidHex
        /// The Base64 of the key id without percent-encoding, as Shaka Packager writes it.
        case kidBase64
        case iv
        case period
        case track
        case authority
        /// The Base64 of a JSON object with content id, key id and IV, the form of AWS MediaPackage.
        case json

        var namesKeys: Bool {
            switch self {
            case .contentID, .kid, .kidHex, .kidBase64, .json: true
            case .iv, .period, .track, .authority: false
            }
        }

        /// Returns the value of the field; nil if the key has none.
        func value(_ names: SKDNames) -> String? {
            switch self {
            case .contentID: PercentEncoding.encode(names.contentID.text)
            case .kid: names.keyID.description
            case .kidHex: names.keyID.hexadecimal
            case .kidBase64: Base64.encode(names.keyID.bytes)
            case .iv: Hexadecimal.encode(names.iv.bytes)
            case .period: names.periodIndex.map { String($0) }
            case .track: names.trackLabel.map { PercentEncoding.encode($0.text) }
            // A host may have a port, so its colon is kept.
            case .authority:
                names.authority.map { authority in
                    authority.split(separator: ":", omittingEmptySubsequences: false)
                        .map { PercentEncoding.encode(String($0)) }.joined(separator: ":")
                }
            case .json: Base64.encode(object(names))
            }
        }

        private func object(_ names: SKDNames) -> [UInt8] {
            JSONWriter.object { writer in
                writer.member("ContentId", names.contentID.text)
                writer.member("KeyId", names.keyID.description)
                writer.member("IV", Base64.encode(names.iv.bytes))
            }
        }
    }
}

extension SKDTemplate {
    /// A named template, for content that is packaged for another service (packagers, section 4).
    package enum Preset: String, Hashable, Sendable, CaseIterable {
        case uuid
        case uuidIV = "uuid-iv"
        case hex
        /// A device finds its key only if the content has one live key.
        case content
        /// For apps that treat the URL as an HTTPS URL and POST to it.
        case licenseURL = "license-url"
        case ezdrm
        case awsJSON = "aws-json"
        case shakaBase64 = "shaka-base64"

        package var template: String {
            switch self {
            case .uuid: "skd://{kid}"
            case .uuidIV: "skd://{kid}:{iv}"
            case .hex: "skd://{kidHex}"
            case .content: "skd://{contentId}"
            case .licenseURL: "skd://{authority}/fps/v1/license/{kid}"
            case .ezdrm: "skd://{authority}/;{kid}"
            case .awsJSON: "skd://{json}"
            case .shakaBase64: "skd://{kidBase64}"
            }
        }
    }

    /// Reads the name of a preset, or a template. Throws the errors of `init(parsing:)`.
    package init(presetOrTemplate text: String) throws(SKDTemplateError) {
        let template = try SKDTemplate(parsing: Preset(rawValue: text)?.template ?? text)
        self.init(source: text, parts: template.parts)
    }
}

/// The values of a key that its URL may contain.
package struct SKDNames: Hashable, Sendable {
    package var contentID: ContentID
    package var keyID: KeyID
    /// The initialization vector, which is public like everything in a playlist.
    package var iv: Bytes16
    package var periodIndex: UInt32?
    package var trackLabel: TrackLabel?
    /// The host of the licence server, with a port if it needs one.
    package var authority: String?

    package init(
        contentID: ContentID, keyID: KeyID, iv: Bytes16, periodIndex: UInt32? = nil, trackLabel: TrackLabel? = nil,
        authority: String? = nil
    ) {
        self.contentID = contentID
        self.keyID = keyID
        self.iv = iv
        self.periodIndex = periodIndex
        self.trackLabel = trackLabel
        self.authority = authority
    }

    /// Takes the values from a key of the store.
    package init(of record: ContentKeyRecord, authority: String?) {
        self.init(
            contentID: record.contentID, keyID: record.keyID, iv: record.iv,
            periodIndex: record.attributes.periodIndex, trackLabel: record.attributes.trackLabel, authority: authority)
    }
}

/// The reason why a text is not a template, or a template gives no URL for a key.
package enum SKDTemplateError: Error, Equatable, Sendable {
    /// A name in braces is not a field, or an opening brace has no closing one.
    case unknownField
    /// A character is a space, a quotation mark, a closing brace without an opening one, or not printable ASCII.
    case invalidCharacter
    /// The template has a field for which this key has no value.
    case fieldMissing(String)
    /// The URL has more than 200 bytes. The value is its size.
    case tooLong(Int)
}
