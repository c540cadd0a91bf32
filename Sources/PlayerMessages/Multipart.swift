import ByteCoding

/// A `multipart/form-data` body with an SPC (RFC 7578; clients, section 1b). The value of the part is raw or Base64.
struct Multipart {
    private let body: ArraySlice<UInt8>
    private let boundary: ArraySlice<UInt8>

    /// The longest boundary that RFC 2046 section 5.1.1 allows, in characters, with the two hyphens before it.
    private static let boundarySizeMaximum = 72
    private static let partCountMaximum = 16
    private static let headSizeMaximum = 2048

    /// Returns nil if the body is not multipart.
    ///
    /// The first line is the boundary. If the type names another boundary, the body is not multipart. The type may be
    /// missing or wrong otherwise, because some players label a multipart body as a form.
    init?(_ text: ArraySlice<UInt8>, contentType: String?) {
        guard text.starts(with: "--".utf8), let end = text.firstIndex(of: 0x0A) else { return nil }
        let line = text[..<end].last == 0x0D ? text[..<(end - 1)] : text[..<end]
        guard line.count > 2, line.count <= Self.boundarySizeMaximum, line.allSatisfy({ (0x21...0x7E) ~= $0 })
        else { return nil }
        if let named = contentType.flatMap(Self.boundary(in:)), !line.dropFirst(2).elementsEqual(named.utf8) {
            return nil
        }
        body = text
        boundary = line
    }

    func request() throws(PlayerMessageError) -> PlayerRequest {
        var spc: [UInt8]?
        var hint: String?
        var token: String?
        for part in try parts() {
            switch part.name {
            case "spc", "SPC", "spcMessage":
                guard spc == nil else { throw .ambiguous }
                spc = try Self.spc(part.value)
            case "assetId", "contentId": hint = hint ?? String(decoding: part.value, as: UTF8.self)
            case "token":
                guard token == nil else { throw .ambiguousToken }
                token = String(decoding: part.value, as: UTF8.self)
            default: break
            }
        }
        guard let spc else { throw .multipartWithoutSPC }
        return PlayerRequest(shape: .multipart, keys: [RequestedKey(spc: spc, assetHint: hint)], token: token)
    }

    private static func spc(_ value: ArraySlice<UInt8>) throws(PlayerMessageError) -> [UInt8] {
        guard !value.isEmpty else { throw .multipartWithoutSPC }
        if PlayerMessageReader.looksLikeSPC(value) { return Array(value) }
        if value.starts(with: PlayerMessageReader.certificateStart) { throw .certificate }
        return try PlayerMessageReader.spc(fromBase64: value.span)
    }

    private struct Part {
        let name: String
        let value: ArraySlice<UInt8>
    }

    /// The parts up to the last boundary, which must be there.
    private func parts() throws(PlayerMessageError) -> [Part] {
        let lineEnd: [UInt8] = [0x0D, 0x0A]
        var parts: [Part] = []
        var count = 0
        var rest = body.dropFirst(boundary.count)
        while true {
            if rest.starts(with: "--".utf8) { return parts }
            guard count < Self.partCountMaximum, let start = Self.afterLineEnd(rest),
                let end = start.start(of: lineEnd + boundary)
            else { throw .multipartWithoutSPC }
            if let part = try Self.part(start[..<end]) { parts.append(part) }
            count += 1
            rest = start[(end + lineEnd.count + boundary.count)...]
        }
    }

    private static func afterLineEnd(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        text.starts(with: [0x0D, 0x0A]) ? text.dropFirst(2) : nil
    }

    /// Reads a part; returns nil for a part without a name.
    private static func part(_ text: ArraySlice<UInt8>) throws(PlayerMessageError) -> Part? {
        let end = Array("\r\n\r\n".utf8)
        guard let headEnd = text.prefix(headSizeMaximum).start(of: end) else { throw .multipartWithoutSPC }
        let head = String(decoding: text[..<headEnd], as: UTF8.self)
        return name(inHead: head).map { Part(name: $0, value: text[(headEnd + end.count)...]) }
    }

    private static func name(inHead head: String) -> String? {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-disposition:") {
            for parameter in line.split(separator: ";").dropFirst() {
                let sides = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
                if sides.count == 2, sides[0].lowercased() == "name" { return sides[1].filter { $0 != "\"" } }
            }
        }
        return nil
    }

    /// The boundary that a `Content-Type` names.
    private static func boundary(in type: String) -> String? {
        guard type.lowercased().hasPrefix("multipart/") else { return nil }
        for parameter in type.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = sides[0].filter { $0 != " " && $0 != "\t" }
            if sides.count == 2, name.lowercased() == "boundary" { return sides[1].filter { $0 != "\"" && $0 != " " } }
        }
        return nil
    }
}
