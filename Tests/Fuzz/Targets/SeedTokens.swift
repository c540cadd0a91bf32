import ByteCoding
import KeyCrypto
import TestSupport

@testable import Entitlements

/// Accepted tokens in every dialect, and their parts.
struct SeedTokens {
    private static let now = FixedIssuers.now
    private let issuers: FixedIssuers

    init(_ issuers: FixedIssuers) {
        self.issuers = issuers
    }

    /// Compact tokens, each signed by another key.
    func compact() throws -> [[UInt8]] {
        try FixedIssuers.Signer.allCases.map { try issuers.token(payload(for: $0), by: $0) }
            + sessionPayloads.map(issuers.sessionToken)
    }

    func payload(for signer: FixedIssuers.Signer) -> [UInt8] {
        switch signer {
        case .native, .es256, .edDSA: Array(Self.native.utf8)
        case .nagra: Array(Self.nagra.utf8)
        case .axinom: Array(Self.axinom.utf8)
        }
    }

    private static let native = """
        {"iss":"https://portal.example","aud":["other","latchkey"],"sub":"account-123","jti":"4f1c","iat":\(now),\
        "nbf":\(now - 1),"exp":\(now + 300),"cookie":"c","rights":[{"content":"movie-42","lease":300,"hdcp":"type0",\
        "min_level":"baseline","airplay":false,"tracks":{"UHD":{"hdcp":"type1"}},"profile":"HD","renew_ahead":70},\
        {"content_prefix":"series-","mode":"both","storage":90,"playback":60,"start":\(now),"end":\(now + 90)},\
        {"kids":["00112233-4455-6677-8899-aabbccddeeff"],"duration":86400}],\
        "session":{"id":"s-1","groups":[{"id":"all","max":2}],"mode":"evict_oldest"},\
        "device":{"id":"tv","account":"a-1","bind":"first","max":3},\
        "limits":{"uses":1,"ips":["203.0.113.0/24","2001:db8::/32"],"countries":["CH"]}}
        """

    private static let nagra = """
        {"typ":"ContentAuthZ","ver":"1.0","exp":\(now + 300),"jti":"j-1",\
        "device":{"deviceUniqueId":"00112233445566778899AABBCCDDEEFF00112233","deviceId":"5f","accountId":"account-1"},\
        "contentRights":[{"contentId":"movie","start":"2021-05-22T09:30:52.563Z","end":"2031-06-01T16:28:05.267Z",\
        "duration":5184000,"storable":true,"usageRulesProfileId":"HD",\
        "defaultUsageRules":{"digitalOnly":false,"hdcp":false,"unprotectedDigitalOutput":true},\
        "sessionControl":{"sessionId":"s","groups":[{"groupId":"g","maxSessions":2}]}}]}
        """

    private static let axinom = """
        {"version":1,"com_key_id":"ax","id":"c76d9f99-dd53-46a0-8aa0-1dc8a931202d",\
        "begin_date":"2025-06-15T17:06:40+02:00","expiration_date":"2025-06-15T17:11:40+02:00",\
        "message":{"type":"entitlement_message","version":2,\
        "license":{"start_datetime":"2025-01-01T00:00:00+03:00","expiration_datetime":"2031-01-01T00:00:00.5Z",\
        "duration":3600,"allow_persistence":false,"concurrency_interval":300,"concurrency_grace_period":60,\
        "fairplay":{"real_time_expiration":false,"playback_duration":3600,"duration":7200}},\
        "content_keys_source":{"inline":[{"id":"11111111-0000-0000-0000-000000000000","usage_policy":"Policy A"}]},\
        "content_key_usage_policies":[{"name":"Policy A","fairplay":{"hdcp":"TYPE0","allow_airplay":true}}],\
        "license_server":{"access_control":{"prevent_drm_message_reuse":true,"concurrency_limit":2,\
        "concurrency_mode":"BLOCK_NEW_DEVICE","allowed_ip_addresses":["10.11.12.13","2001:db8::1"]}}}}
        """

