import TestSupport
import Testing

@testable import Entitlements

/// Each issuance has a leeway of 5 seconds. Except for `exp`, `nbf` and `iat`, its tokens are valid.
@Suite struct TokenTimesTests {
    private static let now = Issuance.now

    private static func code(
        _ changes: [String: String?], now: Int64 = now, maximumLife: Int64? = nil, leeway: Int64 = 5
    ) throws -> String? {
        let issuance = try Issuance(maximumLife: maximumLife, leeway: leeway)
        let token = try issuance.token(changing: changes)
        do throws(EntitlementError) {
            _ = try issuance.verify(token, now: now)
            return nil
        } catch {
            return error.code
        }
    }

    /// RFC 7519, section 4.1.4: the current time must be before the expiry; with a leeway, before expiry and leeway.
    @Test(arguments: [(-300, nil), (-1, nil), (0, nil), (4, nil), (5, "token_expired"), (6, "token_expired")])
    func endsWithTheExpiryAndTheLeeway(late: Int64, code: String?) throws {
        #expect(try Self.code(["exp": "\(Self.now)", "iat": nil], now: Self.now + late) == code)
    }

    @Test(arguments: [(-1, nil), (0, "token_expired"), (1, "token_expired")])
    func endsWithTheExpiryWhereThereIsNoLeeway(late: Int64, code: String?) throws {
        #expect(try Self.code(["exp": "\(Self.now)", "iat": nil], now: Self.now + late, leeway: 0) == code)
    }

    @Test(arguments: ["nbf", "iat"], [(0, nil), (5, nil), (6, "token_not_yet"), (100_000, "token_not_yet")])
    func beginsWithTheBeginningLessTheLeeway(name: String, early: (seconds: Int64, code: String?)) throws {
        let changes = ["exp": "\(Self.now + 200_000)", name: "\(Self.now + early.seconds)"]
        #expect(try Self.code(changes) == early.code)
    }

    @Test(arguments: [(60, nil), (61, "token_not_yet")])
    func aLeewayOfAMinuteIsTheMost(early: Int64, code: String?) throws {
        #expect(try Self.code(["nbf": "\(Self.now + early)"], leeway: 60) == code)
    }

    @Test func saysHowLateOrEarlyItIs() throws {
        let issuance = try Issuance()
        let expired = try issuance.token(changing: ["exp": "\(Self.now - 30)", "iat": "\(Self.now - 60)"])
        #expect(throws: EntitlementError.tokenExpired(agoSeconds: 30)) { try issuance.verify(expired) }
        let early = try issuance.token(changing: ["nbf": "\(Self.now + 30)"])
        #expect(throws: EntitlementError.tokenNotYetValid(inSeconds: 25)) { try issuance.verify(early) }
    }

    /// The clock is at exactly 1750000000 seconds, and there is no leeway.
    @Test(arguments: [
        ("exp", "1750000000.5", nil), ("exp", "1750000001e0", nil), ("exp", "175000000.1e1", nil),
        ("exp", "1750000000.0", "token_expired"), ("exp", "1749999999.9", "token_expired"),
        ("nbf", "1750000000.0", nil), ("nbf", "1749999999.5", nil), ("nbf", "1750000000.5", "token_not_yet"),
    ])
    func countsFractions(name: String, value: String, code: String?) throws {
        var changes = ["exp": "1750000300", "iat": nil]
        changes[name] = value
        #expect(try Self.code(changes, leeway: 0) == code)
    }

    @Test(
        arguments: ["exp", "nbf", "iat"],
        [
            #""1750000300""#, "true", "false", "null", "[1750000300]", "{}", "1e400", "-1e400", "1e308",
            "9223372036854775807",
            "-9223372036854775808", "18446744073709551616", "253402300800", "253402300799.5", "1750000300000",
            "-62167219201",
        ])
    func refusesDatesThatAreNoNumbersOrOutOfRange(name: String, value: String) throws {
        #expect(try Self.code([name: value]) == "token_schema")
    }

    @Test func wantsAnExpiry() throws {
        #expect(try Self.code(["exp": nil]) == "token_schema")
    }

    @Test func takesDatesAtTheEndsOfTheirRange() throws {
        #expect(try Self.code(["exp": "253402300799"]) == nil)
        #expect(try Self.code(["exp": "-62167219200"]) == "token_expired")
        #expect(try Self.code(["nbf": "253402300799"]) == "token_not_yet")
    }

    @Test(arguments: [
        (["exp": "1750003600"], nil), (["exp": "1750003601"], "token_life"), (["exp": "1750003599.5"], nil),
        (["exp": "1750003600.5"], "token_life"), (["exp": "1750003600", "iat": "1749999999.5"], "token_life"),
        (["exp": "1750003600", "iat": nil], "token_life"),
        (["exp": "1750003600", "iat": nil, "nbf": "1750000000"], nil),
        (["exp": "1750003601", "iat": nil, "nbf": "1750000000"], "token_life"),
        (["exp": "1750003601", "nbf": "1750000003"], "token_life"),
    ])
    func limitsTheLifeFromItsBeginning(changes: [String: String?], code: String?) throws {
        #expect(try Self.code(changes, maximumLife: 3600) == code)
    }
}
