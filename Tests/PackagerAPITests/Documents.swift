import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto

@testable import PackagerAPI

/// The requests of `Tests/Vectors/speke`, and requests that differ from one of them in a single point.
enum Documents {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/speke")

    static let videoKeyID = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    static let audioKeyID = "c4e8a2f0-9d3b-4b77-8f15-6e2d90b1a7c3"
    static let fairPlay = "94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
    static let widevine = "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"
    static let playReady = "9a04f079-9840-4286-ab92-e65be0885f95"

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func text(_ name: String) throws -> String {
        String(decoding: try bytes(name + ".xml"), as: UTF8.self)
    }

    /// Returns the keys of the fixtures and of `Contract`: each key id always has the same key and IV.
    static func keys(for request: CPIXRequest) -> [PackagedKey] {
        request.keys.map { requested in
            // The requested IV, or the bytes of the key id in reverse order, with another first byte.
            let iv = requested.explicitIV ?? Bytes16([0xA5] + requested.keyID.bytes.dropFirst().reversed(), at: 0)
            return PackagedKey.sample(requested.keyID, iv: iv)
        }
    }

    static func answer(_ text: String, _ version: SPEKEVersion = .v20) throws -> MarkupElement {
        let request = try CPIXRequest(parsing: Array(text.utf8), version: version)
        let answer = try CPIXAnswer(
            to: request, keys: keys(for: request), urls: .standard, authority: "keys.example.com")
        return try MarkupReader.read(answer.bytes)
    }

    /// Returns the error of a request in this version, or nil if it is answered.
    static func refusal(_ text: String, _ version: SPEKEVersion = .v20) -> CPIXError? {
        do throws(CPIXError) {
            _ = try CPIXRequest(parsing: Array(text.utf8), version: version)
            return nil
        } catch {
            return error
        }
    }
}

extension PackagedKey {
    /// Returns a key whose bytes are those of the key id, each plus one.
    static func sample(_ keyID: KeyID, iv: Bytes16) -> PackagedKey {
        let bytes = SecretBytes(copying: keyID.bytes.map { $0 &+ 1 })
        do {
            return try PackagedKey(keyID: keyID, key: ContentKey(bytes), iv: iv)
        } catch {
            preconditionFailure("the constant of a test is not a valid key: \(error)")
        }
    }
}

extension MarkupElement {
    /// Returns all elements with this name, at any depth.
    func all(_ localName: String) -> [MarkupElement] {
        var found: [MarkupElement] = []
        forEachElement { if $0.localName == localName { found.append($0) } }
        return found
    }

    /// The text of an element, decoded from Base64.
    var decodedText: String? {
        (try? Base64.decode(text)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The attributes of an HLS line, parsed by code that only the tests have.
struct HLSLine: Equatable {
    let tag: String
    var attributes: [String: String] = [:]

    init?(_ line: String) {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        tag = String(line[..<colon])
        var rest = line[colon...].dropFirst()
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let name = String(rest[..<equals])
            rest = rest[equals...].dropFirst()
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            let value = rest.prefix { $0 != (isQuoted ? "\"" : ",") }
            attributes[name] = String(value)
            rest = rest[value.endIndex...].dropFirst(isQuoted ? 2 : 1)
        }
    }
}
