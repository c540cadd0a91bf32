package import ByteCoding

/// A template for the `skd:` URL of a content key, which packagers put into playlists.
///
/// A template is text with fields in braces. `{contentId}`, `{kid}` (a UUID), `{kidHex}`, `{iv}`, `{period}`, `{track}`
/// and `{authority}` are replaced. Each value is percent-encoded, except for the unreserved characters of RFC 3986.
/// `AssetReference` reads the URLs of all presets without further help (packagers, section 4), and those of every
/// template that `checkThatItLeadsBack` accepts with the template's form (`AssetForms`).
package struct SKDTemplate: Hashable, Sendable {
    /// The largest size of a URL, in bytes, which is the largest size of an alias.
    package static let urlSizeMaximum = 200

    /// The template, or the name of its preset, as it was given.
    package let source: String
    private let parts: [KeyURIPart]

    /// `skd://` and the key id. It is short, the same in upper and lower case, and different for each key.
    package static let standard = SKDTemplate(source: "skd://{kid}", parts: [.text("skd://"), .field(.kid)])

    private init(source: String, parts: [KeyURIPart]) {
        self.source = source
        self.parts = parts
    }

    /// The form of the URLs that this template writes.
    var form: AssetForm { AssetForm(parts, source: source, isExact: true) }

    /// Reads a template. Throws `unknownField` for braces with an unknown name or without a name. Throws
    /// `invalidCharacter` for characters that a quoted string of a playlist cannot contain.
    package init(parsing template: String) throws(SKDTemplateError) {
        self.init(source: template, parts: try KeyURIPart.parse(template))
    }

    /// The text of the template, even if a preset was named.
    package var template: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): "{\(field.rawValue)}"
            case .anything: "*"
            }
        }.joined()
    }

    /// Whether the text between the fields may stand in a URI (RFC 3986, section 2). Apps make no URL of other text.
    var isOfURI: Bool {
        parts.allSatisfy { part in
            guard case .text(let text) = part else { return true }
            return text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || ASCII.has("-._~:/?#@!$&'()*+,;=%", $0) }
                && PercentEncoding.decode(Array(text.utf8)) != nil
        }
    }

    /// The fields, each of them once, in their order.
    var fields: [KeyURIField] {
        parts.reduce(into: []) { fields, part in
            if case .field(let field) = part, !fields.contains(field) { fields.append(field) }
        }
    }

    /// Whether each URL names a key id.
    var namesKeyID: Bool {
        parts.contains { if case .field(let field) = $0 { field.namesKey } else { false } }
    }

    /// Whether a URL contains the key's initialization vector, directly or within JSON.
    package var needsIV: Bool { parts.contains(.field(.iv)) || parts.contains(.field(.json)) }

    /// Whether the template contains the host of the license server.
    package var needsAuthority: Bool { parts.contains(.field(.authority)) }

    /// Returns the URL of a key. Throws `fieldMissing` if the key has no value for a field, `notToldApart` if another
    /// key of the content could have the same URL, and `tooLong` if the URL is too long.
    package func url(for names: SKDNames) throws(SKDTemplateError) -> String {
        if names.trackLabel != nil, !tellsApart(.track) { throw .notToldApart(.track) }
        if names.periodIndex != nil, !tellsApart(.period) { throw .notToldApart(.period) }
        return try text(for: names)
    }

    /// Whether keys of a content that differ in this part have different URLs.
    package func tellsApart(_ part: SKDTemplateError.Part) -> Bool { namesKeyID || needs(part) }

    /// Whether keys without this part have no URL.
    package func needs(_ part: SKDTemplateError.Part) -> Bool {
        parts.contains(.field(part == .track ? .track : .period))
    }

    /// Returns the text of a template that need not be a whole URL. Throws `fieldMissing` and `tooLong`.
    package func text(for names: SKDNames) throws(SKDTemplateError) -> String {
        var url = ""
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .anything: url += "*"
            case .field(let field):
                guard let value = field.value(names) else { throw .fieldMissing(field.rawValue) }
                url += value
            }
        }
        guard url.utf8.count <= Self.urlSizeMaximum else { throw .tooLong(url.utf8.count) }
        return url
    }
}

extension KeyURIField {
    /// Returns the value of the field; nil if the key has none.
    fileprivate func value(_ names: SKDNames) -> String? {
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
    /// The host of the license server, with a port if it needs one.
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
package enum SKDTemplateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A name in braces is not a field, or an opening brace has no closing one.
    case unknownField
    /// A character is a space, a quotation mark, a closing brace without an opening one, or not printable ASCII.
    case invalidCharacter
    /// The template has a field for which this key has no value.
    case fieldMissing(String)
    /// The URL has more than 200 bytes. The value is its size.
    case tooLong(Int)
    /// The template does not begin with `skd:`.
    case otherScheme
    /// The template has no field that names a key or a content.
    case namesNothing
    /// The key has a track or a period, and the template has no field for it and none for the key id.
    case notToldApart(Part)
    /// Nothing separates this field from its neighbours, so it could not be read again. `instead` is a template that
    /// can be read; nil if there is none.
    case notReadable(String, instead: String?)
    /// The URLs would name something else than their keys.
    case misread(instead: String)

    package enum Part: String, CaseIterable, Sendable {
        case track
        case period
    }

    /// Words for the log.
    package var description: String {
        switch self {
        case .unknownField: "it has braces with a name that is no field, or a brace without its partner"
        case .invalidCharacter: "it has a character that a key URI must not have"
        case .fieldMissing(let name): "the key has no value for its field \(name)"
        case .tooLong(let size): "the key URI would have \(size) bytes, more than 200"
        case .otherScheme: "it must begin with \"skd:\""
        case .namesNothing: "it names no key: it needs {kid}, {kidHex}, {kidBase64}, {json} or {contentId}"
        case .notToldApart(let part):
            "the key has a \(part.rawValue), and keys.skdTemplate has neither {\(part.rawValue)} nor {kid}, so that"
                + " another key of the content could have the same key URI"
        case .notReadable(let field, let instead):
            "{\(field)} cannot be read again, because its value may have the characters beside it too: put another one"
                + " there, such as \"/\"" + (instead.map { "; \"\($0)\" would work" } ?? "")
        case .misread(let instead):
            "the server would take its key URIs for those of other keys; \"\(instead)\" would work"
        }
    }
}
