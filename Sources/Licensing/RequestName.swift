import ByteCoding
import Entitlements
import FairPlay
import KeyCrypto
import Records

/// Names the request for one license, so that its repetitions are recognised (architecture, "What a repeat is").
///
/// A repetition has the same SPC, comes from the same party, and is granted the same. The name is the SHA-256 of these
/// three. Another grant has another name, so it is decided in full: a license of one token is no way to another one's.
struct RequestName {
    private static let size = 256

    private let license: GrantedLicense
    private let request: OpenedRequest
    private let crypto: CryptoContext

    init(of license: GrantedLicense, _ request: OpenedRequest, using crypto: CryptoContext) {
        self.license = license
        self.request = request
        self.crypto = crypto
    }

    /// - Parameters:
    ///   - subject: The pseudonym of the token's issuer and subject; nil for a token without a subject.
    ///   - session: The pseudonym of the session that is renewed; nil for an entitlement token.
    func digest(subject: Pseudonym?, session: Pseudonym?) throws(CryptoError) -> Pseudonym {
        var writer = ByteWriter(capacity: Self.size)
        writer.write(try spcDigest().bytes)
        if request.isDecidedByService {
            // What the operator's service grants may count down from one question to the next.
            writer.write(UInt8(0))
            writer.write(try tokenDigest().bytes)
            writer.write(UInt8(request.use == .offline ? 1 : 0))
        } else {
            try writeParty(to: &writer, subject: subject, session: session)
            license.authorization.writeGrant(to: &writer)
        }
        return try Pseudonym(digesting: writer.bytes, using: crypto)
    }

    /// A token that contains the content key is a party of its own, because another one may contain another key.
    private func writeParty(
        to writer: inout ByteWriter, subject: Pseudonym?, session: Pseudonym?
    ) throws(CryptoError) {
        if let subject, license.authorization.embeddedKey == nil {
            writer.write(UInt8(1))
            writer.write(subject.bytes)
        } else if let session {
            writer.write(UInt8(2))
            writer.write(session.bytes)
        } else {
            writer.write(UInt8(3))
            writer.write(try tokenDigest().bytes)
        }
    }

    private func spcDigest() throws(CryptoError) -> Pseudonym {
        if let digest = request.digest { return digest }
        return try Pseudonym(digesting: request.admission.request.message, using: crypto)
    }

    private func tokenDigest() throws(CryptoError) -> Pseudonym {
        if let digest = request.tokenDigest { return digest }
        return try request.admission.token.wholeDigest(using: crypto)
    }
}
