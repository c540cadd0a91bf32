import ByteCoding
import Foundation
import TestSupport

@testable import PlayerMessages

/// Bodies that players POST to the license route. The input is one byte of plan, then the body.
///
///     offset  size  field
///          0     1  the content type (an index into `contentTypes`; the last one comes before the body, with a line
///                   feed after it)
///
/// A body has one meaning or one error. No request has more SPCs than the limit, and the SPCs are not larger than the
/// body. If a request is written again in its shape, it has the same meaning. The content type matters only for
/// multipart bodies. The sentences of every error are printable and short, and contain no part of the body. Foundation
/// reads every property list that is within the bounds, and finds no more objects, levels and text than the bounds
/// allow.
struct PlayerMessageTarget: FuzzTarget {
    static let contentTypes: [String?] = [
        nil, "application/octet-stream", "application/x-www-form-urlencoded", "application/json", "text/plain",
        "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk", #"multipart/form-data; boundary="X""#,
    ]
    /// The listener's limit for a body, in bytes.
    private static let bodySizeMaximum = 65_536
    private static let sentenceSizeMaximum = 200

    func check(_ input: [UInt8]) throws -> Verdict {
        guard let plan = input.first else { return .refused }
        let (contentType, body) = Self.parts(of: input.dropFirst(), plan)
        let outcome = Self.read(body, contentType)
        try require(Self.isSame(outcome, Self.read(body, contentType)), "a body has one meaning")
        if !Self.beginsAsMultipart(body) {
            try require(Self.isSame(outcome, Self.read(body, nil)), "a content type matters for multipart only")
        }
        switch outcome {
        case .failure(let error):
            try check(error)
            return .refused
        case .success(.sessionReport(let report)):
            try require(report == body, "a report is the whole body")
            try PropertyListCheck.read(report)
        case .success(.request(let request)):
            try check(request, body)
            try checkRewriting(of: request)
        }
        return .accepted
    }

    private static func parts(of input: ArraySlice<UInt8>, _ plan: UInt8) -> (contentType: String?, body: [UInt8]) {
        let index = Int(plan) % (contentTypes.count + 1)
        guard index == contentTypes.count else { return (contentTypes[index], Array(input)) }
        let end = input.firstIndex(of: 0x0A) ?? input.endIndex
        return (String(decoding: input[..<end], as: UTF8.self), Array(input[end...].dropFirst()))
    }

    private static func read(
        _ body: [UInt8], _ contentType: String?
    ) -> Result<PlayerMessage, PlayerMessageError> {
        do throws(PlayerMessageError) {
            return .success(try PlayerMessageReader.read(body, contentType: contentType))
        } catch {
            return .failure(error)
        }
    }

