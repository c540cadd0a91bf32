package import HTTPMessages
import HTTPServing
import Licensing

extension HTTPRequest {
    /// Whether the client speaks NAGRA's dialect: it presents its tokens in NAGRA's header.
    ///
    /// False outside of `/fps/`: the routes of other dialects have error forms of their own.
    package var expectsNAGRAErrors: Bool {
        path.hasPrefix("/fps/") && fields.count(of: "nv-authorizations") > 0
    }
}

extension HTTPResponse {
    /// Returns the problem with NAGRA's number, `errorCode`, as its first member (entitlement, section 1.2.1).
    ///
    /// The status and the other header fields stay as they are. A response that is not a problem is returned unchanged.
    package func restatedForNAGRA() -> HTTPResponse {
        guard let word = fields["X-Error-Code"], let code = ProblemCode(rawValue: word)?.nagraCode,
            body.first == UInt8(ascii: "{")
        else { return self }
        var response = self
        response.fields.set("Content-Type", "application/json")
        response.body = Array("{\"errorCode\":\(code),".utf8) + body.dropFirst()
        return response
    }
}

extension ProblemCode {
    /// NAGRA's number for this code; nil if NAGRA has none, as for most errors of HTTP itself.
    var nagraCode: Int? { Self.nagraCodes[rawValue] }

    /// NAGRA's numbers by our codes: the column NV of reference/errors.md.
    ///
    /// The table has two numbers for `content_mismatch`. The one used here does not tell a client whether the asset
    /// exists.
    private static let nagraCodes: [String: Int] = {
        let rows: [(Int, [String])] = [
            (
                1001,
                [
                    "method_not_allowed", "body_too_large", "body_empty", "body_unrecognised", "not_found",
                    "bad_request", "request_invalid", "request_timeout", "expectation_failed",
                    "content_encoding_unsupported", "not_implemented",
                ]
            ),
            (
                2001,
                [
                    "spc_is_certificate", "spc_double_base64", "spc_malformed", "spc_version_unsupported",
                    "spc_certificate_unknown", "spc_rejected",
                ]
            ),
            (4006, ["spc_replayed", "token_used"]),
            (4001, ["token_missing"]),
            (3006, ["token_malformed"]),
            (4003, ["token_ambiguous"]),
            (3004, ["token_alg"]),
            (4015, ["kid_unknown"]),
            (4014, ["kid_revoked"]),
            (3003, ["token_signature"]),
            (4005, ["token_expired", "token_not_yet", "token_life"]),
            (4009, ["token_audience", "token_issuer"]),
            (3007, ["token_schema"]),
            (
                4000,
                [
                    "token_revoked", "content_mismatch", "right_not_started", "right_ended", "offline_not_allowed",
                    "ip_denied", "geo_denied", "session_expired", "session_killed", "entitlement_unavailable",
                    "rate_limited", "overloaded", "internal", "terms_not_expressible", "storage_unavailable",
                    "clock_untrusted", "module_unavailable", "sdk_terms",
                ]
            ),
            (4007, ["device_mismatch"]),
            (4019, ["device_limit"]),
            (4017, ["device_revoked"]),
            (4008, ["security_level", "sdk_device"]),
            (1007, ["concurrency_limit"]),
            (4011, ["key_not_found", "key_store_timeout"]),
            (4021, ["entitlement_denied"]),
            (4020, ["subject_disabled"]),
        ]
        return Dictionary(uniqueKeysWithValues: rows.flatMap { code, words in words.map { ($0, code) } })
    }()
}
