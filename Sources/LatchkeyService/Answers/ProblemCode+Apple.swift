import Licensing

extension ProblemCode {
    /// The status of a key in answers that have one for each key: `streaming-keys`, and the arrays of browsers (errors,
    /// column "Apple"). Zero is success there. Nil for what only HTTP and admin listeners know: no key meets it.
    var appleStatus: Int64? {
        switch self {
        case .spcIsCertificate, .spcVersionUnsupported: -42580
        case .spcMalformed: -42581
        case .keyNotFound, .keyLost: -42584
        case .methodNotAllowed, .bodyTooLarge, .bodyEmpty, .bodyUnrecognised, .spcDoubleBase64: -42585
        case .keyStoreTimeout, .entitlementUnavailable, .rateLimited, .overloaded, .internalError, .storageUnavailable,
            .clockUntrusted, .moduleUnavailable:
            -42601
        case .spcReplayed, .tokenMissing, .tokenMalformed, .tokenAmbiguous, .tokenAlgorithm, .keyIDUnknown,
            .keyIDRevoked, .tokenSignature, .tokenExpired, .tokenNotYet, .tokenLife, .tokenAudience, .tokenIssuer,
            .tokenSchema, .tokenUsed, .tokenRevoked, .contentMismatch, .rightNotStarted, .rightEnded, .deviceMismatch,
            .deviceLimit, .deviceRevoked, .securityLevel, .offlineNotAllowed, .addressDenied, .countryDenied,
            .concurrencyLimit, .sessionExpired, .sessionKilled, .entitlementDenied, .termsNotExpressible,
            .subjectDisabled:
            -42604
        case .spcCertificateUnknown, .spcRejected: -42605
        case .adminTokenInvalid, .packagerInvalid, .packagerForbidden, .cpixRejected, .mediaTypeUnsupported,
            .keyConflict, .notFound, .requestTimeout, .headTooLarge, .uriTooLong, .expectationFailed,
            .badRequest, .notImplemented, .versionNotSupported:
            nil
        }
    }
}
