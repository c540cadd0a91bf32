import ByteCoding

/// The signalling of one key for one DRM system, in documents and playlists.
struct SystemSignalling {
    let keyLine: HLSKeyLine
    /// A `pssh` box (ISO/IEC 23001-7, section 8.1); nil for FairPlay, which has no box.
    let protectionBox: [UInt8]?
    /// The XML for DASH manifests, not yet encoded in Base64; nil for FairPlay.
    let contentProtection: String?
    /// The PlayReady object for Smooth Streaming; nil for other systems.
    let smoothStreamingHeader: [UInt8]?

    static func fairPlay(url: String) -> SystemSignalling {
        SystemSignalling(
            keyLine: .fairPlay(url: url), protectionBox: nil, contentProtection: nil, smoothStreamingHeader: nil)
    }

    /// Makes the signalling for Widevine. The box holds the key id and, unless the scheme is `cenc`, the four
    /// characters of the scheme.
    static func widevine(_ keyID: KeyID, _ scheme: CommonEncryptionScheme) -> SystemSignalling {
        let box = ProtectionBox.bytes(of: .widevine, data: WidevineHeader.bytes(keyID, scheme))
        let text = Base64.encode(box)
        return SystemSignalling(
            keyLine: HLSKeyLine(
                method: HLSKeyLine.method(of: scheme), uri: "data:text/plain;base64,\(text)",
                keyFormat: "urn:uuid:\(DRMSystem.widevine.identifier)"),
            protectionBox: box, contentProtection: ProtectionBox.element(text), smoothStreamingHeader: nil)
    }

    static func playReady(_ keyID: KeyID, _ scheme: CommonEncryptionScheme) -> SystemSignalling {
        let object = PlayReadyHeader.object(keyID, scheme)
        let objectText = Base64.encode(object)
        let box = ProtectionBox.bytes(of: .playReady, data: object)
        let objectElement = "<mspr:pro xmlns:mspr=\"urn:microsoft:playready\">\(objectText)</mspr:pro>"
        return SystemSignalling(
            keyLine: HLSKeyLine(
                method: HLSKeyLine.method(of: scheme), uri: "data:text/plain;charset=UTF-16;base64,\(objectText)",
                keyFormat: "com.microsoft.playready"),
            protectionBox: box, contentProtection: ProtectionBox.element(Base64.encode(box)) + objectElement,
            smoothStreamingHeader: object)
    }
}

/// The attributes that an `EXT-X-KEY` and its `EXT-X-SESSION-KEY` have in common (RFC 8216, sections 4.3.2.4 and
/// 4.3.4.5). Neither has an IV: for FairPlay the license brings it (packagers, section 5).
package struct HLSKeyLine: Hashable, Sendable {
    /// The key format of FairPlay.
    package static let fairPlayKeyFormat = "com.apple.streamingkeydelivery"

    package let method: String
    package let uri: String
    package let keyFormat: String
    package let keyFormatVersions = "1"

    package static func fairPlay(url: String) -> HLSKeyLine {
        HLSKeyLine(method: "SAMPLE-AES", uri: url, keyFormat: fairPlayKeyFormat)
    }

    static func method(of scheme: CommonEncryptionScheme) -> String {
        scheme.isCounterMode ? "SAMPLE-AES-CTR" : "SAMPLE-AES"
    }

    /// The line of a media playlist.
    package var mediaLine: String { "#EXT-X-KEY:" + attributeList }

    /// The line of a multivariant playlist.
    package var multivariantLine: String { "#EXT-X-SESSION-KEY:" + attributeList }

    /// METHOD comes first, because the public suite of SPEKE demands it (packagers, section 1.7).
    private var attributeList: String {
        "METHOD=\(method),URI=\"\(uri)\",KEYFORMAT=\"\(keyFormat)\",KEYFORMATVERSIONS=\"\(keyFormatVersions)\""
    }
}

