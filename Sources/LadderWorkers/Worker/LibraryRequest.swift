import ByteCoding
import FairPlay
import KeyCrypto

/// The text that asks a library for one operation (SDK 26, section 3). It ends with NUL, and holds the content key.
///
/// A library ignores or cuts many values that are wrong, so each value is written in exactly one form.
struct LibraryRequest {
    private(set) var text: [UInt8]

    init(_ order: LibraryOrder) {
        // With room for everything, the array never grows and leaves no copy of the key behind.
        text = []
        text.reserveCapacity(1024 + Base64.encodedSize(of: order.message.count))
        append(#"{"fairplay-streaming-request":{"version":1,""#)
        append(order.license == nil ? "get-client-info" : "create-ckc")
        append(#"":[{"id":1,"spc":""#)
        Base64.append(order.message, to: &text)
        append("\"")
        if let license = order.license { append(license) }
        append("}]}}\0")
    }

    /// Overwrites the text.
    mutating func wipe() { text.wipe(0..<text.count) }

    private mutating func append(_ license: LibraryLicense) {
        let terms = license.terms
        append(#","asset-info":[{"content-key":""#)
        license.key.bytes.withBytes { span in
            // Safe: the bytes are read before the span ends.
            unsafe span.withUnsafeBytes { bytes in
                for index in 0..<bytes.count { append(hexadecimal: unsafe bytes[index]) }
            }
        }
        append(#"","content-iv":""#)
        append(license.iv)
        append(#"","content-type":"\#(terms.contentType.word)","hdcp-type":\#(terms.hdcp.libraryNumber)"#)
        append(#","encryption-scheme":"\#(terms.scheme.word)""#)
        switch terms.validity {
        case .session: break
        case .lease(let lease): append(#","lease-duration":\#(lease.value)"#)
        case .kept(let kept): append(kept)
        }
        append("}]")
    }

    private mutating func append(_ kept: LibraryTerms.Kept) {
        append(#","offline-hls":{"#)
        if let name = kept.name {
            append(#""stream-id":""#)
            append(name.streamID)
            append(#"","title-id":""#)
            append(name.titleID)
            append("\",")
        }
        append(#""rental-duration":\#(kept.storage?.value ?? 0),"playback-duration":\#(kept.playback?.value ?? 0)}"#)
    }

    private mutating func append(_ part: String) { text.append(contentsOf: part.utf8) }

    private mutating func append(_ bytes: Bytes16) {
        for byte in bytes.bytes { append(hexadecimal: byte) }
    }

    private mutating func append(hexadecimal byte: UInt8) {
        for digit in [byte >> 4, byte & 15] {
            text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        }
    }
}

extension LibraryTerms.ContentType {
    fileprivate var word: String {
        switch self {
        case .audio: "audio"
        case .sd: "sd"
        case .hd: "hd"
        case .uhd: "uhd"
        }
    }
}

extension LibraryTerms.Scheme {
    fileprivate var word: String {
        switch self {
        case .cbcs: "cbcs"
        case .transportStream: "cbc-ts"
        }
    }
}

extension HDCPLevel {
    fileprivate var libraryNumber: Int {
        switch self {
        case .none: -1
        case .type0: 0
        case .type1: 1
        }
    }
}
