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

extension CPIXError {
    /// The value of the document that is refused, for the log; nil if the text says it.
    package var found: String? {
        switch self {
        case .document(let fault): "\(fault)"
        case .incompatibleScheme(let systemID), .unsupportedSystem(let systemID): "DRMSystem \(systemID)"
        case .unknownKeyID(let element): "a \(element)@kid that is not in ContentKeyList"
        case .tooMany(let element): "too many \(element)"
        case .notCPIX, .unsupportedSPEKEVersion, .missingContentID, .invalidContentID, .missingVersion,
            .unsupportedVersion, .missingElement, .repeatedElement, .missingAttribute, .invalidAttribute,
            .unknownPeriod, .keyInRequest, .missingScheme, .unsupportedScheme, .mixedSchemes, .malformedContract,
            .unsupportedContract, .missingContract, .recipientCertificate, .ivConflict, .keyNotGiven, .keyURL,
            .sharedKeyURL, .cryptography:
            nil
        }
    }

    /// What would be accepted, for the log; nil for a fault of this server.
    package var expected: String? {
        switch self {
        case .document: "well-formed XML in UTF-8 without declarations"
        case .notCPIX: "the root CPIX of the namespace \(CPIXNamespace.cpix)"
        case .unsupportedSPEKEVersion: "one version in X-Speke-Version, path and document: none (1.0), 2.0 or 2.1"
        case .missingContentID, .invalidContentID: "a content id of 1 to 200 printable ASCII characters"
        case .missingVersion, .unsupportedVersion: "CPIX@version 2.3 with X-Speke-Version 2.0, or 2.4 with 2.1"
        case .missingElement(let element): "one \(element)"
        case .repeatedElement(let element): "each \(element) once"
        case .missingAttribute(let element, let attribute), .invalidAttribute(let element, let attribute):
            "a valid \(element)@\(attribute)"
        case .tooMany:
            "at most \(CPIXRequest.keyCountMaximum) keys (1 in SPEKE 1.0), \(CPIXRequest.systemCountMaximum) systems,"
                + " \(CPIXRequest.recipientCountMaximum) recipients"
        case .unknownKeyID: "a key id of ContentKeyList"
        case .unknownPeriod: "a period of ContentKeyPeriodList"
        case .keyInRequest: "ContentKey without a key"
        case .missingScheme, .unsupportedScheme:
            "one of \(CommonEncryptionScheme.allCases.map(\.rawValue).joined(separator: ", "))"
        case .mixedSchemes: "one scheme for all keys"
        case .incompatibleScheme: "cbcs or SAMPLE-AES with FairPlay"
        case .unsupportedSystem: "one of \(DRMSystem.allCases.map { "\($0.identifier)" }.joined(separator: ", "))"
        case .malformedContract, .unsupportedContract, .missingContract:
            "an encryption contract as the documentation has it (packaging/speke.md)"
        case .recipientCertificate:
            "X.509 in DER with an RSA key of \(DeliveryRecipient.keyBits.lowerBound) to"
                + " \(DeliveryRecipient.keyBits.upperBound) bits"
        case .ivConflict: "the IV of the stored key, or none"
        case .keyNotGiven, .keyURL, .sharedKeyURL, .cryptography: nil
        }
    }

    /// The key id that the fault is about, as the document or the store has it; nil if it is about no single key.
    package var keyID: String? {
        switch self {
        case .missingScheme(let keyID), .unsupportedScheme(let keyID): keyID
        case .ivConflict(let keyID), .keyNotGiven(let keyID): keyID.description
        case .document, .notCPIX, .unsupportedSPEKEVersion, .missingContentID, .invalidContentID, .missingVersion,
            .unsupportedVersion, .missingElement, .repeatedElement, .missingAttribute, .invalidAttribute, .tooMany,
            .unknownKeyID, .unknownPeriod, .keyInRequest, .mixedSchemes, .incompatibleScheme, .unsupportedSystem,
            .malformedContract, .unsupportedContract, .missingContract, .recipientCertificate, .keyURL, .sharedKeyURL,
            .cryptography:
            nil
        }
    }
}
