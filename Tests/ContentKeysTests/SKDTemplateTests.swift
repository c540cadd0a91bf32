import ByteCoding
import ContentKeys
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
        #expect(try SKDTemplate(presetOrTemplate: preset.rawValue).url(for: names) == url)
        #expect(try SKDTemplate(parsing: preset.template).url(for: names) == url)
    }

    /// A player sends the whole URL, or the part after the scheme, in UTF-8 or UTF-16LE.
    @Test(arguments: SKDTemplate.Preset.allCases)
    func readsWhatItWrites(preset: SKDTemplate.Preset) throws {
        let url = try SKDTemplate(presetOrTemplate: preset.rawValue).url(for: names)
        let expected: AssetCandidate = preset == .content ? .contentID(names.contentID) : .keyID(names.keyID)
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
            _ = try SKDTemplate(parsing: "skd://{\(field)}").url(for: bare)
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
}
