import ByteCoding
import Foundation

/// The result for one key that a player reads from an answer.
enum KeyAnswer: Equatable, Sendable {
    /// The bytes that the player passes to the device.
    case ckc([UInt8])
    /// The error in place of a CKC, as the answer has it.
    case denied(String)
}

/// Why a player cannot find a CKC in an answer.
///
/// The reason is the end of a sentence that begins with "the player".
struct AnswerNotUnderstood: Error, Equatable, Sendable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// Reads answers as the code of the players does (clients, sections 0, 1 and 3).
extension AnswerForm {
    /// Returns one result for each label, in the order of the labels. Forms with a single CKC return it for the first
    /// key.
    ///
    /// `isOffline` says whether the player wants to store the keys.
    func read(
        _ body: [UInt8], labels: [String], isOffline: Bool
    ) throws(AnswerNotUnderstood) -> [KeyAnswer] {
        switch self {
        case .raw:
            guard !body.isEmpty else { throw AnswerNotUnderstood("needs the bytes of a CKC, and the body is empty") }
            return [.ckc(body)]
        case .shaka: return [.ckc(try Self.unwrapAsShaka(body))]
        case .tagsOrBase64(let trims): return [.ckc(try Self.readTagsOrBase64(body, trims: trims))]
        case .strictBase64: return [.ckc(try Self.strictBase64(Self.text(body), "reads the body as Base64"))]
        case .kaltura: return [.ckc(try Self.readKaltura(body, isOffline: isOffline))]
        case .member(let name): return [.ckc(try Self.member(name, of: Self.object(body)))]
        case .getFairplayLicense:
            guard let inner = try Self.object(body)["getFairplayLicenseResponse"]?.object else {
                throw AnswerNotUnderstood("looks for the member getFairplayLicenseResponse")
            }
            return [.ckc(try Self.member("ckcResponse", of: inner))]
        case .keyArray: return try Self.readKeyArray(body, labels)
        case .streamingKeys: return try Self.readStreamingKeys(body, labels)
        }
    }

    // MARK: One CKC

    private static func unwrapAsShaka(_ body: [UInt8]) throws(AnswerNotUnderstood) -> [UInt8] {
        guard let text = String(validating: body, as: UTF8.self)?.trimmingCharacters(in: .whitespacesAndNewlines)
        else { return body }
        if text.hasPrefix("<ckc>"), text.hasSuffix("</ckc>"), text.count >= 11 {
            return try browserBase64(String(text.dropFirst(5).dropLast(6)), "the text between the tags")
        }
        guard let object = (try? JSONReader.parse(Array(text.utf8)))?.object else { return body }
        // Shaka checks these members in the reverse order, and a later one replaces an earlier one.
        for name in ["License", "CkcMessage", "ckc"] {
            guard let value = object[name]?.string, !value.isEmpty else { continue }
            return try browserBase64(value, "the member \(name)")
        }
        return body
    }

    private static func readTagsOrBase64(_ body: [UInt8], trims: Bool) throws(AnswerNotUnderstood) -> [UInt8] {
        var text = try text(body)
        if trims { text = text.trimmingCharacters(in: .whitespacesAndNewlines) }
        text = text.replacing("<ckc>", with: "").replacing("</ckc>", with: "")
        return try strictBase64(text, "reads the text between <ckc> and </ckc>, or the whole body, as Base64")
    }

    private static func readKaltura(_ body: [UInt8], isOffline: Bool) throws(AnswerNotUnderstood) -> [UInt8] {
        let object = try object(body)
        let ckc = try member("ckc", of: object)
        guard isOffline else { return ckc }
        let seconds = object["persistence_duration"]?.number.flatMap { Double($0.text) }
        guard let seconds, seconds > 0 else {
            throw AnswerNotUnderstood("stores no key without a persistence_duration of more than 0 seconds")
        }
        return ckc
    }

    // MARK: Many keys

    private static func readKeyArray(
        _ body: [UInt8], _ labels: [String]
    ) throws(AnswerNotUnderstood) -> [KeyAnswer] {
        guard let elements = node(body)?.array else { throw AnswerNotUnderstood("looks for a JSON array") }
        return try labels.map { (label) throws(AnswerNotUnderstood) in
            guard let entry = elements.lazy.compactMap(\.object).first(where: { $0["keyID"]?.string == label }) else {
                throw AnswerNotUnderstood("looks for an entry with the keyID \(label)")
            }
            switch (entry["payload"]?.string, entry["error"]?.number?.text) {
            case (.some(let payload), nil): return .ckc(try strictBase64(payload, "reads each payload as Base64"))
            case (nil, .some(let error)): return .denied("error \(error)")
            case (.some, .some), (nil, nil):
                throw AnswerNotUnderstood("needs either a payload or an error number for each key")
            }
        }
    }

    private static func readStreamingKeys(
        _ body: [UInt8], _ labels: [String]
    ) throws(AnswerNotUnderstood) -> [KeyAnswer] {
        guard let entries = try object(body)["fairplay-streaming-response"]?.object?["streaming-keys"]?.array else {
            throw AnswerNotUnderstood("looks for fairplay-streaming-response with streaming-keys in it")
        }
        return try labels.map { (label) throws(AnswerNotUnderstood) in
            // The ids were sent as numbers, and the answer repeats them as numbers.
            guard let entry = entries.lazy.compactMap(\.object).first(where: { $0["id"]?.number?.text == label }) else {
                throw AnswerNotUnderstood("looks for an entry with the id \(label)")
            }
            let status = entry["status"].flatMap { $0.number?.text ?? $0.string } ?? "0"
            guard status == "0" else { return .denied("status \(status)") }
            return .ckc(try member("ckc", of: entry))
        }
    }

    // MARK: Parts

    private static func node(_ body: [UInt8]) -> JSONNode? { try? JSONReader.parse(body) }

    private static func object(_ body: [UInt8]) throws(AnswerNotUnderstood) -> JSONObject {
        guard let object = node(body)?.object else { throw AnswerNotUnderstood("looks for a JSON object") }
        return object
    }

    private static func member(_ name: String, of object: JSONObject) throws(AnswerNotUnderstood) -> [UInt8] {
        guard let text = object[name]?.string else { throw AnswerNotUnderstood("looks for the member \(name)") }
        return try strictBase64(text, "reads the member \(name) as Base64")
    }

    private static func text(_ body: [UInt8]) throws(AnswerNotUnderstood) -> String {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw AnswerNotUnderstood("reads the body as text, but it is not")
        }
        return text
    }

    /// Decodes like `Data(base64Encoded:)`, which the apps call: without white space and with all padding.
    private static func strictBase64(_ text: String, _ use: String) throws(AnswerNotUnderstood) -> [UInt8] {
        guard let data = Data(base64Encoded: text), !data.isEmpty else {
            throw AnswerNotUnderstood("\(use), but it is not")
        }
        return Array(data)
    }

    /// Decodes like Shaka, which replaces the URL-safe characters and calls `atob`: white space is skipped, and padding
    /// may be missing.
    private static func browserBase64(_ text: String, _ place: String) throws(AnswerNotUnderstood) -> [UInt8] {
        var digits = text.filter { !$0.isWhitespace }.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while digits.last == "=" { digits.removeLast() }
        let padding = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        return try strictBase64(String(digits) + padding, "reads \(place) as Base64")
    }
}
