import ByteCoding
import ContentKeys
package import Entitlements
package import FairPlay
import KeyCrypto
package import POSIXSockets
package import Records

extension RefusalFacts {
    /// Where a request came from.
    package init(listener: String?, client: IPAddress?, _ form: ClientAddressForm) {
        self.init()
        self[.listener] = listener
        self[.client] = form.text(of: client)
    }

    init(_ origin: RequestOrigin, _ rules: LicenseRules, _ pseudonyms: Pseudonymizer?) {
        self.init(listener: origin.listener, client: origin.address, rules.clientAddress)
        add(origin.mark, pseudonyms)
    }

    /// Whose token it is. The subject is named by its pseudonym, and not at all without `pseudonyms`.
    mutating func add(_ claims: Claims, _ pseudonyms: Pseudonymizer?) {
        self[.issuer] = claims.issuer
        self[.tokenKey] = claims.keyID
        guard let subject = claims.subject, let pseudonyms,
            let name = try? pseudonyms.subject(issuer: claims.issuer, subject)
        else { return }
        self[.subject] = Hexadecimal.encode(name.firstHalf.bytes)
    }

    /// The player's own names. The session is named by its pseudonym, and not at all without `pseudonyms`.
    mutating func add(_ mark: PlayerMark?, _ pseudonyms: Pseudonymizer?) {
        guard let mark else { return }
        self[.playerContent] = mark.content
        guard let session = mark.session, let pseudonyms,
            let name = try? pseudonyms.pseudonym(of: .playerSession, Array(session.utf8))
        else { return }
        self[.playerSession] = Hexadecimal.encode(name.firstHalf.bytes)
    }

    /// What the SPC asks for, as far as its asset id says it.
    mutating func add(_ asset: AssetReference) {
        for candidate in asset.candidates {
            switch candidate {
            case .alias: continue
            case .keyID(let keyID): self[.keyID] = self[.keyID] ?? keyID.description
            case .contentID, .track: self[.content] = self[.content] ?? candidate.contentID?.text
            }
        }
        // The content that stands beside an explicit key id says more than the same key id as the name of a content.
        if let contentID = asset.binding?.contentIDs.first { self[.content] = contentID.text }
    }

    mutating func add(_ key: ContentKeyAttributes) {
        self[.content] = key.contentID.text
        self[.keyID] = key.keyID.description
    }

    package mutating func add(_ values: CheckedValues) {
        self[.found] = self[.found] ?? values.found
        self[.expected] = self[.expected] ?? values.expected
    }
}

// MARK: What was found and expected

extension CheckedValues {
    /// What a refusal found that needs no more than the request's head and the rules.
    init(_ error: LicenseError, from origin: RequestOrigin, _ carriers: TokenCarriers?, under rules: LicenseRules) {
        switch error {
        case .tokenMissing:
            self.init(
                expected: "a token in one of: \(rules.entitlement.finder.fieldNames.sorted().joined(separator: ", "))")
        case .entitlement(.tokenAmbiguous):
            let places = carriers.map(rules.entitlement.finder.places) ?? []
            self.init(found: "tokens that differ in: \(places.joined(separator: ", "))", expected: "one token")
        case .spc(.unknownCertificate(let hash)):
            let held = rules.fairplay.credentials.credentials.map(\.name).joined(separator: ", ")
            self.init(found: "certificate hash \(hash)", expected: "a certificate of the credentials: \(held)")
        case .spc(.unsupportedVersion(let version)):
            let served = rules.fairplay.credentials.servedVersions.map { "\($0.rawValue)" }.sorted()
            self.init(
                found: "version \(version)\(Self.likelyForm(ofFirstWord: version))",
                expected: "one of \(served.joined(separator: ", "))")
        case .boundKeyMissing(let names, _): self.init(found: names.keyWords, expected: names.contentWords)
        case .rateLimited(let party, _): self.init(party, from: origin, under: rules)
        default: self.init()  // Every other refusal is of the token, or of what the SPC holds.
        }
    }

