package import ByteCoding
package import ContentKeys
package import Entitlements
package import FairPlay
package import HTTPServing
package import KeyCrypto
package import POSIXSockets
package import StoragePostgreSQL

/// A fault of a value in the configuration, or of the file that it names.
///
/// No case contains the value, because a secret may have been pasted in its place.
package enum ConfigurationFault: Equatable, Sendable {
    // Faults of the configuration's text.

    /// There is no such field. `nearest` is the known name with the most similar spelling.
    case unknownKey(nearest: String?)
    /// An earlier version had this field.
    case retired(RetiredField)
    /// A required field is missing.
    case missing(expected: String, example: String)
    /// The value has another JSON type.
    case wrongType(found: JSONTypeName, expected: String, example: String)
    /// The value has the right type, but the field does not allow it.
    case invalidValue(expected: String, example: String)
    /// Two values are the same that must be distinct.
    case duplicate(of: String)
    /// The listener of this field has the same address, or one that includes it.
    case sameAddress(as: String)
    /// Some request path matches both path patterns.
    case pathsOverlap(with: String)
    /// This field needs the other one.
    case incomplete(without: String)
    /// Only one of the two fields may be set.
    case conflict(with: String)
    /// One of these fields is required.
    case noneOf([String])
    /// The text begins like the URL of a PostgreSQL database, but is not a valid one.
    case databaseURL(PostgreSQLURLError)

    /// The text is not a template of key URIs that lead back to their keys, or not a form of asset ids.
    case keyURI(SKDTemplateError)

    // Faults of the files' contents.

    case file(FileError)
    /// The file has none of the forms of a secret of this size, in bytes.
    case notASecret(size: Int)
    case notACertificate
    /// The file has several certificates, but the field is for one.
    case severalCertificates(count: Int)
    /// The file has several certificates, but a recipient has one.
    case severalRecipients(count: Int)
    case notACertificateBundle(CertificateBundleError)
    /// The certificate file of an SDK's entry has this number of certificates, which is not the one for the entry.
    case wrongCertificateCount(Int)
    case notJSON(JSONError)
    case notAPrivateKey
    /// The private key is encrypted, and the credential names no passphrase.
    case passphraseMissing
    /// The private key does not open with the passphrase.
    case passphraseWrong
    /// The file is not one line of text that could be a passphrase.
    case notAPassphrase
    /// The credential names a passphrase, but none of its private keys is encrypted.
    case passphraseUnneeded
    /// The certificate or private key has another size than its field says, in bits.
    case wrongKeySize(expected: Int, actual: Int)
    /// The certificate's key has a size that is not accepted, in bits.
    case keySizeOutOfRange(ClosedRange<Int>, actual: Int)
    /// The private key does not belong to the certificate of the field with this name.
    case keyMismatch(certificate: String)
    /// An earlier credential has the same certificate hash.
    case sameCertificate(as: String)
    case testCredentialForbidden
    /// The file is not a shared library that the dynamic linker can load.
    case notALibrary
    /// This machine has no user with this name.
    case unknownUser
    /// The file has no key for this algorithm.
    case notAVerificationKey(Configuration.KeyAlgorithm)
    /// The file has a private key, and a public key is enough to verify tokens.
    case privateKeyForVerifying
    case issuer(IssuerSetError)
    case notAnAdminToken
    /// The file has a text that could be a viewer's token.
    case secretIsAToken
    /// The issuer has no active key that seals tokens.
    case sealingKeyMissing
    /// The file is not one line of text that could be a database's password.
    case notADatabasePassword
    case cryptography(CryptoError)
    case tls(TLSError)

    // Listeners that other machines can reach.

    /// The listener has no TLS, so licenses and tokens would cross the network in the clear.
    case plaintextBeyondLoopback(SocketAddress)
    case developmentMaterialBeyondLoopback(SocketAddress, credential: String)
    case adminTokenMissing(SocketAddress)
}

/// The JSON types, with names for messages.
package enum JSONTypeName: String, Sendable {
    case null
    case boolean = "true or false"
    case number = "a number"
    case string = "a string"
    case array = "a list"
    case object = "an object"
}
