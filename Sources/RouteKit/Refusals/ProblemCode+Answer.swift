package import HTTPMessages
import Licensing

/// How a response presents each code: status, type, title and hint.
extension ProblemCode {
    package var status: HTTPStatus {
        switch self {
        case .bodyEmpty, .bodyUnrecognised, .spcIsCertificate, .spcDoubleBase64, .spcVersionUnsupported, .spcMalformed,
            .tokenAmbiguous, .tokenSchema, .badRequest, .requestInvalid:
            .badRequest
        case .spcReplayed, .keyConflict: .conflict
        case .rateLimited, .overloaded: .tooManyRequests
        case .spcCertificateUnknown, .spcRejected, .cpixRejected: .unprocessableContent
        case .tokenMissing, .tokenMalformed, .tokenAlgorithm, .keyIDUnknown, .keyIDRevoked, .tokenSignature,
            .tokenExpired, .tokenNotYet, .tokenLife, .tokenAudience, .tokenIssuer, .adminTokenInvalid,
            .packagerInvalid:
            .unauthorized
        case .contentMismatch, .offlineNotAllowed, .rightNotStarted, .rightEnded, .termsNotExpressible, .securityLevel,
            .tokenUsed, .tokenRevoked, .subjectDisabled, .deviceMismatch, .deviceRevoked, .deviceLimit,
            .concurrencyLimit, .sessionExpired, .sessionKilled, .addressDenied, .countryDenied, .entitlementDenied,
            .packagerForbidden, .adminRoleMissing, .adminOriginRefused, .sdkTerms, .sdkDevice:
            .forbidden
        case .keyNotFound, .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        case .bodyTooLarge: .contentTooLarge
        case .mediaTypeUnsupported, .contentEncodingUnsupported: .unsupportedMediaType
        case .uriTooLong: .uriTooLong
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .expectationFailed: .expectationFailed
        case .notImplemented: .notImplemented
        case .versionNotSupported: .versionNotSupported
        case .storageUnavailable, .keyStoreTimeout, .clockUntrusted, .moduleUnavailable, .entitlementUnavailable:
            .serviceUnavailable
        case .internalError: .internalServerError
        }
    }

    /// The problem type (RFC 9457): DASH-IF's if it defines one for this refusal, otherwise Latchkey's own.
    package var type: String {
        switch self {
        case .tokenMissing, .tokenMalformed, .tokenAlgorithm, .keyIDUnknown, .keyIDRevoked, .tokenSignature,
            .tokenExpired, .tokenNotYet, .tokenLife, .tokenAudience, .tokenIssuer:
            "https://dashif.org/drm-problems/insufficient-proof-of-authorization"
        case .entitlementDenied: "https://dashif.org/drm-problems/not-authorized"
        default: "urn:latchkey:error:" + rawValue  // DASH-IF has no type for the other codes.
        }
    }

