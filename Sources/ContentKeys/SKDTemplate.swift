package import ByteCoding

/// How the `skd:` URL of a content key is written, for packagers to put into playlists.
///
/// A template is text with fields in braces. `{contentId}`, `{kid}` (a UUID), `{kidHex}`, `{iv}`, `{period}`, `{track}`
/// and `{authority}` are replaced; each value is percent-encoded but for the unreserved characters of RFC 3986. What a
/// template writes, `AssetReference` reads, in each of the presets (packagers, section 4).
package struct SKDTemplate: Hashable, Sendable {
    /// The size that a URL may have, in bytes: that of an alias.
    package static let urlSizeMaximum = 200

    /// The template, or the name of its preset, as it was given.
    package let source: String
    private let parts: [Part]

    /// `skd://` and the key id: short, the same in either case, and distinct for each key.
    package static let standard = SKDTemplate(source: "skd://{kid}", parts: [.text("skd://"), .field(.kid)])

    private init(source: String, parts: [Part]) {
        self.source = source
        self.parts = parts
    }

    /// Reads a template. Throws `unknownField` for braces with another name, or with none, and `invalidCharacter` for
    /// anything that a quoted string of a playlist cannot hold.
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

    /// The template itself, if a preset was named too.
    package var template: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): "{\(field.rawValue)}"
            }
        }.joined()
    }

    /// Whether a URL names a key, or a content that has one: otherwise no device finds its key by it.
    package var namesKeys: Bool {
        parts.contains { part in
            switch part {
            case .text: false
            case .field(let field): field.namesKeys
            }
        }
    }

    /// Whether a URL shows the key's initialization vector, as it is or within JSON.
    package var needsIV: Bool { parts.contains(.field(.iv)) || parts.contains(.field(.json)) }

    /// Whether the template has the host of the licence server in it.
    package var needsAuthority: Bool { parts.contains(.field(.authority)) }

    /// The URL of a key. Throws `fieldMissing` if the key has no value for a field, and `tooLong`.
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

    /// Printable ASCII without a space and without a quotation mark (RFC 8216, section 4.2).
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
        /// The Base64 of the key id as it stands, as Shaka Packager writes it.
        case kidBase64
        case iv
        case period
        case track
        case authority
        /// The Base64 of a JSON object with content id, key id and IV, as AWS MediaPackage describes it.
        case json

        var namesKeys: Bool {
            switch self {
            case .contentID, .kid, .kidHex, .kidBase64, .json: true
            case .iv, .period, .track, .authority: false
            }
        }

        /// Nil if the key has no such name.
        func value(_ names: SKDNames) -> String? {
            switch self {
            case .contentID: PercentEncoding.encode(names.contentID.text)
            case .kid: names.keyID.description
            case .kidHex: names.keyID.hexadecimal
            case .kidBase64: Base64.encode(names.keyID.bytes)
            case .iv: Hexadecimal.encode(names.iv.bytes)
            case .period: names.periodIndex.map { String($0) }
            case .track: names.trackLabel.map { PercentEncoding.encode($0.text) }
            // A host may have a port: its colon is kept.
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
    /// A template by name, for content that is packaged for another service (packagers, section 4).
    package enum Preset: String, Hashable, Sendable, CaseIterable {
        case uuid
        case uuidIV = "uuid-iv"
        case hex
        /// Finds its key only if the content has one live key.
        case content
        /// For apps that take the URL for an HTTPS one and POST to it.
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

    /// Takes the name of a preset, or a template. Throws as the template does.
    package init(presetOrTemplate text: String) throws(SKDTemplateError) {
        let template = try SKDTemplate(parsing: Preset(rawValue: text)?.template ?? text)
        self.init(source: text, parts: template.parts)
    }
}

/// The names of a key that its URL can have.
package struct SKDNames: Hashable, Sendable {
    package var contentID: ContentID
    package var keyID: KeyID
    /// Public, like all that a playlist has.
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

    /// The names of a key of the store.
    package init(of record: ContentKeyRecord, authority: String?) {
        self.init(
            contentID: record.contentID, keyID: record.keyID, iv: record.iv,
            periodIndex: record.attributes.periodIndex, trackLabel: record.attributes.trackLabel, authority: authority)
    }
}

/// Why a text is not a template, or a template gives no URL for a key.
package enum SKDTemplateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Braces with a name that is not a field's, or a brace without its partner.
    case unknownField
    /// A character that is not printable ASCII, a space, a quotation mark, or a closing brace alone.
    case invalidCharacter
    /// The template has a field that this key has no value for.
    case fieldMissing(String)
    /// More than 200 bytes; this many.
    case tooLong(Int)

    /// Words for the log.
    package var description: String {
        switch self {
        case .unknownField: "it has braces with a name that is no field, or a brace without its partner"
        case .invalidCharacter: "it has a character that a key URI must not have"
        case .fieldMissing(let name): "the key has no value for its field \(name)"
        case .tooLong(let size): "the key URI would have \(size) bytes, more than 200"
        }
    }
}
