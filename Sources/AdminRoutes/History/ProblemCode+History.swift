import Licensing
import RouteKit
import Telemetry

extension ProblemCode {
    /// The group of refusals in which the operator's plots count this code.
    package var historySeries: HistorySeries {
        switch self {
        // Strangers cause these two groups. A rate limit may refuse good tokens, so it is in another.
        case .tokenMissing, .tokenAmbiguous, .tokenMalformed, .tokenAlgorithm, .bodyEmpty, .bodyUnrecognised,
            .bodyTooLarge, .badRequest, .requestInvalid, .requestTimeout:
            .refusalsAnonymous
        case .tokenSignature, .keyIDUnknown, .keyIDRevoked: .refusalsUnproven
        case .spcIsCertificate, .spcDoubleBase64, .spcVersionUnsupported, .spcMalformed, .spcCertificateUnknown,
            .spcRejected, .spcReplayed:
            .refusalsSPC
        case .tokenExpired, .tokenNotYet, .tokenLife, .tokenAudience, .tokenIssuer, .tokenSchema: .refusalsToken
        case .tokenUsed, .tokenRevoked, .subjectDisabled, .deviceRevoked, .addressDenied, .countryDenied,
            .contentMismatch, .offlineNotAllowed, .rightNotStarted, .rightEnded, .deviceMismatch, .deviceLimit,
            .concurrencyLimit, .sessionExpired, .sessionKilled, .entitlementDenied, .termsNotExpressible,
            .securityLevel, .sdkTerms, .sdkDevice:
            .refusalsRights
        case .keyNotFound, .keyConflict: .refusalsKey
        case .overloaded, .rateLimited: .refusalsOverload
        default: isOurFault ? .refusalsFault : .refusalsOther  // The status decides for every other code.
        }
    }
}

/// A series of the operator's plots that counts refusals of license requests.
struct RefusalSeries {
    /// The events of the refusals that the plots count.
    private static let events: Set = ["license_refused", "query_refused"]
    private static let codes = Dictionary(
        grouping: ProblemCode.allCases, by: { $0.historySeries.rawValue }
    ).mapValues { Set($0.map(\.rawValue)) }

    /// Nil for the series of all refusals.
    private let codes: Set<String>?

    /// Returns nil if the series is not known, or counts no refusals.
    init?(_ name: String) {
        if name == HistorySeries.refusals.rawValue {
            codes = nil
        } else {
            guard let known = Self.codes[name] else { return nil }
            codes = known
        }
    }

    func counts(_ entry: RecentRefusals.Entry) -> Bool {
        Self.events.contains(entry.event) && codes?.contains(entry.code) ?? true
    }
}
