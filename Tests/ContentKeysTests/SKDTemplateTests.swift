import ByteCoding
import ContentKeys
import TestSupport
import Testing

/// Tests that key URLs are written correctly and can be read again (packagers, section 4).
@Suite struct SKDTemplateTests {
    private let names: SKDNames

    init() throws {
        names = SKDNames(
            contentID: try ContentID("Movie+1/~"),
            keyID: try KeyID(parsing: "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"),
            iv: Bytes16(high: 0x0F1E_2D3C_4B5A_6978, low: 0x8796_A5B4_C3D2_E1F0), periodIndex: 42,
            trackLabel: try TrackLabel("SD+HD1"), authority: "keys.example.com:8443")
    }

    @Test(
        arguments: [
            (SKDTemplate.Preset.uuid, "skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"),
            (.uuidIV, "skd://7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11:0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
            (.hex, "skd://7b1d0c9e52a44e0b9c610a5f3b8d2e11"), (.content, "skd://Movie%2B1%2F~"),
            (.licenseURL, "skd://keys.example.com:8443/fps/v1/license/7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"),
            (.ezdrm, "skd://keys.example.com:8443/;7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"),
            (
                .awsJSON,
                "skd://eyJDb250ZW50SWQiOiJNb3ZpZSsxL34iLCJLZXlJZCI6IjdiMWQwYzllLTUyYTQtNGUwYi05YzYxLTBhNWYz"
                    + "YjhkMmUxMSIsIklWIjoiRHg0dFBFdGFhWGlIbHFXMHc5TGg4QT09In0="
            ),
            (.shakaBase64, "skd://ex0MnlKkTgucYQpfO40uEQ=="),
        ])
    func writesEveryPreset(preset: SKDTemplate.Preset, url: String) throws {
        #expect(try SKDTemplate(presetOrTemplate: preset.rawValue).text(for: names) == url)
        #expect(try SKDTemplate(parsing: preset.template).text(for: names) == url)
    }

    /// A player sends the whole URL, or the part after the scheme, in UTF-8 or UTF-16LE.
    @Test(arguments: SKDTemplate.Preset.allCases)
    func readsWhatItWrites(preset: SKDTemplate.Preset) throws {
        // The preset "content" is for contents with one key.
        let names = preset == .content ? SKDNames(contentID: names.contentID, keyID: names.keyID, iv: names.iv) : names
        let expected: AssetCandidate = preset == .content ? .contentID(names.contentID) : .keyID(names.keyID)
        let template = try SKDTemplate(presetOrTemplate: preset.rawValue)
        try template.checkThatItLeadsBack()
        let url = try template.url(for: names)
        for text in [url, String(url.dropFirst("skd://".count))] {
            for bytes in [Array(text.utf8), text.utf8.flatMap { [$0, 0] as [UInt8] }] {
                let candidates = AssetReference(try AssetID(bytes: bytes)).candidates
                #expect(candidates.contains(expected), "\(text)")
                let others = candidates.filter { if case .keyID = $0 { $0 != expected } else { false } }
                #expect(others.isEmpty, "\(text) names no other key")
            }
        }
    }

    /// Any key id can be read: the Base64 of some has "/" and "+", which have a special meaning in paths and queries.
    @Test func readsTheBase64OfAnyKeyID() throws {
        var names = names
        for byte in UInt8.min...UInt8.max {
            names.keyID = try #require(KeyID(bytes: [UInt8](repeating: byte, count: 16)))
            let url = try SKDTemplate(presetOrTemplate: "shaka-base64").url(for: names)
            let candidates = AssetReference(try AssetID(bytes: Array(url.utf8))).candidates
            #expect(candidates.contains(.keyID(names.keyID)), "\(url)")
        }
    }

    @Test func fillsEveryField() throws {
        let template = try SKDTemplate(
            parsing: "skd://{authority}/{contentId}/{track}/{period}?kid={kidHex}&iv={iv}#{kid}")
        #expect(
            try template.url(for: names)
                == "skd://keys.example.com:8443/Movie%2B1%2F~/SD%2BHD1/42?kid=7b1d0c9e52a44e0b9c610a5f3b8d2e11"
                + "&iv=0f1e2d3c4b5a69788796a5b4c3d2e1f0#7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11")
    }

    @Test func hasAStandard() throws {
        #expect(try SKDTemplate.standard.url(for: names) == "skd://\(names.keyID)")
        #expect(try SKDTemplate(parsing: "skd://{kid}") == .standard)
    }