    /// What a body probably is whose first word is no version: compressed, or text.
    private static func likelyForm(ofFirstWord word: UInt32) -> String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
        if bytes.starts(with: [0x1F, 0x8B]) { return ", which begins a body compressed with gzip" }
        guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return "" }
        return ", which is the text \"\(String(decoding: bytes, as: UTF8.self))\""
    }

    private init(_ party: RatedParty, from origin: RequestOrigin, under rules: LicenseRules) {
        let client = rules.clientAddress.text(of: origin.address?.subscriber) ?? "not logged"
        switch party {
        case .address:
            self.init(
                found: "too many requests of the client \(client)",
                expected: rules.rates.perAddress?.words(of: "limits.rates.perAddress"))
        case .subject:
            self.init(
                found: "too many requests of the subject",
                expected: rules.rates.perSubject?.words(of: "limits.rates.perSubject"))
        case .unverifiedTokens:
            self.init(
                found: "too many tokens that only the entitlement service can read, at last of the client \(client)",
                expected: rules.callback.map { $0.settings.rate.words(of: "entitlement.callback.rates.all") })
        }
    }

    /// What the country of a request is checked with, if its token names countries.
    init(country origin: RequestOrigin, _ claims: Claims, under rules: LicenseRules) {
        let found: String
        switch (origin.country, rules.entitlement.countryField) {
        case (let country?, _): found = country.text
        case (nil, nil): found = "no country, because entitlement.countryField is not configured"
        case (nil, let field?):
            found = "no country, because no trusted proxy has sent one country in the field \(field)"
        }
        self.init(found: found, expected: claims.limits.countries.prefix(16).map(\.text).joined(separator: ", "))
    }

    /// What a device cannot do, and what it must do.
    package init(_ error: LicenseTermsError, _ term: LimitedTerm?) {
        switch error {
        case .durationNeedsPlaybackState:
            self.init(found: "no media playback state", expected: term.map { "one, for \($0.rawValue)" } ?? "one")
        case .offlineKeyUnsupported: self.init(found: "no offline keys", expected: "offline keys of version 1")
        case .offlineKeyVersion2Unsupported:
            self.init(found: "no offline keys of version 2", expected: "offline keys of version 2")
        case .dualExpiryUnsupported: self.init(found: "one end of a kept key", expected: "two ends of a kept key")
        case .hdcpTypeUnsupported: self.init(found: "HDCP type0 at most", expected: "HDCP type1")
        case .securityLevelTooLow(let required, let device):
            self.init(found: device.map { "\($0)" } ?? "less than audio", expected: "at least \(required)")
        case .denyListOutdated(let version):
            self.init(
                found: "deny list of version \(version)",
                expected: "version \(DevicePolicy.denyListVersionMinimum) or newer")
        case .virtualMachine: self.init(found: "a virtual machine", expected: "a device, as the settings demand")
        case .library(let error): self.init(found: "\(error)", expected: "a term that the library can be told")
        case .virtualMachineUnknown:
            self.init(
                found: "a statement about virtual machines that cannot be read", expected: "a statement of a known form"
            )
        }
    }

    /// What a refusal found that comes after the SPC is open and its key is known. `now` is in seconds since 1970.
    init(_ error: LicenseError, in request: OpenedRequest, now: Int64) {
        let rules = request.admission.rules
        let origin = request.admission.request.origin
        switch error {
        case .entitlement(.countryDenied): self.init(country: origin, request.claims, under: rules)
        case .entitlement(let error):
            self = Gate.values(
                of: error, request.gateRequest(to: request.spc.sessionKeys?.deviceID, at: now),
                address: rules.clientAddress.text(of: origin.address))
        case .terms(let error, let term): self.init(error, term)
        case .denied(let denial): self.init(denial)
        default: self.init()  // The cause says it all.
        }
    }

    private init(_ denial: DecisionDenial) {
        switch denial {
        case .slotsFull(let current, let limit):
            self.init(found: "\(current) playbacks", expected: "at most \(limit) at once")
        case .tokenUsed(let limit): self.init(expected: "at most \(limit) uses of the token for this key")
        case .deviceLimit(let limit): self.init(expected: "at most \(limit) devices of the subject")
        case .replayed, .otherDevice, .slotEvicted, .sessionSuperseded, .rentalDiffers: self.init()
        }
    }
}

extension Rate {
    /// The rate, and the field of the configuration that has it.
    package func words(of name: String) -> String {
        "at most \(perSecond) a second, \(burst) at once (\(name))"
    }
}
