import ByteCoding
package import FairPlay
package import HTTPMessages
package import HTTPServing
package import KeyCrypto
import Licensing
package import RouteKit
package import ServiceConfiguration

/// `GET /fps/certificate`: what an app gives to its player.
///
/// Without a query it is the bundle of the first credential that is serving: the 1024-bit certificate followed by the
/// 2048-bit one, or the only one. `?credential=NAME` selects another credential that is serving or staged, `?size=1024`
/// or `?size=2048` one certificate, and `?format=` the format.
package struct CertificateEndpoint: Sendable {
    /// The outcome for a query.
    package enum Answer: Sendable {
        case found(HTTPResponse)
        /// No credential has that name, it is draining, or it has no certificate of that size.
        case notFound(Absence)
        case formatUnknown
    }

    /// Why a query finds no certificate, for the operator. The client gets only `not_found`.
    package struct Absence: Equatable, Sendable {
        package let cause: String
        package let found: String
        package let expected: String
    }

    private struct File: Sendable {
        let body: [UInt8]
        /// A strong entity tag, so each format has a different one.
        let entityTag: String
    }

    /// One certificate or a bundle, in every format.
    private struct Forms: Sendable {
        let raw: File
        let base64: File
        let pem: File
        let json: File

        init(_ certificates: [[UInt8]], _ crypto: CryptoContext) throws(CryptoError) {
            let bytes = Array(certificates.joined())
            let digest = Hexadecimal.encode(try crypto.sha256(bytes).prefix(16))
            raw = File(body: bytes, entityTag: "\"\(digest)\"")
            base64 = File(body: Array(Base64.encode(bytes).utf8), entityTag: "\"\(digest)-base64\"")
            pem = File(body: certificates.flatMap { Self.pem($0) }, entityTag: "\"\(digest)-pem\"")
            json = File(
                body: JSONWriter.object { $0.member("certificate", base64: bytes) }, entityTag: "\"\(digest)-json\"")
        }

        subscript(format: Configuration.CertificateFormat) -> File {
            switch format {
            case .raw: raw
            case .base64: base64
            case .pem: pem
            case .json: json
            }
        }

        /// A certificate in PEM with lines of 64 characters (RFC 7468).
        private static func pem(_ certificate: [UInt8]) -> [UInt8] {
            var text = Array("-----BEGIN CERTIFICATE-----\n".utf8)
            var rest = Array(Base64.encode(certificate).utf8)[...]
            while !rest.isEmpty {
                text += rest.prefix(64)
                text.append(UInt8(ascii: "\n"))
                rest = rest.dropFirst(64)
            }
            text += "-----END CERTIFICATE-----\n".utf8
            return text
        }
    }

    private struct Files: Sendable {
        let bundle: Forms
        let certificate1024: Forms?
        let certificate2048: Forms?
    }

    private var files: [String: Files] = [:]
    private let defaultName: String?
    private let drainingNames: Set<String>

    package init(_ credentials: CredentialSet, crypto: CryptoContext) throws(CryptoError) {
        defaultName = credentials.credentials.first { $0.stage == .serving }?.name
        drainingNames = Set(credentials.credentials.filter { $0.stage == .draining }.map(\.name))
        for credential in credentials.credentials where credential.stage != .draining {
            let certificates = [credential.certificate1024?.der, credential.certificate2048?.der].compactMap(\.self)
            files[credential.name] = Files(
                bundle: try Forms(certificates, crypto),
                certificate1024: try credential.certificate1024.map { (certificate) throws(CryptoError) in
                    try Forms([certificate.der], crypto)
                },
                certificate2048: try credential.certificate2048.map { (certificate) throws(CryptoError) in
                    try Forms([certificate.der], crypto)
                })
        }
    }

    /// The certificate that the query asks for, in the query's format, or in `standard` if the query names no format.
    package func answer(
        to request: HTTPRequest, standard: Configuration.CertificateFormat = .raw, id: RequestID
    ) -> Answer {
        let query = CertificateQuery(request.parameters)
        guard let format = query.format.map({ Configuration.CertificateFormat(rawValue: $0) }) ?? standard else {
            return .formatUnknown
        }
        guard let file = forms(for: query)?[format] else { return .notFound(absence(for: query)) }
        let fields: HTTPFields = [
            "Content-Type": format.contentType,
            "Cache-Control": "public, max-age=3600",
            "ETag": file.entityTag,
            "X-Content-Type-Options": "nosniff",
            "X-Request-Id": id.text,
        ]
        if Self.isMet(request.fields.allBytes(of: "If-None-Match"), by: file.entityTag) {
            return .found(HTTPResponse(status: .notModified, fields: fields))
        }
        return .found(HTTPResponse(status: .ok, fields: fields, body: file.body))
    }

    /// The problem for a query with an unknown format.
    package static var formatProblem: Problem {
        let names = Configuration.CertificateFormat.allCases.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(.requestInvalid)
        problem.detail = "The query's format is not one of \(names)"
        problem.hint = "Give format once, or not at all: \(names)."
        problem.facts = [("parameter", .word("format"))]
        return problem
    }

    /// Whether the client has this entity (RFC 9110 section 13.1.2): `*`, or a list in which a weak tag counts as a
    /// strong one.
    ///
    /// A comma inside another server's tag splits that tag, but the parts are never equal to this tag.
    private static func isMet(_ conditions: [ArraySlice<UInt8>], by entityTag: String) -> Bool {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return conditions.prefix(tagCountMaximum).contains { condition in
            condition.split(separator: UInt8(ascii: ","), maxSplits: tagCountMaximum).contains { element in
                let tag = element.drop(while: isBlank)
                let trimmed = tag.lastIndex { !isBlank($0) }.map { tag[...$0] } ?? []
                let strong = trimmed.starts(with: "W/".utf8) ? trimmed.dropFirst(2) : trimmed
                return trimmed.elementsEqual("*".utf8) || strong.elementsEqual(entityTag.utf8)
            }
        }
    }

    /// How many tags of a condition are compared. Clients send one.
    private static let tagCountMaximum = 16

    private func forms(for query: CertificateQuery) -> Forms? {
        guard let chosen = (query.credential ?? defaultName).flatMap({ files[$0] }) else { return nil }
        switch query.size {
        case nil: return chosen.bundle
        case "1024": return chosen.certificate1024
        case "2048": return chosen.certificate2048
        default: return nil  // No other size exists.
        }
    }
}