    @Test(arguments: ["period", "track", "authority"])
    func needsAValueForEachField(field: String) throws {
        let bare = SKDNames(contentID: names.contentID, keyID: names.keyID, iv: names.iv)
        #expect(throws: SKDTemplateError.fieldMissing(field)) {
            _ = try SKDTemplate(parsing: "skd://{kid}/{\(field)}").url(for: bare)
        }
    }

    @Test(arguments: ["skd://{}", "skd://{KID}", "skd://{kid", "{", "skd://{kid }", "{kid{iv}}"])
    func refusesUnknownFields(template: String) {
        #expect(throws: SKDTemplateError.unknownField) { _ = try SKDTemplate(parsing: template) }
    }

    @Test(arguments: [
        "skd://\"{kid}", "skd://a b", "skd://\r\n{kid}", "skd://\u{E9}", "skd://{kid}}", "}{kid}", "\u{7F}",
    ])
    func refusesWhatAPlaylistCannotHold(template: String) {
        #expect(throws: SKDTemplateError.invalidCharacter) { _ = try SKDTemplate(parsing: template) }
    }

    @Test func boundsTheURL() throws {
        let text = "skd://" + String(repeating: "a", count: 200 - 6 - 36)
        #expect(try SKDTemplate(parsing: text + "{kid}").url(for: names).utf8.count == 200)
        #expect(throws: SKDTemplateError.tooLong(201)) { _ = try SKDTemplate(parsing: text + "a{kid}").url(for: names) }
    }

    // MARK: - Every URL leads back

    /// Templates that operators write.
    static let templates = [
        "skd://{kid}?track={track}", "skd://{contentId}/{track}", "skd://{kid}?iv={iv}", "skd://{kid}/{track}",
        "skd://{contentId}:{track}", "skd://h/x?cid={contentId}&kid={kid}", "skd://h/{kid}?cid={contentId}",
        "skd://{kid}", "skd://{kidHex}", "skd:{kid}", "skd://{contentId}", "skd://{contentId}/{kid}",
        "skd://{kid}/{iv}", "skd://{kidHex}/{iv}", "skd://{kidHex}:{iv}", "skd://{iv}/{kid}", "skd://{kid}{iv}",
        "skd://{kid}-{track}", "skd://{track}-{kid}", "skd://{contentId}-{kid}", "skd://{kid}.{period}",
        "skd://{contentId}/{track}/{period}", "skd://{contentId}/{period}/{track}",
        "skd://{contentId}-{period}/{track}",
        "skd://{contentId}?track={track}&period={period}", "skd://h/?p={period}&t={track}&c={contentId}",
        "skd://{authority}/{contentId}/{track}", "skd://{authority}/fps/license/{kid}?content={contentId}",
        "skd://{authority}/{contentId}-{period}?label={track}", "skd://{contentId};{track}",
        "skd://{contentId},{track}",
        "skd://{contentId}+{track}", "skd://{contentId}!{track}@{period}",
        "skd://{contentId}=={track}", "skd://film?{contentId}/{track}", "skd://{kidBase64}/{track}", "skd://{json}",
        "skd://h/{json}?track={track}", "skd://h/{kid}#{track}", "skd://h/x?id={kid}", "skd://h/x?key={kidHex}",
        "skd://h/x?asset={contentId}:{track}", "skd://{contentId}-{track}/{kid}", "skd://v1.{contentId}/{track}.mp4",
        "skd://KEYS/{contentId}/Track/{track}", "skd://{period}{contentId}/{track}/{kid}", "skd:///{contentId}/{track}",
        "skd://h/x?cid={contentId}", "skd://{authority}?cid={contentId}",
        "skd://drmtoday?assetId={contentId}&variantId={track}", "skd://h/x?contentId={contentId}&period={period}",
        "skd://{contentId}/{track}/{track}", "skd://{kid}/{kidHex}", "skd://h/{contentId}/{kid}/{period}/{iv}",
    ]

    /// Whatever names a key has, its URL leads back to it, also beside keys with similar names.
    @Test(arguments: templates)
    func leadsBack(template text: String) throws {
        let template = try SKDTemplate(parsing: text)
        try template.checkThatItLeadsBack()
        var generator = SeededGenerator.announced("leadsBack \(text)")
        let forms = AssetForms(template: template)
        var written = 0
        for _ in 0..<80 {
            let names = Self.names(with: &generator, for: text)
            guard let url = try? template.url(for: names) else { continue }
            written += 1
            #expect(template.leadsBack(url, names, forms), "\(url)")
            let prefix = url.hasPrefix("skd://") ? "skd://" : "skd:"
            let bare = String(url.dropFirst(prefix.count))
            // A content id of one byte alone is too short for an asset id.
            #expect(bare.utf8.count < 2 || template.leadsBack(bare, names, forms), "\(url)")
        }
        #expect(written > 20)
    }

    /// Random texts in braces and separators: what the check accepts leads back.
    @Test func leadsBackWheneverItIsAccepted() throws {
        var generator = SeededGenerator.announced("leadsBackWheneverItIsAccepted")
        let fields = ["contentId", "kid", "kidHex", "iv", "period", "track", "authority", "json", "kidBase64"]
        let separators = ["", "/", ":", "?a=", "&b=", "-", "_", "~", ";", "kid=", "?cid=", "&kid=", "#", "x", "%2F"]
        var accepted = 0
        for _ in 0..<400 {
            var text = "skd://"
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                text += separators.randomElement(using: &generator) ?? ""
                text += "{\(fields.randomElement(using: &generator) ?? "kid")}"
            }
            text += Bool.random(using: &generator) ? "" : separators.randomElement(using: &generator) ?? ""
            let template = try SKDTemplate(parsing: text)
            guard (try? template.checkThatItLeadsBack()) != nil else { continue }
            accepted += 1
            let forms = AssetForms(template: template)
            for _ in 0..<8 {
                let names = Self.names(with: &generator, for: text)
                guard let url = try? template.url(for: names) else { continue }
                #expect(template.leadsBack(url, names, forms), "\(text): \(url)")
            }
        }
        #expect(accepted > 60)
    }

    /// Random names that the template can write. Half of the contents have ids that look like key ids or links.
    private static func names(with generator: inout SeededGenerator, for template: String) -> SKDNames {
        func text(_ sizes: ClosedRange<Int>) -> String {
            let alphabet = "abcXYZ0129-._~/?&=:;,#%+{}|@!"
            let size = Int.random(in: sizes, using: &generator)
            return String((0..<size).compactMap { _ in alphabet.randomElement(using: &generator) })
        }
        func keyID() -> KeyID {
            KeyID(words: Bytes16(high: generator.next(), low: generator.next()))
        }
        let other = keyID()
        let contents = [
            text(1...30), text(1...30), other.description, other.hexadecimal, Base64.encode(other.bytes),
            "a/\(other)", "x?kid=\(other)", "\(other)/\(text(1...5))",
        ]
        let content = contents.randomElement(using: &generator) ?? "a"
        guard let contentID = try? ContentID(content), let label = try? TrackLabel(text(1...12)) else {
            preconditionFailure("the alphabet has only characters of names")
        }
        return SKDNames(
            contentID: contentID, keyID: keyID(), iv: keyID().words,
            periodIndex: template.contains("{period}") ? .random(in: 0...20, using: &generator) : nil,
            trackLabel: template.contains("{track}") ? label : nil, authority: "keys.example:8443")
    }

    @Test(arguments: [
        ("skd://{contentId}{track}", "contentId", "skd://{contentId}/{track}"),
        ("skd://{contentId}-{track}", "contentId", "skd://{contentId}/{track}"),
        ("skd://h/x?a={contentId}_{track}", "contentId", "skd://{contentId}/{track}"),
        ("skd://{track}a{contentId}/{iv}", "track", "skd://{track}/{contentId}"),
        ("skd://{contentId}{period}", "contentId", "skd://{contentId}/{period}"),
        ("skd://{contentId}-{kid}-{track}", "kid", "skd://{contentId}/{kid}/{track}"),
    ])
    func refusesWhatRunsTogether(template: String, field: String, instead: String) throws {
        #expect(throws: SKDTemplateError.notReadable(field, instead: instead)) {
            try SKDTemplate(parsing: template).checkThatItLeadsBack()
        }
        #expect(throws: Never.self) { try SKDTemplate(parsing: instead).checkThatItLeadsBack() }
    }

    /// Text of the template that is taken for another name.
    @Test(arguments: ["skd://h/x?kid=a&c={contentId}&t={track}", "skd://h/x?id={kid}&kid=0123"])
    func refusesWhatContradictsItself(template: String) throws {
        do throws(SKDTemplateError) {
            try SKDTemplate(parsing: template).checkThatItLeadsBack()
            Issue.record("\(template) is accepted")
        } catch .misread(let instead) {
            #expect(throws: Never.self) { try SKDTemplate(parsing: instead).checkThatItLeadsBack() }
        }
    }

    /// Two keys of a content never get one URL: without a field for the track or the period, such keys get none.
    @Test func writesNoURLThatAnotherKeyCouldHave() throws {
        #expect(throws: SKDTemplateError.notToldApart(.track)) {
            _ = try SKDTemplate(parsing: "skd://{contentId}").url(for: names)
        }
        #expect(throws: SKDTemplateError.notToldApart(.period)) {
            _ = try SKDTemplate(parsing: "skd://{contentId}/{track}").url(for: names)
        }
        #expect(try SKDTemplate(parsing: "skd://{kid}").url(for: names) == "skd://\(names.keyID)")
    }

    /// An app makes no URL of such a text (RFC 3986).
    @Test(arguments: [
        "skd://{kid}%", "skd://h/%zz/{kid}", "skd://h/[{kid}]", "skd://{kid}|x", "skd://{kid}%2", "skd:\\{kid}",
    ])
    func refusesWhatIsNoURI(template: String) throws {
        #expect(throws: SKDTemplateError.invalidCharacter) {
            try SKDTemplate(parsing: template).checkThatItLeadsBack()
        }
    }

    @Test(arguments: ["https://{kid}", "skd://kid", "skd://{track}/{iv}"])
    func refusesWhatNamesNoKey(template: String) throws {
        let expected: SKDTemplateError = template.hasPrefix("skd") ? .namesNothing : .otherScheme
        #expect(throws: expected) { try SKDTemplate(parsing: template).checkThatItLeadsBack() }
    }
}
