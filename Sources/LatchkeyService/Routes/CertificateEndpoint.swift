import ByteCoding
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto

/// `GET /fps/certificate`: what an app gives to its player.
///
/// Without a query the first credential's bundle: its 1024-bit certificate followed by its 2048-bit one, or the only one that it has.
/// `?credential=NAME` chooses another credential, `?size=1024` or `?size=2048` one certificate.
struct CertificateEndpoint: Sendable {
    private struct File: Sendable {
        let body: [UInt8]
        let entityTag: String
    }

    private struct Files: Sendable {
        let bundle: File
        let certificate1024: File?
        let certificate2048: File?
    }

    private var files: [String: Files] = [:]
    private let defaultName: String?

    init(_ credentials: CredentialSet, crypto: CryptoContext) throws(CryptoError) {
        defaultName = credentials.credentials.first?.name
        for credential in credentials.credentials {
            files[credential.name] = Files(
                bundle: try Self.file(credential.bundle, crypto),
                certificate1024: try credential.certificate1024.map { (certificate) throws(CryptoError) in
                    try Self.file(certificate.der, crypto)
                },
                certificate2048: try credential.certificate2048.map { (certificate) throws(CryptoError) in
                    try Self.file(certificate.der, crypto)
                })
        }
    }

    private static func file(_ body: [UInt8], _ crypto: CryptoContext) throws(CryptoError) -> File {
        File(body: body, entityTag: "\"" + Hexadecimal.encode(try crypto.sha256(body).prefix(16)) + "\"")
    }

    /// The certificate, or nil where there is none of that name or size.
    func response(to request: HTTPRequest, id: RequestID) -> HTTPResponse? {
        guard let file = file(for: request.query) else { return nil }
        let fields: HTTPFields = [
            "Content-Type": "application/octet-stream",
            "Cache-Control": "public, max-age=3600",
            "ETag": file.entityTag,
            "X-Content-Type-Options": "nosniff",
            "X-Request-Id": id.text,
        ]
        if Self.isMet(request.fields.values(of: "If-None-Match"), by: file.entityTag) {
            return HTTPResponse(status: .notModified, fields: fields)
        }
        return HTTPResponse(status: .ok, fields: fields, body: file.body)
    }

    /// Whether the client has this entity (RFC 9110 section 13.1.2): `*`, or a list in which a weak tag counts as a strong one.
    ///
    /// A comma within a foreign tag splits it, which never makes it equal to ours.
    private static func isMet(_ conditions: [String], by entityTag: String) -> Bool {
        conditions.contains { condition in
            condition.split(separator: ",").contains { element in
                let tag = element.drop { $0 == " " || $0 == "\t" }
                let end = tag.lastIndex { $0 != " " && $0 != "\t" }
                let trimmed = end.map { tag[...$0] } ?? ""
                return trimmed == "*" || trimmed == entityTag || trimmed == "W/" + entityTag
            }
        }
    }

    private func file(for query: String?) -> File? {
        var name = defaultName
        var size: Substring?
        for item in query?.split(separator: "&") ?? [] {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            if parts[0] == "credential" { name = String(parts[1]) }
            if parts[0] == "size" { size = parts[1] }
        }
        guard let chosen = name.flatMap({ files[$0] }) else { return nil }
        switch size {
        case nil: return chosen.bundle
        case "1024": return chosen.certificate1024
        case "2048": return chosen.certificate2048
        default: return nil  // No other size exists.
        }
    }
}
