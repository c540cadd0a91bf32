package import Entitlements
package import FairPlay
package import HTTPServing
package import KeyCrypto
package import POSIXSockets
package import StoragePostgreSQL

/// What can be wrong with a value of the configuration, or with the file that it names.
///
/// No case carries the value, because a secret may have been pasted in its place.
package enum ConfigurationFault: Equatable, Sendable {
    // What the text says.

    /// There is no such field; the text is the known name that is spelled most like it.
    case unknownKey(nearest: String?)
    /// A required field is absent.
    case missing(expected: String, example: String)
    /// The value is of another JSON type.
    case wrongType(found: JSONTypeName, expected: String, example: String)
    /// The value is of the right type, and not one that the field takes.
    case invalidValue(expected: String, example: String)
    /// A list has the same element twice.
    case duplicate(of: String)
    /// Some path of a URL fits both.
    case pathsOverlap(with: String)
    /// This field does nothing without the other one.
    case incomplete(without: String)
    /// Only one of the two may be there.
    case conflict(with: String)
    /// One of these is required.
    case noneOf([String])
    /// The text begins as the URL of a PostgreSQL database, and is not one.
    case databaseURL(PostgreSQLURLError)

    // What the files hold.

    case file(FileError)
    /// The file is neither of these forms of a secret of this size, in bytes.
    case notASecret(size: Int)
    case notACertificate
    /// The file holds more certificates than the one that the field is for.
    case severalCertificates(count: Int)
    /// The file holds more certificates than the one of a recipient.
    case severalRecipients(count: Int)
    case notACertificateBundle(CertificateBundleError)
    case notAPrivateKey
    /// The private key is encrypted, and the credential names no passphrase.
    case passphraseMissing
    /// The private key does not open with the passphrase.
    case passphraseWrong
    /// The file is not one line of text that could be a passphrase.
    case notAPassphrase
    /// The credential names a passphrase, and no private key of it is encrypted.
    case passphraseUnneeded
    /// The certificate or private key has another size than its field says, in bits.
    case wrongKeySize(expected: Int, actual: Int)
    /// The certificate's key has a size that is not accepted, in bits.
    case keySizeOutOfRange(ClosedRange<Int>, actual: Int)
    /// The private key does not belong to the certificate that this field names.
    case keyMismatch(certificate: String)
    /// A credential before this one answers to the same certificate hash.
    case sameCertificate(as: String)
    case testCredentialForbidden
    /// The file is not one that the dynamic linker loads.
    case notALibrary
    /// This machine has no user of this name.
    case unknownUser
    /// The file holds no key for the algorithm that the field beside it names.
    case notAVerificationKey(Configuration.KeyAlgorithm)
    case issuer(IssuerSetError)
    case notAnAdminToken
    /// The file holds what could be a viewer's token.
    case secretIsAToken
    /// The issuer has no active key that seals tokens.
    case sealingKeyMissing
    /// The file is not one line of text that could be a database's password.
    case notADatabasePassword
    case cryptography(CryptoError)
    case tls(TLSError)

    // Who could reach a listener.

    /// There is no TLS, so licences and tokens would cross the network in the clear.
    case plaintextBeyondLoopback(SocketAddress)
    case developmentMaterialBeyondLoopback(SocketAddress, credential: String)
    case adminTokenMissing(SocketAddress)
}

/// The JSON types, as people name them.
package enum JSONTypeName: String, Sendable {
    case null
    case boolean = "true or false"
    case number = "a number"
    case string = "a string"
    case array = "a list"
    case object = "an object"
}
