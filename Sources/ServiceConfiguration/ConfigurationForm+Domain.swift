import ByteCoding
import ContentKeys

// The forms of values that belong to one domain; general ones are in ConfigurationForm.swift.

extension ConfigurationForm<String> {
    /// A name for logs, metrics and messages: 1 to 64 letters, digits, dots, hyphens and underscores.
    static var name: ConfigurationForm {
        .string("a name of 1 to 64 letters, digits, \".\", \"-\" and \"_\"", example: "node-1") { text in
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isNameByte) ? text : nil
        }
    }

    /// A text that tokens may contain too: 1 to `sizeMaximum` visible ASCII characters.
    static func identifier(example: String, sizeMaximum: Int = 256) -> ConfigurationForm {
        .string("a text of 1 to \(sizeMaximum) visible ASCII characters", example: example) { text in
            (1...sizeMaximum).contains(text.utf8.count) && text.utf8.allSatisfy(isVisible) ? text : nil
        }
    }

    /// A content id, or a prefix that ends with an asterisk. An asterisk alone stands for every content.
    static var contentScope: ConfigurationForm {
        .string(
            "a content id of 1 to 200 visible ASCII characters, or a prefix of content ids that ends with \"*\"",
            example: "live/*"
        ) { text in
            (1...201).contains(text.utf8.count) && text.utf8.allSatisfy(isVisible)
                && (text.hasSuffix("*") || text.utf8.count <= 200) ? text : nil
        }
    }

    /// An absolute URL without query and fragment. A slash at its end is removed, so that paths can be appended.
    static var publicURL: ConfigurationForm {
        .string("an https: or http: URL without query and fragment", example: "https://keys.example.com") { text in
            let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
            guard let scheme, text.utf8.count <= 1024 else { return nil }
            let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
            let rest = trimmed.utf8.dropFirst(scheme.utf8.count)
            let isPlain = rest.allSatisfy { isVisible($0) && !#""<>\^`{|}?#@"#.utf8.contains($0) }
            guard isPlain, let first = rest.first, first != UInt8(ascii: "/"), first != UInt8(ascii: ":") else {
                return nil
            }
            return trimmed
        }
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F
    }
}

extension ConfigurationForm<String> {
    /// The path of a file that is not a secret and not a credential. A relative path is relative to `directory`.
    static func path(in directory: String, example: String) -> ConfigurationForm {
        .string("a file's path", example: example) { text in
            (1...4000).contains(text.utf8.count) && !text.utf8.contains(0)
                ? FilePath.resolve(text, relativeTo: directory) : nil
        }
    }

    /// The name of a user of this machine, in the form that useradd accepts.
    static var userName: ConfigurationForm {
        .string("the name of a user", example: "latchkey-ladder") { text in
            (1...32).contains(text.utf8.count) && text.utf8.allSatisfy(\.isNameByte) ? text : nil
        }
    }
}

extension ConfigurationForm<Int64> {
    /// A time, in whole seconds since 1970. A fraction of a second is cut off.
    package static var time: ConfigurationForm {
        .string(
            "a time as RFC 3339 writes it", example: "2027-01-31T12:00:00Z",
            write: { UnixTime(seconds: $0).map { RFC3339.format($0) } ?? "" },
            parse: { text in (try? RFC3339.parse(text))?.seconds })
    }
}

extension ConfigurationForm<SecretSource> {
    /// The source of a file. A relative path is relative to `directory`.
    package static func file(in directory: String, example: String) -> ConfigurationForm {
        .string("a file's path, credential:NAME or environment:VARIABLE", example: example) {
            SecretSource($0, relativeTo: directory)
        }
    }
}

extension ConfigurationForm<SKDTemplate> {
    /// The URL of keys in playlists: the name of a preset, or a template whose URLs lead back to their keys.
    static var skdTemplate: ConfigurationForm {
        let presets = SKDTemplate.Preset.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return ConfigurationForm(
            expected:
                "one of \(presets), or an skd: URI of at most \(SKDTemplate.urlSizeMaximum) characters (RFC 3986), with {kid}, {kidHex}, {kidBase64}, {contentId} or {json} in it, and"
                + " optionally {iv}, {period}, {track} and {authority}",
            example: JSONNode.quoted(SKDTemplate.standard.source),
            read: { node in
                guard let text = node.string else { return .wrongType }
                do throws(SKDTemplateError) {
                    let template = try SKDTemplate(presetOrTemplate: text)
                    try template.checkThatItLeadsBack()
                    return .value(template)
                } catch {
                    return error.isAboutReading ? .fault(.keyURI(error)) : .invalid
                }
            }, write: { JSONNode.quoted($0.source) })
    }
}

extension ConfigurationForm<AssetForm> {
    /// A form of asset ids of an older service.
    static var assetForm: ConfigurationForm {
        ConfigurationForm(
            expected: "a key URI of at most \(AssetForm.sizeMaximum) printable characters with {kid} or {content} in"
                + " it, and optionally {track}, {period} and \"*\"",
            example: #""skd://*/getckc?ContentId={content}&KeyId={kid}""#,
            read: { node in
                guard let text = node.string else { return .wrongType }
                do throws(SKDTemplateError) {
                    return .value(try AssetForm(parsing: text))
                } catch {
                    return error.isAboutReading ? .fault(.keyURI(error)) : .invalid
                }
            }, write: { JSONNode.quoted($0.source) })
    }
}

extension SKDTemplateError {
    /// Whether the text is a template or a form, but what it stands for cannot be read.
    fileprivate var isAboutReading: Bool {
        switch self {
        case .notReadable, .misread, .namesNothing: true
        case .unknownField, .invalidCharacter, .fieldMissing, .tooLong, .otherScheme, .notToldApart: false
        }
    }
}
