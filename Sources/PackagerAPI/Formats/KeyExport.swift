package import ByteCoding
package import ContentKeys
import KeyCrypto

/// The forms of keys for packagers that do not speak SPEKE (packagers, sections 2 and 7).
package enum KeyExportFormat: String, Hashable, Sendable, CaseIterable {
    /// A JSON object with the content and all attributes of each key.
    case json
    /// Options of Shaka Packager, one line for each key. A run has one key URL for all labels, so each track needs a
    /// run of its own.
    case shaka
    /// The encryption section of a pipeline of Shaka Streamer, in YAML. It has room for one IV, so it takes one key.
    case shakaStreamer = "shaka-streamer"
    /// Options of Bento4, one line for each key: for `mp4-dash.py`, or for `mp42hls` if the key is for transport
    /// streams.
    case bento4
    /// Options of `mp4-dash.py`, also if the key is for transport streams.
    case bento4DASH = "bento4-dash"
    /// Options of `mp42hls`, which makes transport streams.
    case bento4HLS = "bento4-hls"
    /// The DRM file of GPAC's `cecrypt`, which encrypts with one key in a run. So it takes one key.
    case gpac
    /// The document that nginx-vod-module reads over HTTP: a JSON array with one object. So it takes one key.
    case nginxVOD = "nginx-vod"
    /// A `.key` file of Wowza Streaming Engine, for one key.
    case wowza
    /// Options of Unified Streaming's `mp4split`, one line for each key.
    case usp
    /// `HlsEncryptionSettings` of AWS MediaConvert, for one key.
    case mediaConvert = "mediaconvert"
    /// The DRM configuration of Bitmovin, for one key.
    case bitmovin
    /// The key file of Apple's `mediafilesegmenter`: 16 bytes of key and 16 bytes of IV. So it takes one key.
    case mediaFileSegmenter = "mediafilesegmenter"
    /// A CPIX document with the keys in the clear.
    case cpix
    /// The lines of the media playlist and of the multivariant playlist for each key. They do not contain the key.
    case hls

    /// The media type of the document.
    package var contentType: String {
        switch self {
        case .shaka, .bento4, .bento4DASH, .bento4HLS, .wowza, .usp, .hls: "text/plain; charset=utf-8"
        case .shakaStreamer: "application/yaml"
        case .json, .nginxVOD, .mediaConvert, .bitmovin: "application/json"
        case .mediaFileSegmenter: "application/octet-stream"
        case .gpac, .cpix: "application/xml"
        }
    }

    /// Whether the form has room for one key only.
    package var takesOneKey: Bool {
        switch self {
        case .shakaStreamer, .gpac, .nginxVOD, .wowza, .mediaConvert, .bitmovin, .mediaFileSegmenter: true
        case .json, .shaka, .bento4, .bento4DASH, .bento4HLS, .usp, .cpix, .hls: false
        }
    }

    /// Whether a packager makes FairPlay streams of the form, so that it takes only keys of FairPlay's schemes. The
    /// other forms take keys of every scheme.
    package var isForFairPlay: Bool {
        switch self {
        case .shaka, .shakaStreamer, .bento4, .bento4DASH, .bento4HLS, .gpac, .wowza, .usp, .mediaConvert, .bitmovin,
            .mediaFileSegmenter, .hls:
            true
        case .json, .nginxVOD, .cpix: false
        }
    }

    /// Whether the form has a place for a key without a URL, or for no URL at all.
    fileprivate var takesKeysWithoutURL: Bool {
        switch self {
        case .json, .nginxVOD, .mediaFileSegmenter: true
        case .shaka, .shakaStreamer, .bento4, .bento4DASH, .bento4HLS, .gpac, .wowza, .usp, .mediaConvert, .bitmovin,
            .cpix, .hls:
            false
        }
    }

    /// Whether the form contains no key.
    package var isPublic: Bool { self == .hls }
}

