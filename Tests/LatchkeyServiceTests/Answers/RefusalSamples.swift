import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import Records
import Testing

/// A refusal of the license pipeline, and the status and code that the table of error codes gives it.
struct RefusalSample: Sendable, CustomTestStringConvertible {
    let error: LicenseError
    let status: UInt16
    let code: String
    var retryAfterSeconds: Int64?

    init(_ error: LicenseError, _ status: UInt16, _ code: String, retryAfterSeconds: Int64? = nil) {
        self.error = error
        self.status = status
        self.code = code
        self.retryAfterSeconds = retryAfterSeconds
    }

    var testDescription: String { "\(error)" }

    static func all() throws -> [RefusalSample] {
        let hash = try #require(CertificateHash([UInt8](repeating: 7, count: 20)))
        let period = PeriodRefusal(
            contentID: try ContentID("movie-1"), period: 3, reason: .past, current: 9, window: 4)
        return try ours + entitlements + containers + rejections + stores + [
            RefusalSample(.periodNotServed(period), 404, "key_not_found"),
            RefusalSample(.spc(.unknownCertificate(hash: hash)), 422, "spc_certificate_unknown"),
            RefusalSample(.store(.contentAmbiguous(ContentID("movie-1"))), 404, "key_not_found"),
            RefusalSample(.store(.keyIDSpellsContent(keyID, ContentID("movie-1"))), 500, "internal"),
            RefusalSample(.store(.aliasNamesContent(ContentID("movie-1"))), 500, "internal"),
            RefusalSample(.store(.periodTooFar(ContentID("movie-1"), period: 999, newest: 1)), 500, "internal"),
        ]
    }

    private static let boundNames = BoundKeyNames(keyIDs: [keyID], content: "movie-1")

    private static let ours = [
        RefusalSample(.tokenMissing, 401, "token_missing"),
        RefusalSample(.contentUnknown, 403, "content_mismatch"),
        RefusalSample(.keyNotFound, 404, "key_not_found"),
        RefusalSample(.keyAmbiguous, 404, "key_not_found"),
        RefusalSample(.schemeNotPlayed(.cenc, isNamed: true), 404, "key_not_found"),
        RefusalSample(.schemeNotPlayed(.cbc1, isNamed: false), 403, "content_mismatch"),
        RefusalSample(.boundKeyMissing(boundNames, isNamed: true), 404, "key_not_found"),
        RefusalSample(.boundKeyMissing(boundNames, isNamed: false), 403, "content_mismatch"),
        RefusalSample(.terms(.durationNeedsPlaybackState), 403, "terms_not_expressible"),
        RefusalSample(.terms(.offlineKeyUnsupported), 403, "terms_not_expressible"),
        RefusalSample(.terms(.offlineKeyVersion2Unsupported), 403, "terms_not_expressible"),
        RefusalSample(.terms(.dualExpiryUnsupported), 403, "terms_not_expressible"),
        RefusalSample(.terms(.hdcpTypeUnsupported), 403, "security_level"),
        RefusalSample(.terms(.securityLevelTooLow(required: .main, device: .baseline)), 403, "security_level"),
        RefusalSample(.terms(.denyListOutdated(version: 30)), 403, "security_level"),
        RefusalSample(.terms(.virtualMachine), 403, "security_level"),
        RefusalSample(.terms(.virtualMachineUnknown), 403, "security_level"),
        RefusalSample(.terms(.library(.rental)), 403, "sdk_terms"),
        RefusalSample(.module(.deviceRefused(status: -42604)), 403, "sdk_device"),
        RefusalSample(.module(.unavailable), 503, "module_unavailable", retryAfterSeconds: 2),
        RefusalSample(.module(.workerLost), 503, "module_unavailable", retryAfterSeconds: 2),
        RefusalSample(.module(.overloaded), 429, "overloaded", retryAfterSeconds: 2),
        RefusalSample(.module(.failed(status: 7)), 500, "internal"),
        RefusalSample(.module(.answerMalformed), 500, "internal"),
        RefusalSample(.challengeNotOpen, 409, "spc_replayed"),
        RefusalSample(.hintMismatch(.query), 403, "content_mismatch"),
        RefusalSample(.denied(.replayed), 409, "spc_replayed"),
        RefusalSample(.denied(.tokenUsed(limit: 3)), 403, "token_used"),
        RefusalSample(.denied(.deviceLimit(limit: 0)), 403, "device_mismatch"),
        RefusalSample(.denied(.otherDevice), 403, "device_mismatch"),
        RefusalSample(.denied(.deviceLimit(limit: 1)), 403, "device_limit"),
        RefusalSample(.denied(.deviceLimit(limit: 2)), 403, "device_limit"),
        RefusalSample(.denied(.slotsFull(current: 2, limit: 2)), 403, "concurrency_limit"),
        RefusalSample(.denied(.slotEvicted), 403, "session_killed"),
        RefusalSample(.denied(.sessionSuperseded), 403, "session_expired"),
        RefusalSample(.entitlementDenied(error: 17), 403, "entitlement_denied"),
        RefusalSample(.entitlementUnavailable(.timedOut), 503, "entitlement_unavailable", retryAfterSeconds: 2),
        RefusalSample(.entitlementUnavailable(.busy), 429, "overloaded", retryAfterSeconds: 2),
        RefusalSample(
            .rateLimited(.unverifiedTokens, retryAfterSeconds: 4), 429, "rate_limited", retryAfterSeconds: 4),
        RefusalSample(.rateLimited(.address, retryAfterSeconds: 1), 429, "rate_limited", retryAfterSeconds: 1),
        RefusalSample(.rateLimited(.subject, retryAfterSeconds: 9), 429, "rate_limited", retryAfterSeconds: 9),
        RefusalSample(
            .entitlementUnavailable(.breakerOpen(seconds: 4)), 503, "entitlement_unavailable", retryAfterSeconds: 4),
        RefusalSample(.keyStore(.unreachable), 503, "key_store_timeout", retryAfterSeconds: 2),
        RefusalSample(.terms(.durationNeedsPlaybackState, of: .lease), 403, "terms_not_expressible"),
        RefusalSample(.overloaded, 429, "overloaded", retryAfterSeconds: 2),
        RefusalSample(.internalFailure(.randomnessUnavailable), 500, "internal"),
    ]