extension CertificateEndpoint {
    private func absence(for query: CertificateQuery) -> Absence {
        let names = "a credential that is serving or staged; latchkey credentials list names them"
        guard let name = query.credential ?? defaultName else {
            return Absence(cause: "no credential is serving", found: "no parameter credential", expected: names)
        }
        if files[name] == nil {
            let cause =
                drainingNames.contains(name)
                ? "the credential is draining, so its certificates are not given to apps"
                : "no credential has the name that the parameter credential has"
            return Absence(cause: cause, found: "credential=\(name)", expected: names)
        }
        return Absence(
            cause: "the credential has no certificate of this size",
            found: "credential \(name), size=\(query.size ?? "")",
            expected: "size=1024 or size=2048, as the credential has it; see latchkey credentials list")
    }
}

/// The parameters that select a certificate. If a parameter is repeated, the last one counts.
///
/// Other parameters are ignored, because caches and proxies may add their own.
private struct CertificateQuery {
    let credential: String?
    let size: String?
    let format: String?

    init(_ query: QueryPairs) {
        let last = { (name: String) in query.values(name).last.map { String(decoding: $0, as: UTF8.self) } }
        (credential, size, format) = (last("credential"), last("size"), last("format"))
    }
}

extension Configuration.CertificateFormat {
    fileprivate var contentType: String {
        switch self {
        case .raw: "application/octet-stream"
        case .base64: "text/plain; charset=utf-8"
        case .pem: "application/x-pem-file"
        case .json: "application/json"
        }
    }
}