    private static func beginsAsMultipart(_ body: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = body.starts(with: mark) ? body.dropFirst(mark.count) : body[...]
        return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "-")
    }

    // MARK: - Properties

    private func check(_ error: PlayerMessageError) throws {
        for sentence in [error.received, error.remedy] {
            let isPrintable = sentence.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            try require(isPrintable, "the sentences of an error are printable: \(error)")
            let isBounded = (1...Self.sentenceSizeMaximum).contains(sentence.utf8.count)
            try require(isBounded, "the sentences of an error are short: \(error)")
        }
        try require(error.remedy.hasSuffix("."), "a remedy is a whole sentence: \(error)")
    }

    private func check(_ request: PlayerRequest, _ body: [UInt8]) throws {
        let count = request.keys.count
        try require((1...PlayerRequest.keyCountMaximum).contains(count), "the number of SPCs is within its limit")
        try require(count == 1 || Self.hasSeveral(request.shape), "a shape with one result has one SPC")
        try require(RequestShape.names.contains(request.shape.name), "metrics know each shape")
        let size = request.keys.reduce(0) { $0 + $1.spc.count }
        try require(size <= body.count, "the SPCs are no larger than the body")
        try require(request.keys.allSatisfy { !$0.spc.isEmpty }, "no SPC is empty")
        // A byte that is not UTF-8 becomes a character of three bytes.
        for text in (request.keys.map(\.assetHint) + [request.token]).compactMap({ $0 }) {
            try require(text.utf8.count <= 3 * body.count, "no text grows beyond its body")
        }
        for label in request.keys.compactMap(\.label) {
            try require(label.string != nil || label.number != nil, "a label is a text or a number")
        }
    }

    private static func hasSeveral(_ shape: RequestShape) -> Bool { shape == .keyArray || shape == .streamingKeys }

    private func checkRewriting(of request: PlayerRequest) throws {
        let written = PlayerRequestWriter.body(of: request)
        guard written.count <= Self.bodySizeMaximum else { return }
        let outcome = Self.read(written, nil)
        try require(
            Self.isSame(outcome, .success(.request(request))),
            "what is written again means what was read: \(request.shape.name)")
    }

    // MARK: - Comparison

    private static func isSame(
        _ one: Result<PlayerMessage, PlayerMessageError>, _ other: Result<PlayerMessage, PlayerMessageError>
    ) -> Bool {
        switch (one, other) {
        case (.success(.request(let one)), .success(.request(let other))): isSame(one, other)
        case (.success(.sessionReport(let one)), .success(.sessionReport(let other))): one == other
        case (.failure(let one), .failure(let other)): one == other
        case (.success, _), (.failure, _): false
        }
    }

    private static func isSame(_ one: PlayerRequest, _ other: PlayerRequest) -> Bool {
        one.shape == other.shape && bytes(one.token) == bytes(other.token)
            && one.keys.elementsEqual(other.keys) {
                $0.spc == $1.spc && $0.isOffline == $1.isOffline && bytes($0.assetHint) == bytes($1.assetHint)
                    && bytes($0.label?.string) == bytes($1.label?.string)
                    && $0.label?.number?.text == $1.label?.number?.text
            }
    }

    /// The UTF-8 bytes of a text, because Swift's own comparison treats equivalent spellings as equal.
    private static func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        let own = UInt8(Self.contentTypes.count)
        let requests = try PlayerCorpus.cases().map { one in
            if let plan = Self.contentTypes.firstIndex(of: one.contentType) { return [UInt8(plan)] + one.body }
            return [own] + Array((one.contentType ?? "").utf8) + [0x0A] + one.body
        }
        return requests + PropertyListDraft.samples.map { [0] + $0 }
    }

    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard var plan = input.first else { return ByteMutation.mutate(input, using: &generator) }
        let body = Array(input.dropFirst())
        if Int.random(in: 0..<16, using: &generator) == 0 { plan = UInt8.random(in: .min ... .max, using: &generator) }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return [plan] + Self.mutation.mutate(body, using: &generator)
        case 1: return [plan] + Self.withAnotherPiece(body, using: &generator)
        case 2 where body.starts(with: "bplist".utf8): return [plan] + PropertyListDraft.random(using: &generator)
        default: return [plan] + ByteMutation.mutate(body, using: &generator)
        }
    }

    private static let mutation = JSONMutation(values: JSONMutation.oddValues + pieces.map { "\"\($0)\"" })
    private static let text = Base64.encode(PlayerCorpus.sampleSPC("movie"))
    /// Pieces that replace an SPC or a part of a form.
    private static let pieces = [
        text, text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""), "AAAAAQAAAAA=", "MIID",
        Base64.encode(text.utf8), "&spc=", "&token=a.b.c", "&assetId=movie", "%26", "%3D", "spc%3D", "=", "&",
    ]

    /// Replaces some bytes by a piece, or inserts a piece.
    private static func withAnotherPiece(_ body: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let start = Int.random(in: 0...body.count, using: &generator)
        let end = Int.random(in: start...min(body.count, start + 8), using: &generator)
        let piece = pieces.randomElement(using: &generator) ?? ""
        return body[..<start] + Array(piece.utf8) + body[end...]
    }
}