    private static let entitlements = [
        RefusalSample(.entitlement(.tokenMalformed(.tooLarge(size: 99_999))), 401, "token_malformed"),
        RefusalSample(.entitlement(.tokenMalformed(.notThreeParts)), 401, "token_malformed"),
        RefusalSample(.entitlement(.tokenMalformed(.notBase64URL(.trailingBitsNotZero))), 401, "token_malformed"),
        RefusalSample(
            .entitlement(.tokenMalformed(.notJSON(.tooLarge(size: 2, maximum: 1)))), 401, "token_malformed"),
        RefusalSample(.entitlement(.tokenMalformed(.notAnObject)), 401, "token_malformed"),
        RefusalSample(.entitlement(.tokenMalformed(.headerInvalid("alg"))), 401, "token_malformed"),
        RefusalSample(.entitlement(.tokenMalformed(.headerForbidden("jwk"))), 401, "token_malformed"),
        RefusalSample(.entitlement(.sessionEnded(.expired)), 403, "session_expired"),
        RefusalSample(.entitlement(.sessionEnded(.otherPlayback)), 403, "session_expired"),
        RefusalSample(.entitlement(.tokenOfAnotherServer), 401, "token_issuer"),
        RefusalSample(.entitlement(.sessionOfAnotherServer), 401, "token_issuer"),
        RefusalSample(.entitlement(.algorithmNotPinned), 401, "token_alg"),
        RefusalSample(.entitlement(.algorithmNotServed), 401, "token_alg"),
        RefusalSample(.entitlement(.keyUnknown), 401, "kid_unknown"),
        RefusalSample(.entitlement(.keysUnavailable), 503, "entitlement_unavailable", retryAfterSeconds: 2),
        RefusalSample(.entitlement(.tokenAmbiguous), 400, "token_ambiguous"),
        RefusalSample(.entitlement(.keyRevoked), 401, "kid_revoked"),
        RefusalSample(.entitlement(.keyRetired), 401, "kid_revoked"),
        RefusalSample(.entitlement(.signatureInvalid), 401, "token_signature"),
        RefusalSample(.entitlement(.tokenExpired(agoSeconds: 7)), 401, "token_expired"),
        RefusalSample(.entitlement(.tokenNotYetValid(inSeconds: 7)), 401, "token_not_yet"),
        RefusalSample(.entitlement(.lifeTooLong), 401, "token_life"),
        RefusalSample(.entitlement(.issuerMismatch), 401, "token_issuer"),
        RefusalSample(.entitlement(.audienceMismatch), 401, "token_audience"),
        RefusalSample(.entitlement(.claimInvalid("rights")), 400, "token_schema"),
        RefusalSample(.entitlement(.claimUnsupported("limits.geo")), 400, "token_schema"),
        RefusalSample(.entitlement(.contentNotCovered), 403, "content_mismatch"),
        RefusalSample(.entitlement(.streamingNotGranted), 403, "content_mismatch"),
        RefusalSample(.entitlement(.offlineNotGranted), 403, "offline_not_allowed"),
        RefusalSample(.entitlement(.offlineOutlivesLease), 403, "offline_not_allowed"),
        RefusalSample(
            .entitlement(.rightNotStarted(retryAfterSeconds: 90)), 403, "right_not_started", retryAfterSeconds: 90),
        RefusalSample(.entitlement(.rightEnded), 403, "right_ended"),
        RefusalSample(.entitlement(.profileUnknown), 400, "token_schema"),
        RefusalSample(.entitlement(.tokenRevoked), 403, "token_revoked"),
        RefusalSample(.entitlement(.subjectDisabled), 403, "subject_disabled"),
        RefusalSample(.entitlement(.deviceRevoked), 403, "device_revoked"),
        RefusalSample(.entitlement(.contentRevoked), 403, "content_mismatch"),
        RefusalSample(.entitlement(.sessionKilled), 403, "session_killed"),
        RefusalSample(.entitlement(.deviceMismatch), 403, "device_mismatch"),
        RefusalSample(.entitlement(.addressDenied), 403, "ip_denied"),
        RefusalSample(.entitlement(.countryDenied), 403, "geo_denied"),
        RefusalSample(.entitlement(.outputNotAllowed), 403, "security_level"),
        RefusalSample(.entitlement(.securityLevelTooLow), 403, "security_level"),
        RefusalSample(.entitlement(.cryptoFailed), 500, "internal"),
    ]

