import ContentKeys
import Entitlements
import FairPlay
import Records

/// Decides what a client is told about a refusal: a stable code, and when to try again. No other place decides it.
extension LicenseError {
    package var code: ProblemCode {
        switch self {
        case .tokenMissing: .tokenMissing
        case .entitlement(let error): error.code
        case .spc(let error): error.code
        case .contentUnknown, .hintMismatch: .contentMismatch
        case .keyNotFound, .keyAmbiguous, .periodNotServed: .keyNotFound
        case .schemeNotPlayed(_, let isNamed), .boundKeyMissing(_, let isNamed):
            isNamed ? .keyNotFound : .contentMismatch
        case .store(let error): error.code
        case .denied(let denial): denial.code
        case .terms(let error, _): error.code
        case .keyStore: .keyStoreTimeout
        case .challengeNotOpen: .spcReplayed
        case .module(let error): error.code
        case .overloaded, .entitlementUnavailable(.busy): .overloaded
        case .entitlementDenied: .entitlementDenied
        case .entitlementUnavailable: .entitlementUnavailable
        case .rateLimited: .rateLimited
        case .clockUntrusted: .clockUntrusted
        case .internalFailure: .internalError
        }
    }

    /// After how many seconds to try again; nil if time alone does not help.
    package var retryAfterSeconds: Int64? {
        if case .entitlement(let error) = self { return error.retryAfterSeconds }
        if case .rateLimited(_, let seconds) = self { return seconds }
        if case .entitlementUnavailable(.breakerOpen(let seconds)) = self { return seconds }
        // A clock is not repaired in two seconds.
        if code == .clockUntrusted { return 10 }
        return code.passesByItself ? 2 : nil
    }
}

extension ProblemCode {
    /// Whether the cause is an overload or an outage, so that the same request may succeed a moment later.
    fileprivate var passesByItself: Bool {
        [.overloaded, .storageUnavailable, .keyStoreTimeout, .moduleUnavailable, .entitlementUnavailable].contains(self)
    }
}

extension EntitlementError {
    fileprivate var code: ProblemCode {
        switch self {
        case .tokenMalformed: .tokenMalformed
        case .tokenAmbiguous: .tokenAmbiguous
        case .algorithmNotServed, .algorithmNotPinned: .tokenAlgorithm
        case .keyUnknown: .keyIDUnknown
        case .keysUnavailable: .entitlementUnavailable
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
        case .tokenOfAnotherServer, .sessionOfAnotherServer: .tokenIssuer
        case .deviceMismatch: .deviceMismatch
        case .addressDenied: .addressDenied
        case .countryDenied: .countryDenied
        case .outputNotAllowed, .securityLevelTooLow: .securityLevel
        case .cryptoFailed: .internalError
        }
    }
}

extension LicenseTermsError {
    fileprivate var code: ProblemCode {
        switch self {
        case .durationNeedsPlaybackState, .offlineKeyUnsupported, .offlineKeyVersion2Unsupported,
            .dualExpiryUnsupported:
            .termsNotExpressible
        case .hdcpTypeUnsupported, .securityLevelTooLow, .denyListOutdated, .virtualMachine, .virtualMachineUnknown:
            .securityLevel
        case .library: .sdkTerms
        }
    }
}

extension SPCError {
    fileprivate var code: ProblemCode {
        switch self {
        case .empty: .bodyEmpty
        case .isCertificate: .spcIsCertificate
        case .unsupportedVersion: .spcVersionUnsupported
        case .malformed: .spcMalformed
        case .unknownCertificate: .spcCertificateUnknown
        case .rejected: .spcRejected
        case .internalFailure: .internalError
        }
    }
}

extension DecisionDenial {
    fileprivate var code: ProblemCode {
        switch self {
        case .replayed: .spcReplayed
        case .tokenUsed: .tokenUsed
        // With a limit of 0, only registered devices may play, and this one is not registered.
        case .deviceLimit(limit: 0), .otherDevice: .deviceMismatch
        case .deviceLimit: .deviceLimit
        case .slotsFull: .concurrencyLimit
        case .slotEvicted: .sessionKilled
        case .sessionSuperseded: .sessionExpired
        // `LicenseIssuer` computes the license again, so this error does not reach a client.
        case .rentalDiffers: .overloaded
        }
    }
}

extension LadderModuleError {
    /// A module that fails is a fault of this server. A module that is busy or away comes back.
    fileprivate var code: ProblemCode {
        switch self {
        case .failed, .answerMalformed, .refused: .internalError
        case .deviceRefused: .sdkDevice
        case .workerLost, .unavailable: .moduleUnavailable
        case .overloaded: .overloaded
        }
    }
}

extension StoreError {
    fileprivate var code: ProblemCode {
        switch self {
        case .contentAmbiguous: .keyNotFound
        // A full queue is no outage, because clients can fill it.
        case .unavailable(.busy): .overloaded
        case .unavailable(.clockUntrusted): .clockUntrusted
        case .unavailable: .storageUnavailable
        case .keyIDTaken, .aliasTaken, .keyUnknown, .keyIDSpellsContent, .aliasNamesContent, .periodTooFar, .sealBroken,
            .recordMalformed, .cryptographyFailed:
            .internalError
        }
    }
}
