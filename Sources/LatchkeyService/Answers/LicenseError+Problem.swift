import ContentKeys
import Entitlements
import FairPlay
import Licensing
import Records

/// The one place that decides what a client hears about a licence that was not issued.
extension Problem {
    init(for error: LicenseError) {
        switch error {
        case .tokenMissing: self.init(.tokenMissing)
        case .entitlement(let error): self.init(for: error)
        case .spc(let error): self.init(Self.code(of: error))
        case .contentUnknown: self.init(.contentMismatch)
        case .keyNotFound: self.init(.keyNotFound)
        case .store(let error): self.init(for: error)
        case .denied(let denial): self.init(Self.code(of: denial))
        case .terms(let error): self.init(Self.code(of: error))
        case .challengeNotOpen: self.init(.spcReplayed)
        case .module(let error): self.init(for: error)
        case .overloaded: self.init(.overloaded, retryAfterSeconds: 2)
        case .entitlementDenied: self.init(.entitlementDenied)
        case .entitlementUnavailable(.busy): self.init(.overloaded, retryAfterSeconds: 2)
        case .entitlementUnavailable: self.init(.entitlementUnavailable, retryAfterSeconds: 2)
        case .rateLimited(_, let seconds): self.init(.rateLimited, retryAfterSeconds: seconds)
        case .internalFailure: self.init(.internalError)
        }
    }

    private init(for error: EntitlementError) {
        self.init(Self.code(of: error), retryAfterSeconds: error.retryAfterSeconds)
    }

    private static func code(of error: EntitlementError) -> ProblemCode {
        switch error {
        case .tokenMalformed: .tokenMalformed
        case .tokenAmbiguous: .tokenAmbiguous
        case .algorithmNotPinned: .tokenAlgorithm
        case .keyUnknown: .keyIDUnknown
        case .keyRevoked, .keyRetired: .keyIDRevoked
        case .signatureInvalid: .tokenSignature
        case .tokenExpired: .tokenExpired
        case .tokenNotYetValid: .tokenNotYet
        case .lifeTooLong: .tokenLife
        case .issuerMismatch: .tokenIssuer
        case .audienceMismatch: .tokenAudience
        case .claimInvalid, .claimUnsupported: .tokenSchema
        case .contentNotCovered, .streamingNotGranted: .contentMismatch
        case .offlineNotGranted, .offlineOutlivesLease: .offlineNotAllowed
        case .rightNotStarted: .rightNotStarted
        case .rightEnded: .rightEnded
        case .profileUnknown: .tokenSchema
        case .tokenRevoked: .tokenRevoked
        case .subjectDisabled: .subjectDisabled
        case .deviceRevoked: .deviceRevoked
        case .contentRevoked: .contentMismatch
        case .sessionKilled: .sessionKilled
        case .sessionEnded: .sessionExpired
        case .tokenOfAnotherServer: .tokenIssuer
        case .deviceMismatch: .deviceMismatch
        case .addressDenied: .addressDenied
        case .countryDenied: .countryDenied
        case .outputNotAllowed, .securityLevelTooLow: .securityLevel
        case .cryptoFailed: .internalError
        }
    }

    /// A module that fails is a fault here; one that is busy or away comes back.
    private init(for error: LadderModuleError) {
        switch error {
        case .failed, .answerMalformed, .refused: self.init(.internalError)
        case .workerLost, .unavailable: self.init(.moduleUnavailable, retryAfterSeconds: 2)
        case .overloaded: self.init(.overloaded, retryAfterSeconds: 2)
        }
    }

    private static func code(of error: LicenseTermsError) -> ProblemCode {
        switch error {
        case .durationNeedsPlaybackState, .offlineKeyUnsupported, .offlineKeyVersion2Unsupported,
            .dualExpiryUnsupported:
            .termsNotExpressible
        case .hdcpTypeUnsupported, .securityLevelTooLow, .denyListOutdated, .virtualMachine: .securityLevel
        }
    }

    private static func code(of error: SPCError) -> ProblemCode {
        switch error {
        case .empty: .bodyEmpty
        case .isCertificate: .spcIsCertificate
        case .unsupportedVersion: .spcVersionUnsupported
        case .malformed: .spcMalformed
        case .unknownCertificate: .spcCertificateUnknown
        case .rejected: .spcRejected
        case .internalFailure: .internalError
        }
    }

    private static func code(of denial: DecisionDenial) -> ProblemCode {
        switch denial {
        case .replayed: .spcReplayed
        case .tokenUsed: .tokenUsed
        case .deviceLimit(limit: 0...1): .deviceMismatch
        case .deviceLimit: .deviceLimit
        case .slotsFull: .concurrencyLimit
        case .slotEvicted: .sessionKilled
        case .sessionSuperseded: .sessionExpired
        }
    }

    private init(for error: StoreError) {
        switch error {
        case .contentAmbiguous: self.init(.keyNotFound)
        // A queue that is full is no outage: clients can fill it.
        case .unavailable(.busy): self.init(.overloaded, retryAfterSeconds: 2)
        case .unavailable: self.init(.storageUnavailable, retryAfterSeconds: 2)
        case .keyIDTaken, .aliasTaken, .keyUnknown, .sealBroken, .recordMalformed, .cryptographyFailed:
            self.init(.internalError)
        }
    }
}

extension LicenseError {
    /// The true cause, for the log alone. Holds no secret and no text of the token.
    var cause: RefusalCause {
        switch self {
        case .tokenMissing: RefusalCause("no token was presented")
        case .entitlement(let error): RefusalCause(error.description)
        case .spc(.rejected(let rejection)): RefusalCause(rejection)
        case .spc(let error): RefusalCause("SPC refused: \(error)")
        case .contentUnknown: RefusalCause("the asset id names no single live key, and no right names it")
        case .keyNotFound: RefusalCause("no single live key is stored for the asset id")
        case .store(let error): RefusalCause("store: \(error)")
        case .denied(let denial): RefusalCause("shared state: \(denial)")
        case .terms(let error): RefusalCause("terms: \(error)")
        case .challengeNotOpen: RefusalCause("the sync report's challenge is not open")
        case .module(let error): RefusalCause("external module: \(error)")
        case .overloaded: RefusalCause("more to do than can be done: waited for nothing")
        case .entitlementDenied(let error):
            RefusalCause("the entitlement service said no\(error.map { " (error \($0))" } ?? "")")
        case .entitlementUnavailable(let outage): RefusalCause("entitlement service: \(outage)")
        case .rateLimited(.address, _): RefusalCause("too many requests of an address")
        case .rateLimited(.subject, _): RefusalCause("too many requests of a subject")
        case .rateLimited(.unverifiedTokens, _):
            RefusalCause("too many requests with tokens that nobody here can verify")
        case .internalFailure(let error): RefusalCause("cryptography: \(error)")
        }
    }
}