/// A `pssh` box of version 0 (ISO/IEC 23001-7, section 8.1).
enum ProtectionBox {
    ///     offset  size  field
    ///          0     4  size of the box
    ///          4     4  "pssh"
    ///          8     4  version 0, flags 0
    ///         12    16  system id
    ///         28     4  size of the data, N
    ///         32     N  data
    static func bytes(of system: DRMSystem, data: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 32 + data.count)
        // The sizes cannot overflow: the data of a key has some hundred bytes.
        writer.write(UInt32(32 + data.count))
        writer.write(Array("pssh".utf8))
        writer.write(UInt32(0))
        writer.write(system.identifier.words)
        writer.write(UInt32(data.count))
        writer.write(data)
        return writer.bytes
    }

    /// The element of a DASH manifest.
    static func element(_ base64: String) -> String {
        "<cenc:pssh xmlns:cenc=\"urn:mpeg:cenc:2013\">\(base64)</cenc:pssh>"
    }
}

/// The data of a Widevine box: a protocol buffer with field 2, the key id, and field 9, the scheme.
enum WidevineHeader {
    static func bytes(_ keyID: KeyID, _ scheme: CommonEncryptionScheme) -> [UInt8] {
        // Field 2, length-delimited, 16 bytes.
        var bytes: [UInt8] = [0x12, 0x10] + keyID.bytes
        guard scheme != .cenc else { return bytes }
        // Field 9, a variable-length integer of the four characters, big-endian. Without this field, players expect
        // `cenc`.
        bytes.append(0x48)
        var value = scheme.fourCharacterCode.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: value))
        return bytes
    }
}

/// The PlayReady object with one rights management header of version 4.3 (packagers, section 1.7).
enum PlayReadyHeader {
    ///     offset  size  field, integers little-endian
    ///          0     4  size of the object
    ///          4     2  number of records, 1
    ///          6     2  record type, 1: a rights management header
    ///          8     2  size of the record, N
    ///         10     N  the header in UTF-16LE
    static func object(_ keyID: KeyID, _ scheme: CommonEncryptionScheme) -> [UInt8] {
        let text = header(keyID, scheme).utf16
        // The sizes cannot overflow: the header has some 300 characters.
        let recordSize = 2 * text.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(10 + recordSize)
        append(UInt32(10 + recordSize), to: &bytes)
        append(UInt16(1), to: &bytes)
        append(UInt16(1), to: &bytes)
        append(UInt16(recordSize), to: &bytes)
        for unit in text { append(unit, to: &bytes) }
        return bytes
    }

    static func header(_ keyID: KeyID, _ scheme: CommonEncryptionScheme) -> String {
        let algorithm = scheme.isCounterMode ? "AESCTR" : "AESCBC"
        let value = Base64.encode(identifier(keyID))
        return "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" version=\"4.3.0.0\">"
            + "<DATA><PROTECTINFO><KIDS><KID ALGID=\"\(algorithm)\" VALUE=\"\(value)\"></KID></KIDS></PROTECTINFO></DATA>"
            + "</WRMHEADER>"
    }

    /// The key id as a GUID, whose first three fields are little-endian.
    private static func identifier(_ keyID: KeyID) -> [UInt8] {
        let bytes = keyID.bytes
        return [3, 2, 1, 0, 5, 4, 7, 6].map { bytes[$0] } + bytes[8...]
    }

    /// Appends an integer, least significant byte first.
    private static func append<Integer: FixedWidthInteger>(_ value: Integer, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Integer(shift)))
        }
    }
}

extension CommonEncryptionScheme {
    /// The four-character code of the scheme in an MP4 file.
    fileprivate var fourCharacterCode: String {
        switch self {
        case .cenc, .sampleAESCounter: "cenc"
        case .cens: "cens"
        case .cbc1: "cbc1"
        case .cbcs, .sampleAES: "cbcs"
        }
    }
}
