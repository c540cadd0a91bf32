import CommandLineKit
import FairPlay
import KeyCrypto

/// A file of certificates: one, or the bundle of both, in DER or PEM.
enum CertificateFile {
    /// The certificate that an SPC of this version wraps its key for: 1024 bits for version 1, 2048 bits for versions 2
    /// and 3.
    ///
    /// `path` is for messages alone.
    static func certificate(
        for version: SPCVersion, in bytes: [UInt8], _ path: String
    ) throws(CommandError) -> Certificate {
        let certificates: [Certificate]
        do throws(CryptoError) {
            certificates = try Certificate.parseAll(bytes)
        } catch {
            throw .failed("\(path) is no certificate in DER or PEM and no bundle of two; it is \(FileKind(bytes))")
        }
        let bits = version.wrappedKeySize * 8
        guard let certificate = certificates.first(where: { $0.keyBits == bits }) else {
            let found = certificates.map { "\($0.keyBits)" }.joined(separator: " and ")
            throw .failed(
                "SPC version \(version.rawValue) needs a certificate of a \(bits)-bit key; \(path) has \(found) bits: "
                    + "name the other certificate, the bundle, or another --spc-version")
        }
        return certificate
    }
}
