import Licensing
import RouteKit

extension ProblemCode {
    /// The group of refusals in which the operator's plots count this code.
    package var historySeries: HistorySeries {
        switch self {
        case .bodyEmpty, .bodyUnrecognised, .spcIsCertificate, .spcDoubleBase64, .spcVersionUnsupported, .spcMalformed,
            .spcCertificateUnknown, .spcRejected, .spcReplayed:
            .refusalsSPC
        case .tokenMissing, .tokenAmbiguous, .tokenMalformed, .tokenAlgorithm, .keyIDUnknown, .keyIDRevoked,
            .tokenSignature, .tokenExpired, .tokenNotYet, .tokenLife, .tokenAudience, .tokenIssuer, .tokenSchema:
            .refusalsToken
        case .tokenUsed, .tokenRevoked, .subjectDisabled, .deviceRevoked, .addressDenied, .countryDenied,
            .contentMismatch, .offlineNotAllowed, .rightNotStarted, .rightEnded, .deviceMismatch, .deviceLimit,
            .concurrencyLimit, .sessionExpired, .sessionKilled, .entitlementDenied, .termsNotExpressible,
            .securityLevel, .sdkTerms, .sdkDevice:
            .refusalsRights
        case .keyNotFound, .keyConflict: .refusalsKey
        case .rateLimited, .overloaded: .refusalsOverload
        default: isOurFault ? .refusalsFault : .refusalsOther  // The status decides for every other code.
        }
    }
}