/// Why keys cannot be written in a form.
package enum KeyExportError: Error, Equatable, Sendable {
    case noKey
    /// The form takes one key, and more are given.
    case oneKeyOnly
    /// The keys belong to several contents.
    case severalContents
    case url(SKDTemplateError)
    /// Two keys would have the same URL.
    case sharedURL
    /// The form is for FairPlay, which does not play the scheme of this key.
    case schemeNotPlayed(KeyID, EncryptionScheme)
    /// The keys make no valid encryption contract: for example, two keys have the same track and period.
    case contract(CPIXError)
}

/// Keys of one content in a packager's form.
package struct KeyExport {
    private var keys: [Entry] = []
    /// Why the first key without a URL has none; nil if all keys have one.
    private var fault: KeyExportError?
    private let urls: SKDTemplate
    private let authority: String?

    private struct Entry {
        let record: ContentKeyRecord
        /// Nil if the template gives the key no URL of its own.
        var ownURL: String?

        var url: String { ownURL ?? "" }
        var keyID: String { record.keyID.hexadecimal }
        var key: String { Hexadecimal.encode(record.key.bytes.revealed()) }
        var iv: String { Hexadecimal.encode(record.iv.bytes) }
    }

    /// Throws `noKey` and `severalContents`. A key for which the template gives no URL, or that of another key, is
    /// written without one in forms that allow it.
    package init(_ records: [ContentKeyRecord], urls: SKDTemplate, authority: String?) throws(KeyExportError) {
        guard let first = records.first else { throw .noKey }
        guard records.allSatisfy({ $0.contentID == first.contentID }) else { throw .severalContents }
        self.urls = urls
        self.authority = authority
        for record in records {
            do throws(SKDTemplateError) {
                let url = try urls.url(for: SKDNames(of: record, authority: authority))
                keys.append(Entry(record: record, ownURL: url))
            } catch {
                fault = fault ?? .url(error)
                keys.append(Entry(record: record))
            }
        }
        let counts = keys.reduce(into: [:] as [String: Int]) { $0[$1.url, default: 0] += 1 }
        for index in keys.indices where keys[index].ownURL != nil && counts[keys[index].url, default: 0] > 1 {
            fault = fault ?? .sharedURL
            keys[index].ownURL = nil
        }
    }

    /// Returns the document. All forms except `hls` contain keys, so the document must only be given to the packager.
    ///
    /// Throws `oneKeyOnly`, `schemeNotPlayed` and `contract`, and `url` and `sharedURL` if the form needs URLs.
    package func document(_ format: KeyExportFormat) throws(KeyExportError) -> [UInt8] {
        if let fault, !format.takesKeysWithoutURL { throw fault }
        guard !format.takesOneKey || keys.count == 1 else { throw .oneKeyOnly }
        if format.isForFairPlay, let other = keys.first(where: { !$0.record.attributes.scheme.isFairPlay }) {
            throw .schemeNotPlayed(other.record.keyID, other.record.attributes.scheme)
        }
        return switch format {
        case .json: JSONWriter.object { writeMembers(to: &$0) }
        case .shaka: lines { Self.shaka($0) }
        case .shakaStreamer: lines { Self.shakaStreamer($0) }
        case .bento4: lines { Self.bento4($0) }
        case .bento4DASH: lines { Self.bento4DASH($0) }
        case .bento4HLS: lines { Self.bento4HLS($0) }
        case .gpac: lines { Self.gpac($0) }
        case .nginxVOD: nginxVOD()
        case .wowza: lines { Self.wowza($0) }
        case .usp: lines { Self.usp($0) }
        case .mediaConvert: keys.flatMap { Self.mediaConvert($0) }
        case .bitmovin: keys.flatMap { Self.bitmovin($0) }
        case .mediaFileSegmenter: keys.flatMap { $0.record.key.bytes.revealed() + $0.record.iv.bytes }
        case .cpix: try cpix()
        case .hls: lines { Self.hls($0) }
        }
    }

    /// Writes the members of the form `json`: `contentId` and `keys`.
    ///
    /// `outcomes` has the outcome of the request for each key. It is empty if the keys were not requested.
    package func writeMembers(to writer: inout JSONWriter, outcomes: [String] = []) {
        writer.member("contentId", keys[0].record.contentID.text)
        writer.array("keys") { writer in
            for (index, entry) in keys.enumerated() {
                writer.object { writer in
                    Self.writeMembers(of: entry, to: &writer)
                    if index < outcomes.count { writer.member("outcome", outcomes[index]) }
                }
            }
        }
    }

    private static func writeMembers(of entry: Entry, to writer: inout JSONWriter) {
        let attributes = entry.record.attributes
        writer.member("kid", entry.record.keyID.description)
        writer.member("track", attributes.trackLabel?.text)
        writer.member("contentType", attributes.contentType.rawValue)
        writer.member("period", attributes.periodIndex.map { Int64($0) })
        writer.member("scheme", attributes.scheme.rawValue)
        writer.member("hdcp", attributes.leastHDCP?.rawValue)
        writer.member("securityLevel", attributes.leastSecurityLevel?.rawValue)
        writer.member("key", entry.key)
        writer.member("iv", entry.iv)
        writer.member("url", entry.ownURL)
    }

    private func lines(_ text: (Entry) -> String) -> [UInt8] {
        keys.flatMap { Array(text($0).utf8) + [UInt8(ascii: "\n")] }
    }

    // MARK: - Options and files

    /// Without `--clear_lead 0` the first seconds are not encrypted. Without an IV the packager makes a random one and
    /// does not print it. Without `--create_session_keys` the multivariant playlist has no key, so players cannot ask
    /// for the license before they read a media playlist, and downloads do not find it.
    private static func shaka(_ entry: Entry) -> String {
        "--protection_scheme cbcs --protection_systems FairPlay --enable_raw_key_encryption --clear_lead 0"
            + " --create_session_keys --keys label=:key_id=\(entry.keyID):key=\(entry.key):iv=\(entry.iv)"
            + " --hls_key_uri \(quoted(entry.url))"
    }

    private static func shakaStreamer(_ entry: Entry) -> String {
        """
        encryption:
          enable: true
          encryption_mode: raw
          protection_scheme: cbcs
          protection_systems:
            - FairPlay
          clear_lead: 0
          keys:
            - key_id: "\(entry.keyID)"
              key: "\(entry.key)"
          iv: "\(entry.iv)"
          hls_key_uri: '\(entry.url.replacing("'", with: "''"))'
        """
    }

    private static func bento4(_ entry: Entry) -> String {
        entry.record.attributes.scheme == .sampleAES ? bento4HLS(entry) : bento4DASH(entry)
    }

    private static func bento4DASH(_ entry: Entry) -> String {
        "--hls --encryption-cenc-scheme=cbcs --encryption-key=\(entry.keyID):\(entry.key):\(entry.iv)"
            + " --fairplay-key-uri=\(quoted(entry.url))"
    }

    private static func bento4HLS(_ entry: Entry) -> String {
        "--encryption-mode SAMPLE-AES --encryption-iv-mode fps --encryption-key \(entry.key)\(entry.iv)"
            + " --encryption-key-uri \(quoted(entry.url))"
            + " --encryption-key-format \(HLSKeyLine.fairPlayKeyFormat) --encryption-key-format-versions 1"
    }

    /// Without the pattern, which encrypts one block in ten, all blocks of the video would be encrypted.
    private static func gpac(_ entry: Entry) -> String {
        let attributes = entry.record.attributes
        let pattern = attributes.contentType == .audio ? "" : " crypt_byte_block=\"1\" skip_byte_block=\"9\""
        let line =
            "URI=\"\(entry.url)\",KEYFORMAT=\"\(HLSKeyLine.fairPlayKeyFormat)\",KEYFORMATVERSIONS=\"1\""
        let escaped = line.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("'", with: "&apos;")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <GPACDRM type="\(attributes.scheme == .sampleAES ? "HLS SAES" : "cbcs")">
              <CrypTrack IsEncrypted="1" constant_IV_size="16" constant_IV="0x\(entry.iv)" saiSavedBox="senc"\(pattern)>
                <key KID="0x\(entry.keyID)" value="0x\(entry.key)" hlsInfo='\(escaped)'/>
              </CrypTrack>
            </GPACDRM>
            """
    }

    private func nginxVOD() -> [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for entry in keys {
                writer.object { writer in
                    writer.member("key", Base64.encode(entry.record.key.bytes.revealed()))
                    writer.member("key_id", Base64.encode(entry.record.keyID.bytes))
                    writer.member("iv", Base64.encode(entry.record.iv.bytes))
                }
            }
        }
        return writer.bytes
    }

    private static func wowza(_ entry: Entry) -> String {
        """
        cupertinostreaming-aes128-method: SAMPLE-AES
        cupertinostreaming-aes128-url: \(entry.url)
        cupertinostreaming-aes128-key: \(entry.key)
        cupertinostreaming-aes128-iv: \(entry.iv)
        cupertinostreaming-aes128-iv-include-in-chunklist: false
        cupertinostreaming-aes128-key-format: \(HLSKeyLine.fairPlayKeyFormat)
        cupertinostreaming-aes128-key-format-version: 1
        """
    }

    /// Adds the `iss` options, which are for fragmented MP4, unless the key is for transport streams.
    private static func usp(_ entry: Entry) -> String {
        let fragmented =
            entry.record.attributes.scheme == .sampleAES
            ? "" : " --iss.key=\(entry.keyID):\(entry.key) --iss.key_iv=\(entry.iv)"
        return "--hls.key=:\(entry.key) --hls.key_iv=\(entry.iv) --hls.license_server_url=\(quoted(entry.url))"
            + " --hls.playout=sample_aes_streamingkeydelivery" + fragmented
    }

    private static func mediaConvert(_ entry: Entry) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("EncryptionMethod", "SAMPLE_AES")
            writer.member("Type", "STATIC_KEY")
            writer.member("ConstantInitializationVector", entry.iv)
            writer.member("InitializationVectorInManifest", "EXCLUDE")
            writer.member("OfflineEncrypted", "ENABLED")
            writer.object("StaticKeyProvider") { writer in
                writer.member("KeyFormat", HLSKeyLine.fairPlayKeyFormat)
                writer.member("KeyFormatVersions", "1")
                writer.member("StaticKeyValue", entry.key)
                writer.member("Url", entry.url)
            }
        }
    }

    /// Bitmovin's `CencDrm` with `CencFairPlay`, or `FairPlayDrm` for transport streams.
    private static func bitmovin(_ entry: Entry) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("key", entry.key)
            guard entry.record.attributes.scheme != .sampleAES else {
                writer.member("iv", entry.iv)
                writer.member("uri", entry.url)
                return
            }
            writer.member("kid", entry.keyID)
            writer.member("encryptionMode", "CBC")
            writer.object("fairPlay") { writer in
                writer.member("iv", entry.iv)
                writer.member("uri", entry.url)
            }
        }
    }

    private static func hls(_ entry: Entry) -> String {
        let line = HLSKeyLine.fairPlay(url: entry.url)
        return line.mediaLine + "\n" + line.multivariantLine
    }

    /// Quotes the text as one word for a POSIX shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }

    // MARK: - CPIX

    /// The CPIX document that would answer a request for these keys.
    private func cpix() throws(KeyExportError) -> [UInt8] {
        let hasTransportStreams = keys.contains { $0.record.attributes.scheme == .sampleAES }
        let version: SPEKEVersion = hasTransportStreams ? .v21 : .v20
        do throws(CPIXError) {
            let request = try CPIXRequestReader(
                root: ExportedDocument(records: keys.map(\.record), version: version).root, version: version
            ).read()
            let given = keys.map { PackagedKey($0.record) }
            return try CPIXAnswer(to: request, keys: given, urls: urls, authority: authority).bytes
        } catch {
            throw .contract(error)
        }
    }
}

/// A request of SPEKE v2 for these keys, which exist already.
private struct ExportedDocument {
    let records: [ContentKeyRecord]
    let version: SPEKEVersion

    var root: MarkupElement {
        var lists = [
            element("ContentKeyList", records.map(key)), element("DRMSystemList", records.flatMap(systems)),
            element("ContentKeyUsageRuleList", records.map(rule)),
        ]
        let periods = Set(records.compactMap(\.attributes.periodIndex)).sorted().map { index in
            element("ContentKeyPeriod", ["id": Self.periodID(index), "index": String(index)])
        }
        if !periods.isEmpty { lists.insert(element("ContentKeyPeriodList", periods), at: 2) }
        let contentID = records.first?.contentID.text ?? ""
        var root = element("CPIX", ["contentId": contentID, "version": version.documentVersion ?? ""], lists)
        root.declare(NamespaceDeclaration(prefix: "cpix", uri: CPIXNamespace.cpix))
        return root
    }

    private func key(_ record: ContentKeyRecord) -> MarkupElement {
        let scheme: CommonEncryptionScheme =
            switch record.attributes.scheme {
            case .cbcs: .cbcs
            case .sampleAES: .sampleAES
            case .cenc: .cenc
            case .cens: .cens
            case .cbc1: .cbc1
            }
        return element(
            "ContentKey", ["kid": record.keyID.description, "commonEncryptionScheme": scheme.rawValue])
    }

    /// FairPlay if it plays the key's scheme, and otherwise the systems that do.
    private func systems(_ record: ContentKeyRecord) -> [MarkupElement] {
        let systems: [DRMSystem] = record.attributes.scheme.isFairPlay ? [.fairPlay] : [.widevine, .playReady]
        return systems.map { system in
            element("DRMSystem", ["kid": record.keyID.description, "systemId": system.identifier.description])
        }
    }

    private func rule(_ record: ContentKeyRecord) -> MarkupElement {
        let track = record.attributes.track
        let period = record.attributes.periodIndex.map { index in
            element("KeyPeriodFilter", ["periodId": Self.periodID(index)])
        }
        let filters =
            track.label == nil
            ? [element("VideoFilter"), element("AudioFilter")] : [filter(of: track.contentType)]
        return element(
            "ContentKeyUsageRule",
            ["kid": record.keyID.description, "intendedTrackType": track.label?.text ?? UsageRule.allTracks],
            [period].compactMap { $0 } + filters)
    }

    private func filter(of type: ContentType) -> MarkupElement {
        switch type {
        case .audio: element("AudioFilter")
        case .sd: element("VideoFilter", ["maxPixels": String(RangeFilter.pixelsOfSD)])
        case .hd:
            element(
                "VideoFilter",
                ["minPixels": String(RangeFilter.pixelsOfSD + 1), "maxPixels": String(RangeFilter.pixelsOfHD)])
        case .uhd: element("VideoFilter", ["minPixels": String(RangeFilter.pixelsOfHD + 1)])
        }
    }

    private static func periodID(_ index: UInt32) -> String { "period-\(index)" }

    private func element(
        _ name: String, _ attributes: [String: String] = [:], _ children: [MarkupElement] = []
    ) -> MarkupElement {
        MarkupElement(
            prefix: "cpix", localName: name, namespace: CPIXNamespace.cpix,
            attributes: attributes.map { MarkupAttribute(name: $0.key, value: $0.value) },
            children: children.map { .element($0) })
    }

    private func element(_ name: String, _ children: [MarkupElement]) -> MarkupElement {
        element(name, [:], children)
    }
}
