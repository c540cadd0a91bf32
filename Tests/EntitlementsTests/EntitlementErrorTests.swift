import TestSupport
import Testing

@testable import Entitlements

@Suite struct EntitlementErrorTests {
    @Test(arguments: [
        (EntitlementError.tokenMalformed(.notThreeParts), "token_malformed"), (.algorithmNotPinned, "token_alg"),
        (.keyUnknown, "kid_unknown"), (.keysUnavailable, "entitlement_unavailable"),
        (.signatureInvalid, "token_signature"),
        (.keyRevoked, "kid_revoked"), (.keyRetired, "kid_revoked"), (.tokenAmbiguous, "token_ambiguous"),
        (.tokenExpired(agoSeconds: 1), "token_expired"), (.tokenNotYetValid(inSeconds: 1), "token_not_yet"),
        (.lifeTooLong, "token_life"), (.issuerMismatch, "token_issuer"), (.audienceMismatch, "token_audience"),
        (.claimInvalid("exp"), "token_schema"), (.claimUnsupported("cnf"), "token_schema"),
        (.contentNotCovered, "content_mismatch"), (.streamingNotGranted, "content_mismatch"),
        (.offlineNotGranted, "offline_not_allowed"), (.offlineOutlivesLease, "offline_not_allowed"),
        (.rightNotStarted(retryAfterSeconds: 1), "right_not_started"), (.rightEnded, "right_ended"),
        (.cryptoFailed, "internal"),
    ])
    func everyRefusalHasItsCode(error: EntitlementError, code: String) {
        #expect(error.code == code)
        #expect(!error.description.isEmpty)
    }

    @Test func onlyAStartAndMissingKeysAreWorthWaitingFor() {
        #expect(EntitlementError.keysUnavailable.retryAfterSeconds == 2)
        #expect(EntitlementError.rightNotStarted(retryAfterSeconds: 17).retryAfterSeconds == 17)
        #expect(EntitlementError.rightEnded.retryAfterSeconds == nil)
        #expect(EntitlementError.tokenExpired(agoSeconds: 3).retryAfterSeconds == nil)
    }

    @Test func descriptionsCarryNothingOfTheToken() throws {
        let issuance = try Issuance()
        let token = try issuance.token(changing: ["rights": #"[{"content":"secret title"}]"#, "sub": "\"someone\""])
        let error = try #require(throws: EntitlementError.self) { try issuance.verify(token) }
        #expect(error.description == "the claim rights[0].content is missing or invalid")
    }
}
