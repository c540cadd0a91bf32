import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import HTTPCalls

/// How an SPC is sent over HTTP.
enum ConformanceForm: Equatable, Sendable {
    case raw
    case base64
    /// `spc=` and `assetId=`, escaped.
    case form
    /// A JSON object with the SPC in this member, and `assetId`.
    case json(member: String)
    /// Apple's JSON object with an array of keys.
    case streamingKeys

    init?(_ word: String) {
        switch word {
        case "raw": self = .raw
        case "base64": self = .base64
        case "form": self = .form
        case "json": self = .json(member: "spc")
        case "streaming-keys": self = .streamingKeys
        default:
            guard word.hasPrefix("json:"), word != "json:" else { return nil }
            self = .json(member: String(word.dropFirst(5)))
        }
    }

    fileprivate var contentType: String {
        switch self {
        case .raw: "application/octet-stream"
        case .base64: "text/plain"
        case .form: "application/x-www-form-urlencoded"
        case .json, .streamingKeys: "application/json"
        }
    }

    fileprivate func body(of question: ConformanceQuestion) -> [UInt8] {
        let spc = question.request.message
        let assetID = question.options.assetID
        switch self {
        case .raw: return spc
        case .base64: return Array(Base64.encode(spc).utf8)
        case .form:
            let digits = PercentEncoding.encodeComponent(Array(Base64.encode(spc).utf8))
            let isText = String(validating: assetID, as: UTF8.self) != nil
            return Array(
                ("spc=" + digits + (isText ? "&assetId=" + PercentEncoding.encodeComponent(assetID) : "")).utf8)
        case .json(let member):
            return JSONWriter.object { writer in
                writer.member(member, base64: spc)
                if let text = String(validating: assetID, as: UTF8.self) { writer.member("assetId", text) }
            }
        case .streamingKeys:
            let isUnknown = assetID == ConformanceKind.unknownAssetID
            let text = String(decoding: isUnknown ? assetID : question.kind.assetID, as: UTF8.self)
            return PlayerBody.streamingKeys([spc], isOffline: question.kind.asksOffline) { _ in KeyURI.scheme + text }
        }
    }
}

/// A key server that is asked over HTTP.
struct ConformanceServer {
    let network: ClientNetwork
    let address: URL
    let form: ConformanceForm
    /// The tokens of the kinds. A kind without one is asked for without a token.
    let tokens: [ConformanceKind: String]
    /// Further header fields, as lines.
    let fields: [String]

    func answer(_ question: ConformanceQuestion) -> ConformanceAnswer {
        var fields = fields + ["Content-Type: \(form.contentType)", "Accept: */*", PlayerProfile.userAgent]
        if let token = tokens[question.kind] { fields.append("Authorization: Bearer \(token)") }
        let target = question.kind.asksOffline ? LicenseURL.appending([("offline", "1")], to: address) : address
        let request = HTTPRoundTripRequest(.post(form.body(of: question)), target.absoluteString, fields: fields)
        do throws(ClientNetworkError) {
            let answer = try network.perform(request, target)
            return ConformanceAnswer(
                content: Self.content(of: answer.body, status: answer.status), status: answer.status,
                milliseconds: answer.duration / .milliseconds(1), fields: answer.fields, body: answer.body)
        } catch {
            return ConformanceAnswer(content: .none(error.text))
        }
    }

    /// The members of JSON answers that have a CKC.
    private static let members = ["ckc", "ckcMessage", "CkcMessage", "ckcResponse", "License", "license", "payload"]

    /// Finds the CKC in an answer: as bytes, in Base64 with or without tags around it, or in a member of JSON.
    static func content(of body: [UInt8], status: Int) -> ConformanceAnswer.Content {
        if isLikeCKC(body) { return .ckc(body) }
        let refusal = ConformanceAnswer.Content.refusal(code: "\(status)", body: body)
        if let node = try? JSONReader.parse(body) { return ckc(in: node).map { .ckc($0) } ?? refusal }
        guard let ckc = try? AnswerForm.tagsOrBase64(trims: true).read(body, labels: [], isOffline: false).first,
            case .ckc(let bytes) = ckc, isLikeCKC(bytes)
        else { return refusal }
        return .ckc(bytes)
    }

    /// Whether bytes begin with a small version, as a CKC does.
    private static func isLikeCKC(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0, 0, 0]) }

    /// Whether JSON tells an error: a status or a code of failure, or a member such as `error` or `errorCode`.
    static func tellsError(_ node: JSONNode) -> Bool {
        if let elements = node.array { return elements.contains(where: tellsError) }
        return node.object?.members.contains { member in
            let name = member.name.lowercased()
            let isError = name.hasPrefix("error")
            guard isError || name == "status" || name == "code" else { return tellsError(member.node) }
            if let number = member.node.number?.signed { return number != 0 && !(200..<300).contains(number) }
            if let text = member.node.string { return !text.isEmpty && name != "status" }
            return isError && !member.node.isNull
        } ?? false
    }

    private static func ckc(in node: JSONNode) -> [UInt8]? {
        if let elements = node.array { return elements.lazy.compactMap { ckc(in: $0) }.first }
        guard let object = node.object else { return nil }
        for name in members {
            if let text = object[name]?.string, let bytes = try? Base64.decode(text), isLikeCKC(bytes) { return bytes }
        }
        return object.members.lazy.compactMap { ckc(in: $0.node) }.first
    }
}
