/// What is known of a connection that uses TLS.
package struct TLSFacts: Hashable, Sendable {
    package enum Version: String, Sendable, CaseIterable {
        case version12 = "1.2"
        case version13 = "1.3"
    }

    package let version: Version
    /// Whether a session ticket took the place of a full handshake.
    package let isResumed: Bool
    /// The client's certificate, on listeners that demand one.
    package let clientCertificate: TLSClientCertificate?

    package init(version: Version, isResumed: Bool, clientCertificate: TLSClientCertificate? = nil) {
        self.version = version
        self.isResumed = isResumed
        self.clientCertificate = clientCertificate
    }
}

/// A client's certificate, which an authority of the listener has signed.
package struct TLSClientCertificate: Hashable, Sendable {
    /// The subject as RFC 4514 writes it: `CN=packager-1,O=Example`.
    package let subject: String
    /// The SHA-256 of the certificate's DER encoding, 32 bytes.
    package let sha256: [UInt8]

    package init(subject: String, sha256: [UInt8]) {
        self.subject = subject
        self.sha256 = sha256
    }
}