/// Writes a request as a body of its shape, as a careful player would.
private enum PlayerRequestWriter {
    static func body(of request: PlayerRequest) -> [UInt8] {
        let spc = request.keys.first?.spc ?? []
        switch request.shape {
        case .raw: return spc
        case .base64: return Array(Base64.encode(spc).utf8)
        case .form: return form(request, spc)
        case .multipart: return multipart(request, spc)
        case .object(let member):
            return JSONWriter.object { writer in
                writer.member(member.rawValue, Base64.encode(spc))
                writeParticulars(of: request, to: &writer)
            }
        case .getFairplayLicense: return getFairplayLicense(request, spc)
        case .keyArray: return keyArray(request)
        case .streamingKeys: return streamingKeys(request)
        }
    }

    private static func form(_ request: PlayerRequest, _ spc: [UInt8]) -> [UInt8] {
        var text = "spc=\(escaped(Base64.encode(spc).utf8))"
        if let hint = request.keys[0].assetHint { text += "&assetId=\(escaped(hint.utf8))" }
        if let token = request.token { text += "&token=\(escaped(token.utf8))" }
        return Array(text.utf8)
    }

    private static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            switch UnicodeScalar(byte) {
            case "A"..."Z", "a"..."z", "0"..."9": String(UnicodeScalar(byte))
            case _: "%" + Hexadecimal.encode([byte])
            }
        }.joined()
    }

    private static func multipart(_ request: PlayerRequest, _ spc: [UInt8]) -> [UInt8] {
        let values =
            [("spc", Array(Base64.encode(spc).utf8))]
            + [("assetId", request.keys[0].assetHint), ("token", request.token)].compactMap { name, text in
                text.map { (name, Array($0.utf8)) }
            }
        // No value may contain the boundary.
        var boundary = "--boundary"
        while values.contains(where: { $0.1.contains(boundary.utf8) }) { boundary += "x" }
        let parts = values.flatMap { name, value in
            Array("\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + value
                + Array("\r\n".utf8)
        }
        return parts + Array("\(boundary)--\r\n".utf8)
    }

    private static func getFairplayLicense(_ request: PlayerRequest, _ spc: [UInt8]) -> [UInt8] {
        JSONWriter.object { writer in
            writer.name("getFairplayLicense")
            writer.object { writer in
                writer.member("spcMessage", Base64.encode(spc))
                if let hint = request.keys[0].assetHint { writer.member("assetId", hint) }
            }
            if let token = request.token { writer.member("token", token) }
        }
    }

    private static func keyArray(_ request: PlayerRequest) -> [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for key in request.keys {
                writer.object { writer in
                    if let label = key.label {
                        writer.name("keyID")
                        writer.node(label)
                    }
                    writer.member("payload", Base64.encode(key.spc))
                }
            }
        }
        return writer.bytes
    }

    private static func streamingKeys(_ request: PlayerRequest) -> [UInt8] {
        JSONWriter.object { writer in
            writer.name("fairplay-streaming-request")
            writer.object { writer in
                writer.name("streaming-keys")
                writer.array { writer in
                    for key in request.keys { write(key, to: &writer) }
                }
            }
            if let token = request.token { writer.member("token", token) }
        }
    }

    private static func write(_ key: RequestedKey, to writer: inout JSONWriter) {
        writer.object { writer in
            if let label = key.label {
                writer.name("id")
                writer.node(label)
            }
            if let uri = key.assetHint { writer.member("uri", uri) }
            writer.member("spc", Base64.encode(key.spc))
            if key.isOffline {
                writer.name("offline")
                writer.bool(true)
            }
        }
    }

    private static func writeParticulars(of request: PlayerRequest, to writer: inout JSONWriter) {
        if let hint = request.keys[0].assetHint { writer.member("assetId", hint) }
        if let token = request.token { writer.member("token", token) }
    }
}