    /// Payloads of session tokens, with and without optional members.
    var sessionPayloads: [[UInt8]] {
        let beginning = """
            {"typ":"Session","ver":"1","sid":"000102030405060708090a0b0c0d0e0f","gen":1,"iat":\(Self.now),\
            "exp":\(Self.now + 420),"abs_end":\(Self.now + 43_200),"lic":"000102030405060708090a0b0c0d0e0f",\
            "cnf":"AAECAwQFBgcICQoLDA0ODw","fps":"0000000000001122",\
            "orig":{"iss":"https://portal.example","dialect":"jwt","kid":"es","jti":"4f1c"},
            """
        let full = """
            "sub":"account-123","cookie":"c","device":{"id":"tv","account":"a-1"},\
            "limits":{"ips":["203.0.113.0/24"],"countries":["CH"]},\
            "sessions":[{"id":"s-1","mode":"evict_oldest","grace":60,"groups":[{"id":"all","max":2}]},{}],\
            "right":{"content":"movie-42","lease":300,"end":\(Self.now + 43_200),"hdcp":"type0","profile":"HD",\
            "tracks":{"UHD":{"hdcp":"type1"}}}}
            """
        let bare = """
            "own":"\(Base64URL.encode([UInt8](0..<32)))","sessions":[{},{}],\
            "right":{"kids":["00112233-4455-6677-8899-aabbccddeeff"],"lease":300}}
            """
        return [full, bare].map { Array((beginning + $0).utf8) }
    }

    static let headers = [
        #"{"alg":"HS256","kid":"hs"}"#, #"{"alg":"HS256","kid":"hs","typ":"JWT"}"#, #"{"kid":"ax","alg":"HS256"}"#,
        #"{"alg":"none","kid":"hs"}"#, #"{"alg":"ES256","kid":"es"}"#, #"{"alg":"EdDSA","kid":"rv"}"#,
        #"{"alg":"HS256","kid":"hs","jwk":{}}"#,
    ]

    /// JSON texts that payloads and headers may contain.
    static let values = [
        #""type0""#, #""type1""#, #""none""#, #""audio""#, #""baseline""#, #""main""#, #""stream""#, #""offline""#,
        #""both""#, #""first""#, #""HS256""#, #""ES256""#, #""EdDSA""#, #""RS256""#, #""hs""#, #""es""#, #""ed""#,
        #""rv""#, #""na""#, #""ax""#, #""JWT""#, #""fps-ent+jwt""#, #""latchkey""#, #"["latchkey"]"#, #""CH""#,
        #""10.0.0.0/8""#, #""2031-06-01T16:28:05.267Z""#, #""00112233-4455-6677-8899-aabbccddeeff""#,
        #"[{"content":"a"}]"#, #"[{"content_prefix":"a","end":1}]"#,
    ]

    /// The fields of accepted sealed tokens.
    let sealedFields: [[UInt8]] = {
        let times = Self.field(1, [UInt8](0..<16)) + Self.field(2, number(now)) + Self.field(3, number(now + 300))
        let key = Self.field(4, [UInt8](1...16)) + Self.field(5, [UInt8](17...32))
        let keyID = Self.field(6, [UInt8](0..<16))
        let terms = Self.field(7, [0x1C, 0x20]) + Self.field(8, [0x01, 0x2C])
        let offline = Self.field(9, [1]) + Self.field(10, [90]) + Self.field(11, [60])
        let names =
            Self.field(12, Array("cookie".utf8)) + Self.field(14, [3]) + Self.field(15, Array("customer-7".utf8))
        let protection = Self.field(17, Array("type1".utf8)) + Self.field(18, Array("main".utf8))
        let addition = Self.field(19, Array("wudo".utf8) + [0, 0, 0, 0])
        return [
            times + key, times + keyID + terms, times + keyID + offline,
            times + key + terms + Self.field(9, [2]) + names + protection + addition,
            times + Self.field(9, [4]) + Self.field(15, Array("customer-7".utf8))
                + Self.field(16, Array("movie-42".utf8)) + Self.field(20, [2]),
            times + keyID + Self.field(13, [UInt8](repeating: 0xD7, count: 20)),
        ]
    }()

    private static func field(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        [tag, UInt8(value.count)] + value
    }

    private static func number(_ value: Int64) -> [UInt8] {
        Array(bigEndianBytes(UInt64(value)).drop { $0 == 0 })
    }
}
