import Licensing

extension ProblemCode {
    /// What an operator does about a refusal, in whole sentences. What the client hears is its hint.
    var remedy: String {
        switch self {
        case .bodyEmpty, .bodyUnrecognised, .spcDoubleBase64, .spcMalformed:
            "Have the app send the SPC as the player made it; apps/requests.md of the documentation has the forms."
        case .spcIsCertificate:
            "Have the app give the certificate to the player, and send what the player makes with it."
        case .spcVersionUnsupported:
            "If the version is no small number, the body is text (Base64 or a form) or compressed where bytes are meant: "
                + "have the app send the bytes, or one of the forms in apps/requests.md of the documentation. "
                + "Version 3 is served by credentials with spcVersion3."
        case .spcCertificateUnknown:
            "The app has the certificate of another deployment. Give it the one of GET /fps/certificate, or configure the credential; "
                + "latchkey credentials list shows the hashes of those that are held."
        case .spcRejected:
            "Ask latchkey token explain --spc with the SPC of such a request: it names the check that failed."
        case .spcReplayed:
            "The device has sent one SPC twice. Have the player make a new one for each request."
        case .tokenMissing:
            "Have the app send a token where the server reads one. entitlement.tokenHeaders names further headers."
        case .tokenAmbiguous:
            "Have the app send one token, or name what is no token of Latchkey in entitlement.ignoredSources."
        case .tokenMalformed:
            "Have the issuer's token sent unchanged, in its compact form: without quotes, and with no word but Bearer "
                + "before it."
        case .tokenAlgorithm:
            "Sign with the algorithm that is configured for this key, or change it under entitlement.issuers."
        case .keyIDUnknown:
            "Add the key under entitlement.issuers and reload, or have the issuer sign with a key that is there."
        case .keyIDRevoked: "Have the issuer sign with a key that is active, and fetch new tokens."
        case .tokenSignature:
            "Compare the issuer's key with the one that is configured under this key id: another key has signed, or the token was altered. "
                + "A signature of another size was cut off, or is not written as RFC 7518 says."
        case .tokenExpired:
            "Have the app fetch a new token. If all tokens have expired, compare the clocks of the issuer and of this server: latchkey clock show."
        case .tokenNotYet: "Compare the clocks of the issuer and of this server: latchkey clock show."
        case .tokenLife: "Have the issuer grant a shorter life with iat or nbf, or raise maximumLife of the issuer."
        case .tokenAudience, .tokenIssuer:
            "Compare iss and aud of the token with issuer and audience of the key under entitlement.issuers."
        case .tokenSchema: "Correct the claim at the issuer; tokens/claims.md of the documentation has all claims."
        case .tokenUsed: "Have the app fetch a new token, or grant more uses."
        case .sessionKilled:
            "If the session is revoked, latchkey revocations list shows it. Otherwise another playback has taken its place, or an operator "
                + "has ended it: see latchkey account playbacks list, and the row playback_ended in the ledger."
        case .tokenRevoked, .subjectDisabled, .deviceRevoked:
            "latchkey revocations list shows what is revoked, why and until when, and the ledger has who did it: latchkey "
                + "ledger query. "
                + "latchkey revocations lift ends a revocation."
        case .addressDenied:
            "The token is for other networks. If clients come through a proxy, name it in trustedProxies."
        case .countryDenied:
            "Set entitlement.countryField to the field in which a trusted proxy names the country, or grant this country in the token."
        case .contentMismatch:
            "Compare the content with the token's rights, and see whether its key is stored: latchkey keys list --content ID."
        case .offlineNotAllowed: "Grant offline use in the right, or have the app ask for a streaming license."
        case .rightNotStarted, .rightEnded: "Have the app fetch a token whose right holds now."
        case .deviceMismatch, .deviceLimit:
            "latchkey account devices list shows the subject's devices, and latchkey account devices remove frees a place."
        case .concurrencyLimit:
            "latchkey account playbacks list shows what runs, and latchkey account playbacks end stops one."
        case .sessionExpired: "Have the app fetch a new content token and ask without the session token."
        case .keyNotFound:
            "See whether the content's key is stored: latchkey keys list --content ID. If it was deleted, latchkey ledger query --content ID "
                + "shows when and by whom."
        case .keyStoreTimeout, .storageUnavailable:
            "Look at GET /readyz of the admin listener, and at the database that storage.url names."
        case .adminTokenInvalid:
            "Send a credential of this listener: those of listeners.admin[].tokenFile, tokens and clients."
        case .adminRoleMissing: "Add a role to the credential under listeners.admin[], or use another one."
        case .adminOriginRefused:
            "If the operator used the page itself, see whether a proxy changes Host or Origin, or does not send X-Forwarded-Proto. Otherwise "
                + "another web page has tried to use the operator's browser."
        case .packagerInvalid: "Compare the packager's secret or certificate with its entry under packagers."
        case .packagerForbidden:
            "Compare what was found and expected: grant the scope or the content under packagers, pin the recipient's certificate in "
                + "recipients, or have the packager ask over TLS, or for encrypted keys."
        case .cpixRejected, .mediaTypeUnsupported:
            "Correct the packager's document; packaging/speke.md and packaging/json.md of the documentation say "
                + "what is read."
        case .contentEncodingUnsupported:
            "Have the client, or the proxy before this server, send bodies without compression."
        case .keyConflict: "Have the packager ask for the key as it is stored, or under another key id."
        case .rateLimited:
            "Find out why this client or subject asks so often. The rate is in the configuration, under limits.rates unless another is named."
        case .overloaded:
            "Look at the metrics latchkey_overload_waiting and latchkey_rsa_operations_total, and add nodes or raise the limits."
        case .entitlementDenied: "Ask the operator of the entitlement service why it said no."
        case .entitlementUnavailable:
            "See whether the service of entitlement.callback, or the keysURL of the token's issuer, answers from this machine."
        case .termsNotExpressible: "Grant this device a right without the limit, or update the player."
        case .securityLevel:
            "Grant less for this device, or lower the demand of the content, the right or fairplay.contentPolicies."
        case .sdkTerms:
            "Grant a right without the limit, change the content policy, or serve the device by a credential of another kind."
        case .sdkDevice: "Find out why Apple's library refuses the device: the cause has its status."
        case .clockUntrusted: "Set the clock, and see latchkey clock show; latchkey clock accept ends the waiting."
        case .moduleUnavailable:
            "Look for the events of the external module in the log: its library, its data or its workers have failed."
        case .notFound, .methodNotAllowed:
            "Have the app use an address and a method that are served: see reference/http.md of the documentation."
        case .badRequest, .notImplemented, .versionNotSupported:
            "Look at what stands between the client and this server; the cause says which rule of HTTP was broken."
        case .requestInvalid:
            "Have the client correct the part that the cause names: see reference/http.md of the documentation."
        case .requestTimeout: "Look for a slow or broken network between the client and this server."
        case .bodyTooLarge: "Have the client send less, or raise limits.bodySizeMaximum."
        case .uriTooLong, .headTooLarge:
            "Have the client send less, and look at what a proxy adds: this limit is fixed."
        case .expectationFailed:
            "Have the client, or the proxy before this server, send no expectation but 100-continue."
        case .internalError: "This is a fault of the server. Report the cause with the version of latchkeyd."
        }
    }
}
