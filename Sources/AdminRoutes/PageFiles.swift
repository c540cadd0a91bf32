import ByteCoding
import HTTPMessages
import HTTPServing
import KeyCrypto
import RouteKit

/// The files of the operator's page (Documentation/operate/page.md).
///
/// They are static and hold nothing of this installation. So they need no credential: the page asks for one, and every
/// request that it makes is checked. They come from `Sources/CEmbedded/OperatorPage`.
enum PageFiles {
    struct File: Sendable {
        let contentType: String
        /// The entity tag, with its quotes: the first 16 bytes of the content's SHA-256, in hexadecimal digits.
        let tag: String?
        let body: [UInt8]
        /// Whether the body is compressed by gzip (RFC 9110, section 8.4.1.3). Every browser reads that.
        let isCompressed: Bool

        init(name: String, content: [UInt8], isCompressed: Bool = false) {
            self.isCompressed = isCompressed
            contentType = PageFiles.contentType(of: name)
            // Without a digest, browsers load the file each time.
            tag = (try? SHA256Digest.of(content)).map { "\"\(Hexadecimal.encode($0.prefix(16)))\"" }
            body = content
        }
    }

    /// The path of the page itself, which is the file `index.html`.
    static let path = "/"
    /// The beginning of the paths of all files.
    static let prefix = "/page/"

    /// Only the page's own files may be loaded, and no other page may frame it. Texts cannot become markup or code.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"

    /// Fields of every answer. A browser asks again each time, because a new daemon may have a new page.
    private static let fields: HTTPFields = [
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",
    ]

    private static let files = Dictionary(
        uniqueKeysWithValues: EmbeddedFile.page.map { (prefix + $0.name, File(name: $0.name, content: $0.content)) })

    /// The file at a path. Returns nil if the page has no such file.
    static func file(at path: String) -> File? {
        files[path == self.path ? prefix + "index.html" : path]
    }

    /// Answers a GET or HEAD with the file, or with 304 if the browser has it already.
    static func response(
        _ file: File, to request: HTTPRequest, id: RequestID, policy: String = policy
    ) -> HTTPResponse {
        var fields = Self.fields
        fields.append("Content-Security-Policy", policy)
        if let tag = file.tag { fields.append("ETag", tag) }
        fields.append("X-Request-Id", id.text)
        if let tag = file.tag, let known = request.fields["If-None-Match"], isNamed(tag, in: known) {
            return HTTPResponse(status: .notModified, fields: fields)
        }
        fields.append("Content-Type", file.contentType)
        if file.isCompressed { fields.append("Content-Encoding", "gzip") }
        return HTTPResponse(status: .ok, fields: fields, body: file.body)
    }

    /// Whether a value of If-None-Match names the tag (RFC 9110, section 13.1.2). Tags here have no commas.
    private static func isNamed(_ tag: String, in value: String) -> Bool {
        value.split(separator: ",").contains { part in
            let name = part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return name == "*" || name == tag || name == "W/" + tag
        }
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "json": "application/json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        default: "text/plain; charset=utf-8"
        }
    }
}
