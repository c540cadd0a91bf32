import Licensing
import Testing

@testable import LatchkeyService

/// The numbers of keys in answers that have one for each key.
@Suite struct AppleStatusTests {
    /// The column "Apple" of the table of errors, row by row.
    private static let table: [(Int64?, [String])] = [
        (-42580, ["spc_is_certificate", "spc_version_unsupported"]), (-42581, ["spc_malformed"]),
        (-42584, ["key_not_found"]),
        (-42585, ["method_not_allowed", "body_too_large", "body_empty", "body_unrecognised"]),
        (
            -42601,
            [
                "key_store_timeout", "entitlement_unavailable", "rate_limited", "overloaded", "internal",
                "storage_unavailable", "clock_untrusted", "module_unavailable",
            ]
        ),
        (
            -42604,
            [
                "spc_replayed", "token_missing", "token_malformed", "token_ambiguous", "token_alg", "kid_unknown",
                "kid_revoked", "token_signature", "token_expired", "token_not_yet", "token_life", "token_audience",
                "token_issuer", "token_schema", "token_used", "token_revoked", "content_mismatch",
                "right_not_started", "right_ended", "device_mismatch", "device_limit", "device_revoked",
                "security_level", "offline_not_allowed", "ip_denied", "geo_denied", "concurrency_limit",
                "session_expired", "session_killed", "entitlement_denied", "terms_not_expressible",
                "subject_disabled",
            ]
        ),
        (-42605, ["spc_certificate_unknown", "spc_rejected"]),
        (
            nil,
            [
                "admin_token_invalid", "not_found", "request_timeout", "head_too_large", "uri_too_long",
                "expectation_failed", "bad_request", "not_implemented", "version_not_supported",
            ]
        ),
    ]

    @Test func theNumbersAreThoseOfTheTable() throws {
        var seen: Set<ProblemCode> = []
        for (status, words) in Self.table {
            for word in words {
                let code = try #require(ProblemCode(rawValue: word))
                #expect(code.appleStatus == status, "\(word)")
                seen.insert(code)
            }
        }
        #expect(Set(ProblemCode.allCases).subtracting(seen) == [])
    }
}
