/// The names that a player gives to its playback session and to the content, as Common Media Client Data has them
/// (CTA-5004: `sid` and `cid`).
///
/// The player chooses them and nothing proves them, so no decision looks at them. They lead from the player's own
/// records to a refusal or a license.
package struct PlayerMark: Equatable, Sendable {
    /// The id of the playback session.
    package let session: String?
    /// The id of the content, as the service that feeds the player names it.
    package let content: String?

    /// The most bytes of all headers and parameters of one request. If there are more, all are ignored.
    private static let sizeMaximum = 2048
    /// The most headers and parameters of one request. If there are more, all are ignored.
    private static let countMaximum = 4
    /// The most keys of one header or parameter. CTA-5004 has about 20.
    private static let keyCountMaximum = 64
    /// The most bytes of an id. CTA-5004 allows 64 characters, its second edition 128.
    private static let idSizeMaximum = 128

    /// Reads the values of the headers and parameters with CMCD of one request.
    ///
    /// Returns nil if they have neither id, and also if any of them breaks the syntax or if two ids differ. Bad CMCD
    /// must not cost a viewer the license.
    ///
    /// The content's id is written as it is. So one that tells the session's id, or looks like a token, is left out.
    package init?(_ values: [ArraySlice<UInt8>]) {
        guard (1...Self.countMaximum).contains(values.count),
            values.reduce(0, { $0 + $1.count }) <= Self.sizeMaximum
        else { return nil }
        var ids: [Key: String] = [:]
        for value in values {
            var rest = value
            var keysLeft = Self.keyCountMaximum
            repeat {
                keysLeft -= 1
                guard keysLeft >= 0, let (key, id) = Self.pair(&rest) else { return nil }
                guard let id else { continue }
                guard ids.updateValue(id, forKey: key).map({ $0 == id }) ?? true else { return nil }
            } while Self.skipComma(&rest)
            guard rest.isEmpty else { return nil }
        }
        session = ids[.session]
        let tellsSession = { [session] (text: String) in
            guard let session else { return false }
            // A short id, such as a number, may stand in any name by chance.
            return text == session || (session.utf8.count >= 8 && text.lowercased().contains(session.lowercased()))
        }
        content = ids[.content].flatMap { tellsSession($0) || $0.contains("eyJ") ? nil : $0 }
        if session == nil, content == nil { return nil }
    }

    private enum Key {
        case session, content, other

        init(_ name: ArraySlice<UInt8>) {
            self = name.elementsEqual("sid".utf8) ? .session : name.elementsEqual("cid".utf8) ? .content : .other
        }
    }

    /// Reads `key` or `key=value`. The id is the text of a value that is one short string. Returns nil if the syntax is
    /// broken, or if the value of `sid` or `cid` is no such string.
    private static func pair(_ rest: inout ArraySlice<UInt8>) -> (key: Key, id: String?)? {
        let name = rest.prefix(while: isKeyByte)
        guard !name.isEmpty else { return nil }
        rest = rest[name.endIndex...]
        let key = Key(name)
        guard rest.first == UInt8(ascii: "=") else { return (key, nil) }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "\"") {
            guard let text = string(&rest), rest.isEmpty || isSeparator(rest[rest.startIndex]) else { return nil }
            guard key != .other else { return (key, nil) }
            return (1...idSizeMaximum).contains(text.utf8.count) ? (key, text) : nil
        }
        guard key == .other else { return nil }
        // Numbers, tokens and lists in parentheses, whose strings may have commas.
        let start = rest.startIndex
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") {
                guard string(&rest) != nil else { return nil }
            } else {
                guard (0x20...0x7E).contains(byte) else { return nil }
                rest = rest.dropFirst()
            }
        }
        return rest.startIndex > start ? (key, nil) : nil
    }

    /// Reads a string in quotation marks (RFC 8941 section 3.3.3); nil if it does not end, or has other bytes.
    private static func string(_ rest: inout ArraySlice<UInt8>) -> String? {
        var text: [UInt8] = []
        rest = rest.dropFirst()
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                byte = escaped
            }
            guard (0x20...0x7E).contains(byte) else { return nil }
            text.append(byte)
        }
        return nil
    }

    /// Skips a comma and the blanks around it. Returns whether there was one.
    private static func skipComma(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        rest = rest.drop(while: isBlank)
        guard rest.first == UInt8(ascii: ",") else { return false }
        rest = rest.dropFirst().drop(while: isBlank)
        return true
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == 0x20 || byte == 0x09 }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-_.*".utf8.contains(byte)
    }
}