    package var title: String {
        switch self {
        case .bodyEmpty: "No SPC was sent"
        case .bodyUnrecognised: "The body has no form that this address accepts"
        case .spcIsCertificate: "The body is a certificate, not an SPC"
        case .spcDoubleBase64: "The SPC was encoded in Base64 twice"
        case .spcVersionUnsupported: "This SPC version is not served"
        case .spcMalformed: "The SPC container is malformed"
        case .spcCertificateUnknown: "No credential has the SPC's certificate hash"
        case .spcRejected: "The SPC was rejected"
        case .spcReplayed: "The SPC was used before"
        case .adminTokenInvalid: "The administrator's token is missing or wrong"
        case .adminRoleMissing: "The administrator's roles do not allow this"
        case .adminOriginRefused: "The request was not made by the page of this server"
        case .packagerInvalid: "The packager's credential is missing or wrong"
        case .packagerForbidden: "The packager is not allowed to have this"
        case .cpixRejected: "The CPIX document is not supported"
        case .mediaTypeUnsupported: "The body has another media type than is read here"
        case .contentEncodingUnsupported: "The body has a content coding, and none is read here"
        case .keyConflict: "Another key is already stored under this name"
        case .rateLimited: "There were too many requests"
        case .overloaded: "The server is overloaded"
        case .tokenMissing: "A token is required"
        case .tokenAmbiguous: "More than one token was presented"
        case .tokenMalformed: "The token cannot be read"
        case .tokenAlgorithm: "The token's algorithm is not the one pinned to its key"
        case .keyIDUnknown: "The token's key is not known"
        case .keyIDRevoked: "The token's key is no longer accepted"
        case .tokenSignature: "The token's signature does not hold"
        case .tokenExpired: "The token has expired"
        case .tokenNotYet: "The token is not valid yet"
        case .tokenLife: "The token lives longer than its issuer may grant"
        case .tokenAudience: "The token is meant for another service"
        case .tokenIssuer: "The token's issuer is not the owner of its key"
        case .tokenSchema: "A claim of the token is missing, invalid or not supported"
        case .tokenUsed: "The token has no uses left"
        case .tokenRevoked: "The token was revoked"
        case .subjectDisabled: "The token's subject or issuer is disabled"
        case .deviceRevoked: "This device is blocked"
        case .addressDenied: "The token is for another network"
        case .countryDenied: "The token is for another country"
        case .contentMismatch: "The token does not allow this content"
        case .offlineNotAllowed: "The token does not allow an offline license"
        case .rightNotStarted: "The right has not started"
        case .rightEnded: "The right has ended"
        case .deviceMismatch: "The rights belong to another device"
        case .deviceLimit: "The limit on the number of devices is reached"
        case .concurrencyLimit: "The limit on simultaneous playbacks is reached"
        case .sessionExpired: "The session token can no longer renew a license"
        case .sessionKilled: "This playback was ended, by another one or by an operator"
        case .keyNotFound: "No key is stored for this content"
        case .entitlementDenied: "The entitlement service does not allow this"
        case .entitlementUnavailable: "The service that decides about the token, or publishes its keys, does not answer"
        case .termsNotExpressible: "This device cannot be told the limits that the token demands"
        case .securityLevel: "This device cannot give the protection that this content demands"
        case .sdkTerms: "The library of this credential cannot be told the limits that the rights demand"
        case .sdkDevice: "The library of this credential refuses the security of this device"
        case .storageUnavailable: "The store that counts and records licenses cannot be reached"
        case .keyStoreTimeout: "The key store did not answer"
        case .clockUntrusted: "The server's clock is not right"
        case .moduleUnavailable: "The credential's external module does not answer"
        case .notFound: "There is nothing at this address"
        case .methodNotAllowed: "This method is not served here"
        case .badRequest: "The request is not well-formed HTTP"
        case .requestInvalid: "A part of the request is missing, is not known or has a wrong value"
        case .requestTimeout: "The request did not arrive in time"
        case .bodyTooLarge: "The body is too large"
        case .uriTooLong: "The request target is too long"
        case .headTooLarge: "The request head is too large"
        case .expectationFailed: "This expectation is not served"
        case .notImplemented: "This method or transfer coding is not served"
        case .versionNotSupported: "This HTTP version is not served"
        case .internalError: "Something is wrong with the server"
        }
    }