    private static let truncation = ByteReaderError.truncated(field: "version", needed: 4, available: 1)

    private static let containers = [
        RefusalSample(.spc(.empty), 400, "body_empty"),
        RefusalSample(.spc(.isCertificate), 400, "spc_is_certificate"),
        RefusalSample(.spc(.unsupportedVersion(3)), 400, "spc_version_unsupported"),
        RefusalSample(.spc(.malformed(.tooLarge(maximum: 65_536))), 400, "spc_malformed"),
        RefusalSample(.spc(.malformed(.truncated(truncation))), 400, "spc_malformed"),
        RefusalSample(.spc(.malformed(.payloadLength(declared: 16, available: 32))), 400, "spc_malformed"),
        RefusalSample(.spc(.malformed(.payloadEmpty)), 400, "spc_malformed"),
        RefusalSample(.spc(.malformed(.payloadUnaligned)), 400, "spc_malformed"),
        RefusalSample(.spc(.malformed(.transportIdentifier)), 400, "spc_malformed"),
        RefusalSample(.spc(.malformed(.payloadLengthHigh)), 400, "spc_malformed"),
        RefusalSample(.spc(.internalFailure(.randomnessUnavailable)), 500, "internal"),
    ]

    /// All rejections get the same answer.
    private static let rejections = allRejections.map { RefusalSample(.spc(.rejected($0)), 422, "spc_rejected") }

    static let allRejections: [SPCRejection] = [
        .sessionKey,
        .authenticationTag,
        .framing(.truncatedHeader(offset: 16)),
        .framing(.blockUnaligned(tag: 1, length: 17)),
        .framing(.blockOverrun(tag: 1, length: 1 << 20)),
        .framing(.valueExceedsBlock(tag: 1, length: 33)),
        .framing(.tooManyBlocks(maximum: 128)),
        .framing(.duplicateTag(0x1bf7_f53f_5d5d_5a1f)),
        .missingTag(0x71b5_595a_c152_1133),
        .wrongSize(tag: 0x71b5_595a_c152_1133, size: 20),
        .returnRequestTooLong(count: 65),
        .returnRequestForbidden(0x19f9_d4e5_ab76_09cb),
        .returnRequestMissing(0x0102_0304_0506_0708),
        .protocolVersion(used: 9),
        .reservedWord(tag: 0xb18e_e16e_a50f_6c02),
        .syncContradictory,
        .moduleRefused(status: -42_589),
        .integrity,
    ]

    private static let keyID = KeyID(words: Bytes16(high: 1, low: 2))

    private static let stores =
        [
            RefusalSample(.store(.keyIDTaken(keyID)), 500, "internal"),
            RefusalSample(.store(.aliasTaken(by: keyID)), 500, "internal"),
            RefusalSample(.store(.keyUnknown(keyID)), 500, "internal"),
            RefusalSample(.store(.sealBroken(keyID)), 500, "internal"),
            RefusalSample(.store(.recordMalformed), 500, "internal"),
            RefusalSample(.store(.cryptographyFailed), 500, "internal"),
        ]
        + [RefusalSample(.store(.unavailable(.busy)), 429, "overloaded", retryAfterSeconds: 2)]
        + [
            RefusalSample(.store(.unavailable(.clockUntrusted)), 503, "clock_untrusted", retryAfterSeconds: 10),
            RefusalSample(.clockUntrusted, 503, "clock_untrusted", retryAfterSeconds: 10),
        ]
        + [StoreOutage.diskFull, .notWritable, .inputOutput, .damaged, .other(code: 11)].map {
            RefusalSample(.store(.unavailable($0)), 503, "storage_unavailable", retryAfterSeconds: 2)
        }
}

