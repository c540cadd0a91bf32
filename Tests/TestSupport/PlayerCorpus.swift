package import ByteCoding
import Foundation

/// One request of `Tests/PlayerCorpus/requests.json`, with sample bytes in the place of bytes that a device makes.
package struct PlayerCorpusCase: Sendable, CustomStringConvertible {
    package let name: String
    package let contentType: String?
    package let body: [UInt8]
    /// The expected result of reading the body: the member `decoded`.
    package let expected: JSONObject

    package var description: String { name }
}

/// Reads the requests of the corpus, and expands its templates to bytes. `Tests/PlayerCorpus/README.md` describes both.
package enum PlayerCorpus {
    package static func cases() throws -> [PlayerCorpusCase] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "PlayerCorpus/requests.json")
        let text = Array(try Data(contentsOf: file))
        let node = try JSONReader.parse(text, limits: JSONLimits(sizeMaximum: 1 << 20))
        return try required(node.array, "the corpus is an array").map { node in
            let object = try required(node.object, "a case is an object")
            return PlayerCorpusCase(
                name: try required(object["name"]?.string, "a case has a name"),
                contentType: object["headers"]?.object?["Content-Type"]?.string,
                body: try expand(try required(object["body"]?.string, "a case has a body")),
                expected: try required(object["decoded"]?.object, "a case says what its body is read as"))
        }
    }

    /// Returns sample bytes for an SPC of this name. They begin like an SPC of version 1. Their Base64 has padding, and
    /// both characters in which the two alphabets differ.
    package static func sampleSPC(_ name: String) -> [UInt8] {
        let start: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 0] + Array(name.utf8)
        return start + [UInt8](repeating: 0, count: 24 - start.count) + [0xFB, 0xFF, 0xBF] + (0...255).map { $0 }
    }

    /// Returns a template with every `<<name filter …>>` replaced.
    package static func expand(_ template: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = template[...]
        while let start = rest.range(of: "<<") {
            guard let end = rest[start.upperBound...].range(of: ">>") else {
                throw CorpusError(description: "a name in \(template) has no end")
            }
            bytes += Array(rest[..<start.lowerBound].utf8)
            bytes += try value(of: rest[start.upperBound..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return bytes + Array(rest.utf8)
    }

    private static func value(of words: Substring) throws -> [UInt8] {
        var words = words.split(separator: " ").map(String.init)
        let name = try required(words.first, "a place holder has a name")
        words.removeFirst()
        if name == "hex" { return try Hexadecimal.decode(words.joined()) }
        if words == ["name"] { return Array("content-of-\(name)".utf8) }
        if words == ["keyID"] { return Array(Base64.encode(name.utf8).utf8) }
        return try words.reduce(sample(name)) { try filtered($0, by: $1) }
    }

    private static func sample(_ name: String) -> [UInt8] {
        switch name {
        case "content": Array("movie-1".utf8)
        case "kid": [UInt8](0x10...0x1F)
        case "audioKID": [UInt8](0x20...0x2F)
        case "token": Array("eyJhbGciOiJFUzI1NiJ9.e30.c2ln".utf8)
        case "otherToken": Array("eyJhbGciOiJFUzI1NiJ9.e30.b3Ro".utf8)
        case "certificate": [0x30, 0x82, 0x01, 0x07] + [UInt8](repeating: 0xA5, count: 263)
        default: sampleSPC(name)
        }
    }

    private static func filtered(_ bytes: [UInt8], by name: String) throws -> [UInt8] {
        switch name {
        case "base64": return Array(Base64.encode(bytes).utf8)
        case "utf16le": return bytes.flatMap { [$0, 0] }
        case "utf16be": return bytes.flatMap { [0, $0] }
        case "hex": return Array(Hexadecimal.encode(bytes).utf8)
        case "uuid": return Array(uuid(bytes).utf8)
        default: return Array(try filtered(text: String(decoding: bytes, as: UTF8.self), bytes, by: name).utf8)
        }
    }

    private static func filtered(text: String, _ bytes: [UInt8], by name: String) throws -> String {
        switch name {
        case "base64url": Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_")
        case "unpadded": text.replacing("=", with: "")
        case "mixed": text.replacing("/", with: "_")
        case "upper": text.uppercased()
        case "percent": escaped(text, "%!*'();:@&=+$,/?#[]\r\n ", isUpper: true)
        case "percentOfReactNative": escaped(text, "?=&+", isUpper: true)
        case "lowerPercent": escaped(text, "=+/", isUpper: false)
        case "blankForPlus": text.replacing("+", with: " ")
        case "escapedSlash": text.replacing("/", with: "\\/")
        case "escapedLineEnds": text.replacing("\r\n", with: "\\r\\n").replacing("\n", with: "\\n")
        case "lines76": lines(of: text, 76, "\r\n")
        case "lines64": lines(of: text, 64, "\n")
        default: throw CorpusError(description: "no filter has the name \(name)")
        }
    }

    private static func escaped(_ text: String, _ characters: String, isUpper: Bool) -> String {
        let escaped = Set(characters.utf8)
        return text.utf8.map { byte in
            guard escaped.contains(byte) else { return String(UnicodeScalar(byte)) }
            let digits = Hexadecimal.encode([byte])
            return "%" + (isUpper ? digits.uppercased() : digits)
        }.joined()
    }

    private static func lines(of text: String, _ size: Int, _ end: String) -> String {
        stride(from: 0, to: text.count, by: size).map { String(text.dropFirst($0).prefix(size)) }.joined(separator: end)
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        let digits = Hexadecimal.encode(bytes)
        let ends = [0, 8, 12, 16, 20, 32]
        return zip(ends, ends.dropFirst()).map { String(digits.dropFirst($0).prefix($1 - $0)) }.joined(separator: "-")
    }

    private static func required<Value>(_ value: Value?, _ rule: String) throws -> Value {
        guard let value else { throw CorpusError(description: rule) }
        return value
    }
}

/// A fault of the corpus itself.
private struct CorpusError: Error, CustomStringConvertible {
    let description: String
}