    /// What the reader of the answer can do about it.
    package var hint: String {
        switch self {
        case .bodyEmpty: "POST the bytes of the SPC as the body, with Content-Type application/octet-stream."
        case .bodyUnrecognised: "POST a JSON object with one member, licenses or assets: a list of ids."
        case .spcIsCertificate: "Give the certificate to the player; what the player makes with it is the SPC."
        case .spcVersionUnsupported:
            "Versions 1 and 2 are served, and 3 where a credential enables it. Send the SPC as the player made it."
        case .spcDoubleBase64: "Encode the SPC once, or send its bytes as they are."
        case .spcMalformed: "Send the SPC exactly as the player made it: binary, whole, and nothing behind it."
        case .spcCertificateUnknown: "Give the player the certificate from GET /fps/certificate."
        case .spcRejected: "Look up the cause in the server's log by the request id."
        case .spcReplayed:
            "Have the player make a new SPC; for a sync request, fetch a challenge from POST /fps/challenge and use it once."
        case .adminTokenInvalid:
            "Send a token of the listener in the header Authorization: Bearer, connect with a certificate of one of its clients, or log in."
        case .adminRoleMissing: "Use a credential with one of these roles, or have the operator add a role to this one."
        case .adminOriginRefused:
            "Use the page at its own address. A program sends a token in the header Authorization: Bearer, and no cookie."
        case .packagerInvalid:
            "Send the packager's secret by Basic, Bearer or x-api-key, or connect with its client certificate."
        case .packagerForbidden: "Ask the operator which contents, scopes and certificates the packager has."
        case .cpixRejected: "Compare the document with the SPEKE version that the request names."
        case .mediaTypeUnsupported: "Send the document as application/xml in UTF-8."
        case .contentEncodingUnsupported: "Send the body as it is, without the header Content-Encoding."
        case .keyConflict: "Ask for the key as it is stored, or for a new one under another key id."
        case .rateLimited, .overloaded: "Try again after the number of seconds in retry_after."
        case .tokenMissing: "Send a token in the header Authorization: Bearer."
        case .tokenAmbiguous: "Send one token, once."
        case .tokenMalformed: "Send the compact form of a signed JWT, unchanged."
        case .tokenAlgorithm: "Sign with the algorithm that is configured for the key."
        case .keyIDUnknown: "Sign with a key that the server's configuration lists, and name it in kid."
        case .keyIDRevoked: "Fetch a token that is signed with a newer key."
        case .tokenSignature: "Check that the issuer signs with the key whose public part the server has."
        case .tokenExpired: "Fetch a new token and try again."
        case .tokenNotYet: "Compare the issuer's clock with server_time."
        case .tokenLife: "Issue tokens with a shorter life, and with iat or nbf."
        case .tokenAudience: "Put the server's audience into aud."
        case .tokenIssuer: "Put the issuer that the server's configuration names into iss."
        case .tokenSchema: "Compare the token's claims with the server's documentation."
        case .tokenUsed: "Fetch a new token and try again."
        case .tokenRevoked, .subjectDisabled, .deviceRevoked:
            "Ask the issuer of the tokens; a new one helps only if the issuer allows it."
        case .addressDenied, .countryDenied: "Fetch a token where the player is, without a proxy between."
        case .contentMismatch: "Fetch a token whose rights cover this content."
        case .offlineNotAllowed:
            "Ask for a streaming license, or fetch a token with a right for offline use, without a lease."
        case .rightNotStarted: "Try again after the number of seconds in retry_after."
        case .rightEnded: "Fetch a token with a right that has not ended."
        case .deviceMismatch: "Play on the device that the token was first used on, or fetch a token for this one."
        case .deviceLimit:
            "Play on one of the account's devices, or have the operator run latchkey account devices remove."
        case .concurrencyLimit: "Stop another playback of this account, and wait until its lease has ended."
        case .sessionExpired: "Fetch a new content token and ask with it, without the session token."
        case .sessionKilled: "Start playback again."
        case .keyNotFound: "Register the content's key, or correct the id in the key URI."
        case .termsNotExpressible:
            "Update the player, or grant limits that this device knows; the log says which one it is."
        case .securityLevel: "Grant less for this device, or use another device: the log says what it lacks."
        case .sdkTerms: "Grant limits that the library knows; the log says which one it cannot be told."
        case .sdkDevice: "Use another device, or update this one."
        case .entitlementDenied:
            "Ask the operator of the entitlement service; a new token helps only if that service allows it."
        case .storageUnavailable, .keyStoreTimeout, .clockUntrusted, .moduleUnavailable, .entitlementUnavailable:
            "Try again after the number of seconds in retry_after."
        case .notFound: "Licenses are at POST /fps/license, certificates at GET /fps/certificate."
        case .methodNotAllowed: "Use a method that the header Allow names."
        case .badRequest: "Check what stands between the client and the server."
        case .requestInvalid: "Correct the part of the request that detail names."
        case .requestTimeout: "Send the request without long pauses."
        case .bodyTooLarge: "An SPC has a few kilobytes; send nothing else."
        case .uriTooLong, .headTooLarge: "Send fewer and shorter fields."
        case .expectationFailed: "Send no expectation but 100-continue."
        case .notImplemented: "Use GET, HEAD or POST, and no transfer coding but chunked."
        case .versionNotSupported: "Use HTTP/1.1."
        case .internalError: "Report the request id to the operator of the server."
        }
    }
}

extension ProblemCode {
    /// The status of one key in answers that have a status for each key: `streaming-keys`, and the arrays of browsers.
    ///
    /// The numbers are in the column "Apple" of reference/errors.md; 0 is success. Nil for errors of HTTP, of admin
    /// listeners and of packagers' addresses, which no single key can have.
    package var appleStatus: Int64? {
        switch self {
        case .spcIsCertificate, .spcVersionUnsupported: -42580
        case .spcMalformed: -42581
        case .keyNotFound: -42584
        case .methodNotAllowed, .bodyTooLarge, .bodyEmpty, .bodyUnrecognised, .spcDoubleBase64: -42585
        case .keyStoreTimeout, .entitlementUnavailable, .rateLimited, .overloaded, .internalError, .storageUnavailable,
            .clockUntrusted, .moduleUnavailable:
            -42601
        case .spcReplayed, .tokenMissing, .tokenMalformed, .tokenAmbiguous, .tokenAlgorithm, .keyIDUnknown,
            .keyIDRevoked, .tokenSignature, .tokenExpired, .tokenNotYet, .tokenLife, .tokenAudience, .tokenIssuer,
            .tokenSchema, .tokenUsed, .tokenRevoked, .contentMismatch, .rightNotStarted, .rightEnded, .deviceMismatch,
            .deviceLimit, .deviceRevoked, .securityLevel, .offlineNotAllowed, .addressDenied, .countryDenied,
            .concurrencyLimit, .sessionExpired, .sessionKilled, .entitlementDenied, .termsNotExpressible,
            .subjectDisabled, .sdkTerms, .sdkDevice:
            -42604
        case .spcCertificateUnknown, .spcRejected: -42605
        case .adminTokenInvalid, .adminRoleMissing, .adminOriginRefused, .packagerInvalid, .packagerForbidden,
            .cpixRejected, .mediaTypeUnsupported, .contentEncodingUnsupported, .keyConflict, .notFound,
            .requestTimeout, .headTooLarge, .uriTooLong, .expectationFailed, .badRequest, .requestInvalid,
            .notImplemented, .versionNotSupported:
            nil
        }
    }
}
