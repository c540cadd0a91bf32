import ByteCoding
import POSIXSockets
import Testing

@testable import Entitlements

/// Each check of the gate by itself, and the order of the checks.
@Suite struct GateCheckTests {
    private static let now = Issuance.now
    private static let hu = "00112233445566778899AABBCCDDEEFF00112233"

    private let issuance: Issuance
    private let content: RequestedContent

    init() throws {
        issuance = try Issuance()
        content = RequestedContent(
            contentID: "movie-42", keyID: try KeyID(parsing: "00112233445566778899aabbccddeeff"), trackLabels: ["HD"])
    }

    private func request(
        _ changes: [String: String?] = [:], use: LicenseUse = .streaming, now: Int64 = now,
        _ change: (inout GateRequest) -> Void = { _ in }
    ) throws -> GateRequest {
        let claims = try issuance.verify(try issuance.token(changing: changes))
        var request = GateRequest(claims: claims, content: content, use: use, now: now)
        change(&request)
        return request
    }

    private func device(_ text: String = hu, isAirPlay: Bool = false, isAVAdapter: Bool = false) -> RequestingDevice {
        RequestingDevice(
            identifier: DeviceIdentifier(text: text), isAirPlay: isAirPlay, isAVAdapter: isAVAdapter)
    }

    private static let pinned = ["cnf": #"{"fps:hu":"\#(hu)"}"#]
    private static let rights = #"[{"content":"movie-42","airplay":false,"av_adapter":true}]"#

    // MARK: Device

    @Test func aPinnedTokenIsForItsDevice() throws {
        #expect(throws: Never.self) {
            try RequestCheck.device.check(request(Self.pinned) { $0.device = device() })
        }
        #expect(throws: Never.self) { try RequestCheck.device.check(request()) }
        let others = [
            RequestingDevice(), device("11112233445566778899AABBCCDDEEFF00112233"),
            // Any sender of an SPC can claim this, and would otherwise be accepted.
            device("11112233445566778899AABBCCDDEEFF00112233", isAirPlay: true),
            device("11112233445566778899AABBCCDDEEFF00112233", isAVAdapter: true),
        ]
        for other in others {
            #expect(throws: EntitlementError.deviceMismatch) {
                try RequestCheck.device.check(request(Self.pinned) { $0.device = other })
            }
        }
    }

    /// A receiver is never registered, so the gate refuses it without a query to the store.
    @Test func aReceiverIsNoRegisteredDevice() throws {
        let verified = try issuance.verify(try issuance.token())
        var claims = Claims(
            Claims.Verified(
                issuer: Issuer(name: verified.issuer, audience: "latchkey", keys: []), keyID: verified.keyID,
                keyEnd: nil, times: verified.times),
            subject: "viewer", tokenID: nil, rights: verified.rights)
        claims.device = DeviceClaims(isRegisteredOnly: true)
        var request = GateRequest(claims: claims, content: content, use: .streaming, now: Self.now)
        request.device = device()
        #expect(try Gate.authorize(request).obligations.deviceMaximum == 0)
        for receiver in [device(isAirPlay: true), device(isAVAdapter: true)] {
            request.device = receiver
            #expect(throws: EntitlementError.deviceMismatch) { try Gate.authorize(request) }
        }
    }

    @Test func readsADeviceInBothSpellings() throws {
        let bytes = try Hexadecimal.decode(Self.hu)
        #expect(DeviceIdentifier(text: Base64URL.encode(bytes)) == DeviceIdentifier(text: Self.hu.lowercased()))
        for text in ["", "00", Self.hu + "00", String(Self.hu.dropLast()), "AAAA", Self.hu.replacing("0", with: "g")] {
            #expect(DeviceIdentifier(text: text) == nil)
        }
    }

    // MARK: Origin

    @Test(
        arguments: [
            ("203.0.113.7", true), ("203.0.114.7", false), ("2001:db8::1", true), ("2001:db8::2", false),
            ("::ffff:203.0.113.7", true), (nil, false),
        ] as [(String?, Bool)])
    func anAddressIsAmongTheTokens(text: String?, isAllowed: Bool) throws {
        let address = text.flatMap { IPAddress($0) }
        let request = try request(["limits": #"{"ips":["203.0.113.0/24","2001:db8::1"]}"#]) {
            $0.origin = RequestOrigin(address: address)
        }
        #expect(((try? RequestCheck.address.check(request)) != nil) == isAllowed)
        #expect(throws: Never.self) { try RequestCheck.country.check(request) }
        #expect(throws: Never.self) { try RequestCheck.address.check(self.request()) }
    }

    @Test(arguments: [("CH", true), ("DE", true), ("FR", false), (nil, false)] as [(String?, Bool)])
    func aCountryIsAmongTheTokens(text: String?, isAllowed: Bool) throws {
        let request = try request(["limits": #"{"countries":["CH","DE"]}"#]) {
            $0.origin = RequestOrigin(country: text.flatMap { CountryCode($0) })
        }
        #expect(((try? RequestCheck.country.check(request)) != nil) == isAllowed)
        #expect(throws: Never.self) { try RequestCheck.address.check(request) }
    }

    // MARK: Revocation

    @Test(arguments: [
        (RevocationView.Kind.token, "4f1c", EntitlementError.tokenRevoked), (.key, "hs", .keyRevoked),
        (.issuer, Issuance.name, .subjectDisabled), (.subject, "account-123", .subjectDisabled),
        (.hardware, hu, .deviceRevoked), (.device, "box-7", .deviceRevoked), (.content, "movie-42", .contentRevoked),
        (.content, "00112233-4455-6677-8899-aabbccddeeff", .contentRevoked), (.session, "s-1", .sessionKilled),
    ])
    func eachKindOfRevocationRefuses(kind: RevocationView.Kind, value: String, error: EntitlementError) throws {
        let base = try request(["device": #"{"id":"box-7"}"#, "session": #"{"id":"s-1"}"#]) { $0.device = device() }
        #expect(throws: Never.self) { try RequestCheck.revocation.check(base) }
        for (issuer, end, isRevoked) in [
            (nil, nil, true), (Issuance.name, nil, true), ("https://other.example", nil, false),
            (nil, Self.now + 1, true), (nil, Self.now, false),
        ] as [(String?, Int64?, Bool)] {
            var request = base
            request.revocations.revoke(kind, value, of: issuer, until: end)
            request.revocations.revoke(kind, value + "x")
            let result = CheckResult("revocation") { () throws(EntitlementError) in
                try RequestCheck.revocation.check(request)
            }
            #expect(result.verdict == (isRevoked ? .failed(error) : .passed))
            // A revocation is checked before everything else.
            if isRevoked { #expect(throws: error) { try Gate.authorize(request) } }
        }
    }

    /// The store keeps only pseudonyms of personal values, so requests are compared by pseudonyms.
    @Test func personalValuesAreComparedByTheirNames() throws {
        for (kind, value, error) in [
            (RevocationView.Kind.subject, "account-123", EntitlementError.subjectDisabled),
            (.hardware, Self.hu, .deviceRevoked), (.device, "box-7", .deviceRevoked),
        ] {
            var request = try request(["device": #"{"id":"box-7"}"#]) { $0.device = device() }
            request.revocations = RevocationView { kind, value, issuer throws(EntitlementError) in
                Array("\(kind) \(value) of \(issuer)".utf8)
            }
            request.revocations.revoke(kind, value)
            #expect(throws: Never.self) { try RequestCheck.revocation.check(request) }
            request.revocations.revoke(kind, named: Array("\(kind) \(value) of other".utf8), until: nil)
            #expect(throws: Never.self) { try RequestCheck.revocation.check(request) }
            request.revocations.revoke(kind, named: Array("\(kind) \(value) of \(Issuance.name)".utf8), until: nil)
            #expect(throws: error) { try RequestCheck.revocation.check(request) }
        }
    }

    @Test func aNameThatCannotBeMadeRefuses() throws {
        var request = try request([:]) { $0.device = device() }
        request.revocations = RevocationView { _, _, _ throws(EntitlementError) in throw .cryptoFailed }
        request.revocations.revoke(.content, "another")
        #expect(throws: Never.self) { try RequestCheck.revocation.check(request) }
        request.revocations.revoke(.subject, named: [1], until: nil)
        #expect(throws: EntitlementError.cryptoFailed) { try RequestCheck.revocation.check(request) }
    }

    @Test func aRevocationHoldsUntilItsLaterEnd() throws {
        var view = RevocationView()
        view.revoke(.token, "a", until: 10)
        view.revoke(.token, "a", until: 5)
        view.revoke(.token, "b", until: 5)
        view.revoke(.token, "b")
        view.revoke(.token, "b", until: 7)
        #expect(try view.contains(.token, "a", of: "i", now: 9))
        #expect(try !view.contains(.token, "a", of: "i", now: 10))
        let (isFirst, isAgain) = (view.set(.token, "a", .isLifted), view.set(.token, "a", .isLifted))
        #expect(isFirst && !isAgain && view.count == 1)
        #expect(try view.contains(.token, "b", of: "i", now: .max))
        #expect(try !view.contains(.subject, "b", of: "i", now: 0))
        #expect(view.concerns(.token) && !view.concerns(.subject))
    }

    // MARK: Rights

    @Test func picturesGoWhereTheRightAllows() throws {
        let rights: [String: String?] = ["rights": Self.rights]
        for (device, isAllowed) in [
            (device(), true), (device(isAirPlay: true), false), (device(isAVAdapter: true), true),
        ] {
            let request = try request(rights) { $0.device = device }
            let right = try #require(request.claims.rights.first)
            #expect(((try? RightCheck.outputs.check(right, request)) != nil) == isAllowed)
            #expect(((try? Gate.authorize(request)) != nil) == isAllowed)
        }
        let forbidding = try request(rights) {
            $0.device = device(isAVAdapter: true)
            $0.policy.common.outputs = OutputPermissions(avAdapter: false)
        }
        #expect(throws: EntitlementError.outputNotAllowed) { try Gate.authorize(forbidding) }
    }

    @Test(arguments: [
        (Right.SecurityLevel.audio, true), (.baseline, false), (.main, false),
    ])
    func aDeviceThatIsKnownToBeTooWeakIsRefused(demanded: Right.SecurityLevel, isAllowed: Bool) throws {
        let request = try request([
            "rights":
                #"[{"content":"movie-42","tracks":{"HD":{"min_level":"\#(demanded.rawValue)"},"UHD":{"min_level":"main"}}}]"#
        ]) { $0.device = RequestingDevice(securityLevel: .audio) }
        #expect(((try? Gate.authorize(request)) != nil) == isAllowed)
        var unknown = request
        unknown.device = RequestingDevice()
        #expect(try Gate.authorize(unknown).protection.securityLevel == demanded)
    }

    @Test func aLaterRightMaySuitTheDevice() throws {
        let request = try request([
            "rights": #"[{"content":"movie-42","airplay":false},{"content_prefix":"movie","lease":60,"hdcp":"type1"}]"#
        ]) { $0.device = device(isAirPlay: true) }
        let authorization = try Gate.authorize(request)
        #expect(authorization.protection == Protection(hdcp: .type1))
    }

    @Test func aProfileMustExist() throws {
        let rights: [String: String?] = ["rights": #"[{"content":"movie-42","profile":"HD","lease":600}]"#]
        #expect(throws: EntitlementError.profileUnknown) { try Gate.authorize(request(rights)) }
        let known = try request(rights) {
            $0.policy.profiles["HD"] = PolicyRule(lease: 300, protection: Protection(hdcp: .type0))
            $0.policy.common = PolicyRule(lease: 400, protection: Protection(securityLevel: .main))
        }
        let authorization = try Gate.authorize(known)
        #expect(authorization.protection == Protection(hdcp: .type0, securityLevel: .main))
        guard case .streaming(let limits) = authorization.limits else {
            Issue.record("the license is not for streaming: \(authorization.limits)")
            return
        }
        #expect(limits.lease == 300)
    }

    @Test func theFloorCanForbidOfflineUse() throws {
        let rights: [String: String?] = ["rights": #"[{"content":"movie-42","mode":"both"}]"#]
        #expect(throws: Never.self) { try Gate.authorize(request(rights, use: .offline)) }
        #expect(throws: EntitlementError.offlineNotGranted) {
            try Gate.authorize(request(rights, use: .offline) { $0.policy.common.allowsOffline = false })
        }
        // A lease in the common applies to streaming, and is no reason to refuse an offline license.
        #expect(throws: Never.self) {
            try Gate.authorize(request(rights, use: .offline) { $0.policy.common.lease = 60 })
        }
    }

    // MARK: Order

    /// Every check would fail. The first check in the order of the decision table gives the error.
    @Test func refusesInTheOrderOfTheTable() throws {
        var request = try request([
            "cnf": #"{"fps:hu":"\#(Self.hu)"}"#, "limits": #"{"ips":["203.0.113.0/24"],"countries":["CH"]}"#,
            "rights": #"[{"content":"movie-42","mode":"offline","end":1,"airplay":false,"min_level":"main"}]"#,
        ]) {
            $0.device = RequestingDevice(isAirPlay: true, securityLevel: .audio)
            $0.revocations.revoke(.token, "4f1c")
        }
        var refusals: [EntitlementError] = []
        let repairs: [(inout GateRequest) throws -> Void] = [
            { $0.revocations = RevocationView() },
            {
                $0 = try self.request(
                    replacing: $0, rights: #"[{"content":"movie-42","end":1,"airplay":false,"min_level":"main"}]"#)
            },
            {
                $0 = try self.request(
                    replacing: $0, rights: #"[{"content":"movie-42","airplay":false,"min_level":"main"}]"#)
            },
            {
                $0.device = RequestingDevice(
                    identifier: DeviceIdentifier(text: Self.hu), isAirPlay: true, securityLevel: .audio)
            },
            { $0.origin = RequestOrigin(address: IPAddress("203.0.113.1")) },
            { $0.origin = RequestOrigin(address: IPAddress("203.0.113.1"), country: CountryCode("CH")) },
            { $0.device = RequestingDevice(identifier: DeviceIdentifier(text: Self.hu), securityLevel: .audio) },
            { $0.device = RequestingDevice(identifier: DeviceIdentifier(text: Self.hu), securityLevel: .main) },
        ]
        for repair in repairs {
            refusals.append(try #require(throws: EntitlementError.self) { try Gate.authorize(request) })
            try repair(&request)
        }
        #expect(
            refusals == [
                .tokenRevoked, .streamingNotGranted, .rightEnded, .deviceMismatch, .addressDenied, .countryDenied,
                .outputNotAllowed, .securityLevelTooLow,
            ])
        #expect(throws: Never.self) { try Gate.authorize(request) }
    }

    private func request(replacing old: GateRequest, rights: String) throws -> GateRequest {
        try request([
            "cnf": #"{"fps:hu":"\#(Self.hu)"}"#, "limits": #"{"ips":["203.0.113.0/24"],"countries":["CH"]}"#,
            "rights": rights,
        ]) {
            $0.device = old.device
            $0.origin = old.origin
        }
    }

    // MARK: Obligations

    @Test func whatOthersCanChangeIsLeftToTheCommit() throws {
        let changes: [String: String?] = [
            "device": #"{"bind":"first","max":3}"#, "limits": #"{"uses":2}"#,
            "session": #"{"groups":[{"id":"all","max":2}]}"#, "cookie": #""c-1""#,
            "rights": #"[{"content":"movie-42","renew_ahead":60}]"#,
        ]
        let authorization = try Gate.authorize(request(changes))
        #expect(authorization.obligations.usesPerKey == 2)
        #expect(authorization.obligations.bindsFirstDevice)
        #expect(authorization.obligations.deviceMaximum == 3)
        #expect(authorization.obligations.sessions.map(\.groups) == [[.init(id: "all", maximum: 2)]])
        #expect(authorization.cookie == "c-1" && authorization.renewAhead == 60)
        #expect(try Gate.authorize(request()).obligations.isEmpty)
        // The receiver's HU is not the HU of the viewer's device.
        for other in [device(isAirPlay: true), device(isAVAdapter: true)] {
            let obligations = try Gate.authorize(request(changes) { $0.device = other }).obligations
            #expect(!obligations.bindsFirstDevice && obligations.deviceMaximum == nil && obligations.usesPerKey == 2)
        }
    }

    // MARK: Explanation

    @Test func explainsEveryCheck() throws {
        let request = try request([
            "limits": #"{"countries":["CH"]}"#,
            "rights": #"[{"content":"other"},{"content":"movie-42","end":1},{"content":"movie-42"}]"#,
        ])
        let explanation = Gate.explain(request)
        #expect(explanation.checks.map(\.name) == ["revocation", "scope", "device", "address", "country"])
        #expect(explanation.checks.map { $0.verdict == .passed } == [true, true, true, true, false])
        #expect(
            explanation.rights.map { $0.checks.filter { $0.verdict != .passed }.map(\.name) } == [
                ["coverage"], ["end"], [],
            ])
        #expect(explanation.decision == .failure(.countryDenied))
        #expect(explanation.checks.last?.verdict == .failed(.countryDenied))
        #expect(explanation.checks.last?.values == CheckedValues(found: "not known", expected: "CH"))
        let coverage = explanation.rights.map { $0.checks.first?.values.expected }
        #expect(coverage == ["content other", "content movie-42", "content movie-42"])
        var allowed = request
        allowed.origin = RequestOrigin(country: CountryCode("CH"))
        #expect(try Gate.explain(allowed).decision == .success(Gate.authorize(allowed)))
    }
}
