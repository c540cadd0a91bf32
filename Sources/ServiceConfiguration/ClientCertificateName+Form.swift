import ByteCoding
import PackagerAPI

extension ConfigurationForm<ClientCertificateName> {
    /// The name of a client certificate. A text with an equals sign is a subject, any other text a fingerprint.
    static var certificateName: ConfigurationForm {
        .string(
            "a certificate's subject as RFC 4514 writes it, or its SHA-256 as 64 hexadecimal digits, with colons or"
                + " without",
            example: "CN=packager-1,O=Example",
            write: { name in
                switch name {
                case .subject(let text): text
                case .sha256(let digest): Hexadecimal.encode(digest)
                }
            },
            parse: { text in
                if text.utf8.contains(UInt8(ascii: "=")) {
                    let isSubject = (1...1024).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 }
                    return isSubject ? .subject(text) : nil
                }
                guard let digest = try? Hexadecimal.decode(text.replacing(":", with: "")), digest.count == 32 else {
                    return nil
                }
                return .sha256(digest)
            })
    }
}
