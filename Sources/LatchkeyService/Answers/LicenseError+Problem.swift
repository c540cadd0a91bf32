import ContentKeys
import Entitlements
import FairPlay
import Licensing

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
        case .terms(.durationNeedsPlaybackState): self.init(.termsNotExpressible)
        case .terms(.hdcpTypeUnsupported): self.init(.securityLevel)
        case .internalFailure: self.init(.internalError)
        }
    }

    private init(for error: EntitlementError) {
        guard let code = ProblemCode(rawValue: error.code) else {
            preconditionFailure("every code of the gate is in the table: \(error.code)")
        }
        self.init(code, retryAfterSeconds: error.retryAfterSeconds)
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

    private init(for error: StoreError) {
        switch error {
        case .contentAmbiguous: self.init(.keyNotFound)
        case .unavailable: self.init(.storageUnavailable, retryAfterSeconds: 2)
        case .keyIDTaken, .aliasTaken, .keyUnknown, .sealBroken, .recordMalformed, .cryptographyFailed:
            self.init(.internalError)
        }
    }
}

extension LicenseError {
    /// The true cause, for the log alone. Holds no secret and no text of the token.
    var cause: String {
        switch self {
        case .tokenMissing: "no token was presented"
        case .entitlement(let error): error.description
        case .spc(.rejected(let rejection)): "SPC rejected: \(rejection)"
        case .spc(let error): "SPC refused: \(error)"
        case .contentUnknown: "the asset id names no stored key, and no right names it"
        case .keyNotFound: "no single live key is stored for the asset id"
        case .store(let error): "key store: \(error)"
        case .terms(let error): "terms not expressible: \(error)"
        case .internalFailure: "the cryptographic library failed"
        }
    }
}