/// Numbers the error cases, so that a missing sample is detected: a new case does not compile without a number here.
extension LicenseError {
    static let caseCount =
        18 + LicenseTermsError.caseCount + EntitlementError.caseCount + SPCError.caseCount + StoreError.caseCount

    var caseNumber: Int {
        switch self {
        case .tokenMissing: 0
        case .contentUnknown: 1
        case .keyNotFound: 2
        case .module: 3
        case .internalFailure: 4
        case .challengeNotOpen: 5
        case .denied: 6
        case .entitlementDenied: 7
        case .entitlementUnavailable: 8
        case .rateLimited: 9
        case .overloaded: 10
        case .clockUntrusted: 11
        case .keyStore: 12
        case .hintMismatch: 13
        case .schemeNotPlayed: 14
        case .periodNotServed: 15
        case .boundKeyMissing: 16
        case .keyAmbiguous: 17
        case .terms(let error, _): 18 + error.caseNumber
        case .entitlement(let error): 18 + LicenseTermsError.caseCount + error.caseNumber
        case .spc(let error): 18 + LicenseTermsError.caseCount + EntitlementError.caseCount + error.caseNumber
        case .store(let error):
            18 + LicenseTermsError.caseCount + EntitlementError.caseCount + SPCError.caseCount + error.caseNumber
        }
    }
}

extension LicenseTermsError {
    fileprivate static let caseCount = 10

    fileprivate var caseNumber: Int {
        switch self {
        case .durationNeedsPlaybackState: 0
        case .offlineKeyUnsupported: 1
        case .offlineKeyVersion2Unsupported: 2
        case .dualExpiryUnsupported: 3
        case .hdcpTypeUnsupported: 4
        case .securityLevelTooLow: 5
        case .denyListOutdated: 6
        case .virtualMachine: 7
        case .virtualMachineUnknown: 8
        case .library: 9
        }
    }
}

extension EntitlementError {
    fileprivate static let caseCount = 37

    fileprivate var caseNumber: Int {
        switch self {
        case .tokenMalformed: 0
        case .algorithmNotServed: 36
        case .algorithmNotPinned: 1
        case .keyUnknown: 2
        case .signatureInvalid: 3
        case .tokenExpired: 4
        case .tokenNotYetValid: 5
        case .lifeTooLong: 6
        case .issuerMismatch: 7
        case .audienceMismatch: 8
        case .claimInvalid: 9
        case .claimUnsupported: 10
        case .contentNotCovered: 11
        case .streamingNotGranted: 12
        case .rightNotStarted: 13
        case .rightEnded: 14
        case .cryptoFailed: 15
        case .offlineNotGranted: 16
        case .offlineOutlivesLease: 17
        case .keyRevoked: 18
        case .keyRetired: 19
        case .tokenAmbiguous: 20
        case .profileUnknown: 21
        case .tokenRevoked: 22
        case .subjectDisabled: 23
        case .deviceRevoked: 24
        case .contentRevoked: 25
        case .sessionKilled: 26
        case .sessionEnded: 32
        case .tokenOfAnotherServer: 33
        case .sessionOfAnotherServer: 34
        case .keysUnavailable: 35
        case .deviceMismatch: 27
        case .addressDenied: 28
        case .countryDenied: 29
        case .outputNotAllowed: 30
        case .securityLevelTooLow: 31
        }
    }
}

extension SPCError {
    fileprivate static let caseCount = 6 + SPCRejection.caseCount

    fileprivate var caseNumber: Int {
        switch self {
        case .empty: 0
        case .isCertificate: 1
        case .unsupportedVersion: 2
        case .malformed: 3
        case .unknownCertificate: 4
        case .internalFailure: 5
        case .rejected(let rejection): 6 + rejection.caseNumber
        }
    }
}

extension SPCRejection {
    fileprivate static let caseCount = 13

    fileprivate var caseNumber: Int {
        switch self {
        case .sessionKey: 0
        case .framing: 1
        case .missingTag: 2
        case .wrongSize: 3
        case .returnRequestTooLong: 4
        case .returnRequestForbidden: 5
        case .returnRequestMissing: 6
        case .protocolVersion: 7
        case .authenticationTag: 8
        case .reservedWord: 9
        case .syncContradictory: 10
        case .moduleRefused: 11
        case .integrity: 12
        }
    }
}

extension StoreError {
    fileprivate static let caseCount = 11

    fileprivate var caseNumber: Int {
        switch self {
        case .contentAmbiguous: 0
        case .keyIDTaken: 1
        case .aliasTaken: 2
        case .keyUnknown: 3
        case .sealBroken: 4
        case .recordMalformed: 5
        case .unavailable: 6
        case .cryptographyFailed: 7
        case .keyIDSpellsContent: 8
        case .aliasNamesContent: 9
        case .periodTooFar: 10
        }
    }
}
