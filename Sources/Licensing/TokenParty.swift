package import ByteCoding
import Entitlements
package import KeyCrypto
package import Records

/// The party that a token stands for: rates and challenges are counted by it.
///
/// A token without a subject stands for itself. It is known by its id, a session token by its session, and any other
/// token by its digest, so that no two tokens share one count.
package enum TokenParty: Hashable, Sendable {
    case subject(String, issuer: String)
    case tokenID(String, issuer: String)
    case session(Bytes16)
    /// SHA-256 of what the token's signature is over: a signature has more than one spelling.
    case digest(Pseudonym, issuer: String)

    init(_ claims: Claims, of token: PresentedToken, using crypto: CryptoContext) throws(CryptoError) {
        if let subject = claims.subject {
            self = .subject(subject, issuer: claims.issuer)
        } else if let tokenID = claims.tokenID {
            self = .tokenID(tokenID, issuer: claims.issuer)
        } else if let session = claims.renewal?.id {
            self = .session(session)
        } else {
            self = .digest(try token.signedDigest(using: crypto), issuer: claims.issuer)
        }
    }

    /// The name under which a store keeps what the party holds.
    func pseudonym(by pseudonyms: Pseudonymizer) throws(CryptoError) -> Pseudonym {
        switch self {
        case .subject(let subject, let issuer):
            try pseudonyms.pseudonym(of: .subject, Array(issuer.utf8), Array(subject.utf8))
        case .tokenID(let id, let issuer): try pseudonyms.pseudonym(of: .token, Array(issuer.utf8), Array(id.utf8))
        case .session(let id): try pseudonyms.pseudonym(of: .session, id.bytes)
        case .digest(let digest, let issuer):
            try pseudonyms.pseudonym(of: .token, Array(issuer.utf8), Array("digest".utf8), digest.bytes)
        }
    }

    /// How the ledger names a token without an id and without a subject.
    package func ledgerName(by pseudonyms: Pseudonymizer) throws(CryptoError) -> String {
        "digest-" + Hexadecimal.encode(try pseudonym(by: pseudonyms).bytes.prefix(16))
    }
}

extension PresentedToken {
    /// The bytes as they were presented, several tokens with commas between.
    var bytes: [UInt8] { Array(tokens.joined(separator: [UInt8(ascii: ",")])) }

    /// SHA-256 of what a verified token's signature is over.
    func signedDigest(using crypto: CryptoContext) throws(CryptoError) -> Pseudonym {
        let bytes = bytes
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        return try Pseudonym(digesting: Array(bytes[..<end]), using: crypto)
    }

    /// SHA-256 of a token that only the operator's service can read: what is signed in it is not known.
    func wholeDigest(using crypto: CryptoContext) throws(CryptoError) -> Pseudonym {
        try Pseudonym(digesting: bytes, using: crypto)
    }
}

extension Pseudonym {
    init(digesting bytes: [UInt8], using crypto: CryptoContext) throws(CryptoError) {
        guard let digest = Pseudonym(try crypto.sha256(bytes)) else { throw .operationFailed("digest a request") }
        self = digest
    }
}
