import ByteCoding
import ContentKeys
import Entitlements
import HTTPMessages
import KeyCrypto
package import Licensing
import Records
package import Telemetry

/// Makes tokens for customers: finds the stored key, seals the token, and records it before the answer is sent.
package struct ExpressPlayMinter: Sendable {
    private let recorder: DecisionRecorder
    private let keys: RecentContentKeys
    private let clock: any WallClock
    private let minted: Counter

    package init(
        recorder: DecisionRecorder, keys: RecentContentKeys, metrics: MetricsRegistry, clock: any WallClock
    ) {
        self.recorder = recorder
        self.keys = keys
        self.clock = clock
        minted = metrics.counter(
            "latchkey_tokens_minted_total", help: "Tokens that were made for customers.")
    }

    /// The time in seconds since 1970.
    package var now: Int64 { clock.wallTime.seconds }

    /// Makes and records the token that a customer asks for, and returns its text.
    func mint(
        _ request: ExpressPlayTokenRequest, for customer: ExpressPlayCustomer
    ) async throws(ExpressPlayRefusal) -> String {
        var name: ExpressPlayTokenRequest.KeyName?
        if case .stored(let asked, let iv) = request.key {
            name = try await storedName(of: asked, iv: iv, for: customer)
        }
        let contents = request.contents(tokenID: try Self.randomID(), issuedAt: now, naming: name)
        return try await mint(contents, for: customer, unused: request.unused)
    }

    func mint(
        _ contents: SealedTokenContents, for customer: ExpressPlayCustomer, unused: [UnusedParameter] = []
    ) async throws(ExpressPlayRefusal) -> String {
        let text = try wrap(ExpressPlayRefusal.cryptography, try customer.sealer.seal(contents))
        try await record(
            MintedToken(
                customer: customer.name, issuer: customer.issuer, contents: contents, unused: unused,
                perDayMaximum: customer.tokensPerDay))
        minted.increment()
        return text
    }

    static func randomID() throws(ExpressPlayRefusal) -> Bytes16 {
        Bytes16(try wrap(ExpressPlayRefusal.cryptography, try RandomBytes.generate(count: 16)), at: 0)
    }

    private func record(_ token: MintedToken) async throws(ExpressPlayRefusal) {
        let now = now
        let id = LicenseID(milliseconds: UInt64(max(0, now)) * 1000, random: try Self.randomID())
        do throws(LicenseError) {
            switch try await recorder.record(token, as: id, at: now) {
            case .recorded: return
            case .denied:
                throw LicenseError.denied(.tokenUsed(limit: token.perDayMaximum ?? 0))
            case .repeated: throw LicenseError.store(.recordMalformed)  // A minted token is never a repetition.
            }
        } catch {
            throw Self.refusal(of: error, at: now)
        }
    }

    private static func refusal(of error: LicenseError, at now: Int64) -> ExpressPlayRefusal {
        switch error {
        case .denied:
            // The next day, in UTC, has a new quota.
            ExpressPlayRefusal(
                .quotaExhausted, RefusalCause("the customer has used all tokens of this day"),
                retryAfterSeconds: 86_400 - now % 86_400)
        case .store(.unavailable):
            ExpressPlayRefusal(.serviceUnavailable, error.cause, retryAfterSeconds: 2)
        default: ExpressPlayRefusal(.licenseNotMade, error.cause)  // Every other error is a fault of this server.
        }
    }

    // MARK: Stored keys

    /// Returns the name by which a token mentions a stored key: its content if the request names the content, otherwise
    /// the ID of the key.
    ///
    /// A content that the customer may not open is refused, whether or not a key is stored for it.
    func storedName(
        of asked: ExpressPlayTokenRequest.KeyName, iv: Bytes16?, for customer: ExpressPlayCustomer
    ) async throws(ExpressPlayRefusal) -> ExpressPlayTokenRequest.KeyName {
        let record: ContentKeyRecord?
        do throws(ExpressPlayRefusal) { record = try await storedKey(asked) } catch {
            if case .keyNotFound = error.code, !customer.mayOpen(asked, nil) { throw .outsideContents(of: customer) }
            throw error
        }
        guard customer.mayOpen(asked, record) else { throw .outsideContents(of: customer) }
        guard let record else {
            // The content has several keys, and they do not share one initialization vector.
            guard iv == nil else {
                throw ExpressPlayRefusal(.ivInvalid, RefusalCause("the content has several keys, so no iv is its own"))
            }
            return asked
        }
        guard iv == nil || iv == record.iv else {
            throw ExpressPlayRefusal(.ivInvalid, RefusalCause("iv is not the one of the stored key"))
        }
        if case .text(let text) = asked, text == record.contentID.text { return asked }
        return .keyID(record.keyID)
    }

    /// Finds the stored key; nil for a content with several keys. Throws `keyNotFound` if there is no such key.
    private func storedKey(
        _ asked: ExpressPlayTokenRequest.KeyName
    ) async throws(ExpressPlayRefusal) -> ContentKeyRecord? {
        // A name that cannot be an asset ID, such as one character, has no key.
        guard let assetID = try? AssetID(bytes: asked.bytes) else { throw ExpressPlayRefusal(.keyNotFound) }
        let record: ContentKeyRecord?
        do throws(StoreError) {
            record = try await keys.record(for: assetID)
        } catch .contentAmbiguous {
            guard case .text(let text) = asked, (try? ContentID(text)) != nil else {
                throw ExpressPlayRefusal(.keyNotFound)
            }
            return nil
        } catch {
            throw ExpressPlayRefusal(
                .keyNotFound, .serviceUnavailable, RefusalCause("store: \(error)"), retryAfterSeconds: 2)
        }
        guard let record else { throw ExpressPlayRefusal(.keyNotFound) }
        // The 16 bytes could also be the alias of another key.
        if case .keyID(let keyID) = asked, record.keyID != keyID { throw ExpressPlayRefusal(.keyNotFound) }
        return record
    }
}

extension ExpressPlayCustomer {
    /// Whether a key is among the customer's contents.
    ///
    /// Without a record, a name is taken for the content ID. The content of a key ID is then unknown, and the key is
    /// refused.
    fileprivate func mayOpen(_ asked: ExpressPlayTokenRequest.KeyName, _ record: ContentKeyRecord?) -> Bool {
        guard let contents else { return true }
        if let record { return contents.covers(record.contentID.text) }
        switch asked {
        case .keyID: return false
        case .text(let text): return contents.covers(text)
        }
    }
}

extension ExpressPlayRefusal {
    fileprivate static func outsideContents(of customer: ExpressPlayCustomer) -> ExpressPlayRefusal {
        ExpressPlayRefusal(
            .keyIDInvalid, RefusalCause("the content is not among expressPlay.customers[].contents of \(customer.name)")
        )
    }
}

extension ExpressPlayTokenRequest.KeyName {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .keyID(let keyID): keyID.bytes
        case .text(let text): Array(text.utf8)
        }
    }
}
