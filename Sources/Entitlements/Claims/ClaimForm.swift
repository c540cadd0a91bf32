/// What the claims of the vocabularies hold, for refusals of claims that are missing or have another form.
enum ClaimForm {
    /// The form of the claim at a path as errors write it, for example `rights[0].lease`.
    static func expected(at path: String) -> String {
        let steps = path.split(separator: ".").map { $0.prefix { $0 != "[" } }
        let parent = steps.dropLast().last
        return switch steps.last {
        case "start" where parent == "rental", "play": "a duration such as \"48h\", or a number of seconds"
        case "exp", "nbf", "iat", "abs_end": "a number of seconds since 1970, not of milliseconds"
        case "start", "end":
            "a number of seconds since 1970, not of milliseconds, or a time as \"2026-01-31T12:00:00Z\""
        case "begin_date", "expiration_date": "a time as \"2026-01-31T12:00:00Z\""
        case "lease", "duration", "storage", "playback", "renew_ahead":
            "a number of seconds without quotes, at least 1; without the claim there is no limit"
        case "uses", "max": "a whole number without quotes, at least 1"
        case "airplay", "av_adapter", "finish": "true or false, without quotes"
        case "hdcp": words(Right.HDCP.self)
        case "min_level": words(Right.SecurityLevel.self)
        case "mode" where parent == "rights": words(Right.Mode.self)
        case "mode" where parent == "session": words(SessionClaims.Mode.self)
        case "bind": words(DeviceClaims.Binding.self) + "; \"pinned\" needs the claim cnf"
        case "rights": "a list of rights, each an object with content, kids or content_prefix"
        case "content", "kids", "content_prefix":
            "one of content, kids and content_prefix, with ids of 1 to 200 characters"
        case "tracks": "an object with a right's demands for each track label"
        case "countries": "a list of codes of two capital letters (ISO 3166-1 alpha-2), as [\"CH\", \"DE\"]"
        case "ips": "a list of addresses or networks, as [\"192.0.2.0/24\"]"
        case "aud": "a text, or a list of texts"
        case "groups": "a list of objects with id and max"
        case "rental": "an object with start and play, and no claim duration beside it"
        case "limits", "session", "device", "cnf": "an object"
        case "fps:hu": "the 20 bytes of a device as 40 hexadecimal digits or as base64url"
        case "id" where parent == "device" || parent == "session" || parent == "groups", "sub", "jti", "account",
            "profile":
            "a text of 1 to \(ClaimObject.stringSizeMaximum) bytes"
        case "cookie": "a text of 1 to \(Claims.cookieSizeMaximum) bytes"
        default: "a value as the documentation describes it (tokens/claims.md)"
        }
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> String {
        "one of " + Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    }
}
