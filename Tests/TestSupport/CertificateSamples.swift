import Foundation
package import KeyCrypto

/// Makes self-signed certificates with the contents that a test needs, and the forms in which files hold them.
package enum CertificateSamples {
    /// A certificate that is not marked as development material.
    package static func make(
        for key: RSAPrivateKey, notBefore: Int64 = 1_700_000_000, notAfter: Int64 = 2_000_000_000,
        sdkVersion: [UInt8]? = nil, team: String? = nil
    ) throws -> Certificate {
        var contents = SelfSignedContents(
            commonName: "\(key.modulusSize * 8)", notBefore: notBefore, notAfter: notAfter)
        contents.organization = "Example"
        contents.organizationalUnit = team
        if let sdkVersion {
            contents.extensions = [
                CertificateExtension(identifier: "1.2.840.113635.100.6.13.1.22", value: sdkVersion)
            ]
        }
        return try Certificate.makeSelfSigned(contents, for: key)
    }

    package static func pem(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        var text = "-----BEGIN \(label)-----\n"
        let digits = Array(Data(der).base64EncodedString())
        for start in stride(from: 0, to: digits.count, by: 64) {
            text += String(digits[start..<min(start + 64, digits.count)]) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
