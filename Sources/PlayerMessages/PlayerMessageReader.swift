import ByteCoding

/// Recognises the form of a body that a player has posted (clients, section 2).
///
/// Throws `PlayerMessageError`. No body can cost more than a few passes over it. The most certain forms are tried
/// first: the bytes of an SPC, a property list, JSON, multipart, a form, Base64.
package enum PlayerMessageReader {
    /// Reads a body. The listener limits it to 64 KiB. `contentType` is used only for the boundary of a multipart body.
    package static func read(_ body: [UInt8], contentType: String? = nil) throws(PlayerMessageError) -> PlayerMessage {
        guard !body.isEmpty else { throw .empty }
        if looksLikeSPC(body[...]) {
            return .request(PlayerRequest(shape: .raw, keys: [RequestedKey(spc: body)]))
        }
        if isSessionReport(body) { return .sessionReport(body) }
        let text = Self.text(of: body)
        guard let first = text.first else { throw .empty }
        try refuseKnownMistakes(body, text)
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .request(try JSONRequests.read(Array(text)))
        case UInt8(ascii: "-"):
            if let multipart = Multipart(text, contentType: contentType) {
                return .request(try multipart.request())
            }
        default: break
        }
        if let form = Form(text) { return .request(try form.request()) }
        return .request(try base64(text))
    }

    /// Whether bytes begin like an SPC of any version: with a small number of 32 bits, most significant byte first.
    /// `FairPlay` checks the container and the version.
    package static func looksLikeSPC(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return false }
        let start = bytes.startIndex
        return bytes[start] == 0 && bytes[start + 1] == 0 && bytes[start + 2] == 0 && bytes[start + 3] != 0
    }

    /// Whether a body is a report of expired sessions: a property list, binary or XML.
    package static func isSessionReport(_ body: [UInt8]) -> Bool {
        body.starts(with: "bplist00".utf8) || isPropertyList(text(of: body))
    }

    /// Whether bytes may be text: they have no control characters except tabs and line ends.
    package static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }

    /// Decodes the Base64 of one SPC. Throws an error that names what the text is if it is not an SPC.
    static func spc(
        fromBase64 text: Span<UInt8>, blank: LenientBase64.Blank = .ignored, escapes: Bool = false
    ) throws(PlayerMessageError) -> [UInt8] {
        guard let bytes = LenientBase64.decode(text, blank: blank, escapes: escapes) else { throw .invalidBase64 }
        guard !bytes.isEmpty else { throw .empty }
        if looksLikeSPC(bytes[...]) { return bytes }
        if bytes.starts(with: certificateStart) || bytes.starts(with: pemStart) { throw .certificate }
        if let inner = LenientBase64.decode(bytes.span), looksLikeSPC(inner[...]) { throw .doubleBase64 }
        // It may be an SPC whose first bytes are wrong. `FairPlay` refuses it.
        return bytes
    }

    private static func base64(_ text: ArraySlice<UInt8>) throws(PlayerMessageError) -> PlayerRequest {
        let bytes: [UInt8]
        do throws(PlayerMessageError) {
            bytes = try spc(fromBase64: text.span)
        } catch .invalidBase64 {
            throw .unrecognised
        }
        // Many short texts are valid Base64, so only bytes that begin like an SPC count as one.
        guard looksLikeSPC(bytes[...]) else { throw .unrecognised }
        return PlayerRequest(shape: .base64, keys: [RequestedKey(spc: bytes)])
    }

    // MARK: Other things than an SPC

    static let certificateStart: [UInt8] = [0x30, 0x82]
    static let pemStart = Array("-----BEGIN ".utf8)

    private static func refuseKnownMistakes(
        _ body: [UInt8], _ text: ArraySlice<UInt8>
    ) throws(PlayerMessageError) {
        if body.starts(with: certificateStart) || text.starts(with: pemStart) { throw .certificate }
        if isUTF16(body) { throw .utf16 }
        if text.starts(with: "#EXTM3U".utf8) { throw .playlist }
        if text.starts(with: "<ckc>".utf8) { throw .license }
        if text.first == UInt8(ascii: "<") { throw .page }
        // A JWT begins with the Base64 of `{"` and has two dots.
        if text.starts(with: "eyJ".utf8), text.contains(UInt8(ascii: ".")) { throw .token }
    }

    /// Whether the body has a byte order mark of UTF-16, or every other byte is zero.
    private static func isUTF16(_ body: [UInt8]) -> Bool {
        guard body.count >= 8, body.count.isMultiple(of: 2) else { return false }
        if body.starts(with: [0xFF, 0xFE]) || body.starts(with: [0xFE, 0xFF]) { return true }
        // Most text in other encodings fails this first check, because it has no zero byte.
        guard (body[0] == 0) != (body[1] == 0) else { return false }
        return stride(from: 0, to: min(body.count, 64), by: 2)
            .allSatisfy { (body[$0] == 0) == (body[0] == 0) && (body[$0 + 1] == 0) == (body[1] == 0) }
    }

    /// Whether the text is an XML property list. The reader of session reports parses it.
    private static func isPropertyList(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "<") else { return false }
        let start = text.prefix(512)
        return start.containsText("<plist") || start.containsText("<!DOCTYPE plist")
    }

    /// The body without a byte order mark of UTF-8 and without white space at its ends.
    private static func text(of body: [UInt8]) -> ArraySlice<UInt8> {
        let unmarked = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        return unmarked.trimmed
    }
}

extension ArraySlice<UInt8> {
    /// The slice without spaces, tabs and line ends at both ends.
    var trimmed: ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        let start = drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start.prefix(0) }
        return start[...last]
    }

    func containsText(_ text: String) -> Bool { start(of: Array(text.utf8)) != nil }

    /// The index at which a pattern first occurs; nil if it does not occur.
    ///
    /// This takes about one pass if the pattern has its first byte at most twice, as all patterns here do.
    func start(of pattern: [UInt8]) -> Int? {
        guard let first = pattern.first else { return startIndex }
        var rest = self
        while let candidate = rest.firstIndex(of: first), endIndex - candidate >= pattern.count {
            if self[candidate...].starts(with: pattern) { return candidate }
            rest = rest[(candidate + 1)...]
        }
        return nil
    }
}
