package import ByteCoding
package import ContentKeys
package import KeyCrypto

/// Why a packager's request is not answered with keys.
package enum CPIXError: Error, Equatable, Sendable {
    // Faults of the packager: status 422.

    case document(MarkupError)
    /// The root is not `CPIX` of the CPIX namespace.
    case notCPIX
    /// `X-Speke-Version` is unknown, or the path or the document has another version.
    case unsupportedSPEKEVersion
    case missingContentID
    /// The content id is not 1 to 200 printable ASCII characters.
    case invalidContentID
    case missingVersion
    /// `CPIX@version` is not 2.3 or 2.4, or does not go with `X-Speke-Version`.
    case unsupportedVersion
    case missingElement(String)
    /// An element occurs twice that may occur only once, or two elements have the same identifier.
    case repeatedElement(String)
    case missingAttribute(element: String, attribute: String)
    case invalidAttribute(element: String, attribute: String)
    /// There are more elements than allowed: 64 keys (one in SPEKE v1), 256 DRM systems or 8 recipients.
    case tooMany(String)
    /// The element names a key that `ContentKeyList` does not have.
    case unknownKeyID(element: String)
    /// `KeyPeriodFilter` names a period that `ContentKeyPeriodList` does not have.
    case unknownPeriod
    /// The request contains a key instead of asking for one.
    case keyInRequest
    case missingScheme(keyID: String)
    case unsupportedScheme(keyID: String)
    case mixedSchemes
    case incompatibleScheme(systemID: String)
    case unsupportedSystem(systemID: String)
    case malformedContract
    case unsupportedContract
    case missingContract
    /// A recipient's certificate is not X.509 in DER with an RSA key of 2,048 to 4,096 bits.
    case recipientCertificate
    /// The key exists, and its IV differs from the `explicitIV` of the request.
    case ivConflict(keyID: KeyID)

    // Faults of this server: status 500.

    /// No key was given for a key id of the request.
    case keyNotGiven(KeyID)
    /// The template of key URLs makes no valid URL for this key.
    case keyURL(SKDTemplateError)
    /// The template of key URLs makes the same URL for two keys, so that players would confuse them.
    case sharedKeyURL
    case cryptography(CryptoError)

    /// The HTTP status. SPEKE v2 allows 422 for each error of the request (packagers, section 1.2).
    package var status: Int {
        switch self {
        case .document, .notCPIX, .unsupportedSPEKEVersion, .missingContentID, .invalidContentID, .missingVersion,
            .unsupportedVersion, .missingElement, .repeatedElement, .missingAttribute, .invalidAttribute, .tooMany,
            .unknownKeyID, .unknownPeriod, .keyInRequest, .missingScheme, .unsupportedScheme, .mixedSchemes,
            .incompatibleScheme, .unsupportedSystem, .malformedContract, .unsupportedContract, .missingContract,
            .recipientCertificate, .ivConflict:
            422
        case .keyNotGiven, .keyURL, .sharedKeyURL, .cryptography: 500
        }
    }

    /// The body of the answer. SPEKE prescribes some of these texts exactly (packagers, section 1.4).
    package var text: String {
        switch self {
        case .document: "Malformed CPIX document"
        case .notCPIX: "Missing CPIX element"
        case .unsupportedSPEKEVersion: "Unsupported SPEKE version"
        case .missingContentID: "Missing CPIX@contentId"
        case .invalidContentID: "Malformed CPIX@contentId"
        case .missingVersion: "Missing CPIX@version"
        case .unsupportedVersion: "Unsupported CPIX@version"
        case .missingElement(let element): "Missing \(element)"
        case .repeatedElement(let element): "Repeated \(element)"
        case .missingAttribute(let element, let attribute): "Missing \(element)@\(attribute)"
        case .invalidAttribute(let element, let attribute): "Malformed \(element)@\(attribute)"
        case .tooMany(let element): "Too many \(element) elements"
        case .unknownKeyID(let element): "\(element)@kid is not in ContentKeyList"
        case .unknownPeriod: "KeyPeriodFilter@periodId is not in ContentKeyPeriodList"
        case .keyInRequest: "ContentKey carries a key"
        case .missingScheme(let keyID): "Missing ContentKey@commonEncryptionScheme for KID \(keyID)"
        case .unsupportedScheme(let keyID): "Unsupported ContentKey@commonEncryptionScheme for KID \(keyID)"
        case .mixedSchemes: "Non compliant ContentKey@commonEncryptionScheme combination"
        case .incompatibleScheme(let systemID):
            "ContentKey@commonEncryptionScheme non compatible with DRMSystem \(systemID)"
        case .unsupportedSystem(let systemID): "Unsupported DRMSystem \(systemID)"
        case .malformedContract: "Malformed encryption contract"
        case .unsupportedContract: "Requested CPIX encryption contract not supported"
        case .missingContract: "Missing CPIX encryption contract"
        case .recipientCertificate: "Unsupported DeliveryKey certificate"
        case .ivConflict(let keyID): "ContentKey@explicitIV differs from that of KID \(keyID)"
        case .keyNotGiven, .keyURL, .sharedKeyURL, .cryptography: "The keys are not available"
        }
    }
}
