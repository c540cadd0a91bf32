package import ByteCoding
import Entitlements
package import KeyCrypto
package import Records

/// The party that a token stands for. Rates and challenges are counted for it.
///
/// A token without a subject is a party of its own, so that no two such tokens share one count. It is identified by its
/// id, a session token by its session, and any other token by its digest.
package enum TokenParty: Hashable, Sendable {
    case subject(String, issuer: String)
    case tokenID(String, issuer: String)
    case session(Bytes16)
    /// The SHA-256 of the signed part of the token. The signature is left out, because one signature can be written in
    /// more than one way.
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

    /// The name under which a store keeps the challenges and counts of the party.
    func pseudonym(by pseudonyms: Pseudonymizer) throws(CryptoError) -> Pseudonym {
        switch self {
        case .subject(let subject, let issuer):
            try pseudonyms.subject(issuer: issuer, subject)
        case .tokenID(let id, let issuer): try pseudonyms.pseudonym(of: .token, Array(issuer.utf8), Array(id.utf8))
        case .session(let id): try pseudonyms.pseudonym(of: .session, id.bytes)
        case .digest(let digest, let issuer):
            try pseudonyms.pseudonym(of: .token, Array(issuer.utf8), Array("digest".utf8), digest.bytes)
        }
    }

    /// The name in the ledger of a token that has no id and no subject.
    package func ledgerName(by pseudonyms: Pseudonymizer) throws(CryptoError) -> String {
        "digest-" + Hexadecimal.encode(try pseudonym(by: pseudonyms).bytes.prefix(16))
    }
}

extension PresentedToken {
    /// The bytes as they were presented. Several tokens are joined by commas.
    var bytes: [UInt8] { tokens.count == 1 ? tokens[0] : Array(tokens.joined(separator: [UInt8(ascii: ",")])) }

    /// The SHA-256 of the signed part of a verified token.
    func signedDigest(using crypto: CryptoContext) throws(CryptoError) -> Pseudonym {
        let bytes = bytes
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        return try Pseudonym(digesting: Array(bytes[..<end]), using: crypto)
    }

    /// The SHA-256 of the whole token. It serves for tokens that only the operator's service can read, because their
    /// signed part is not known.
    func wholeDigest(using crypto: CryptoContext) throws(CryptoError) -> Pseudonym {
        try Pseudonym(digesting: bytes, using: crypto)
    }
}

extension Pseudonym {
    init(digesting bytes: [UInt8], using crypto: CryptoContext) throws(CryptoError) {
        self.init(try crypto.sha256(of: bytes))
    }
}
