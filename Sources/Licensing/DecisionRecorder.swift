package import ContentKeys
package import Entitlements
import KeyCrypto
package import Records
import Synchronization

/// Records decisions as the ledger's mode demands (architecture, "The ledger").
package final class DecisionRecorder: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        /// No ledger entry, no licence.
        case required
        /// A licence that spends nothing, and one that a session token renews, is given out even while nothing can be
        /// recorded, and counted.
        case bestEffort = "best-effort"
    }

    /// 90 days.
    package static let deviceLifeDefault: Int64 = 90 * 86_400

    package let pseudonyms: Pseudonymizer
    /// How long the same request with the same token gets the same answer, in seconds.
    package let retryWindow: Int64
    /// How long a subject's device keeps its place after its last licence, in seconds.
    package let deviceLife: Int64
    let store: any DecisionStore
    private let accounts: (any AccountStore)?
    private let mode: Mode
    private let unrecorded = Atomic<UInt64>(0)
    private let recent = RecentDecisions()

    /// - Parameter accounts: Where rentals are read; nil if all of them are unknown until a decision finds them.
    package init(
        store: any DecisionStore, pseudonyms: Pseudonymizer, mode: Mode = .required, retryWindow: Int64 = 120,
        deviceLife: Int64 = DecisionRecorder.deviceLifeDefault, accounts: (any AccountStore)? = nil
    ) {
        self.store = store
        self.accounts = accounts
        self.pseudonyms = pseudonyms
        self.mode = mode
        self.retryWindow = retryWindow
        self.deviceLife = deviceLife
    }

    /// What is remembered of the rental of a content by the token's subject; nil if nothing is.
    package func rental(
        of claims: Claims, _ content: ContentID, now: Int64
    ) async throws(StoreError) -> RentalStanding.Memory? {
        guard let accounts, let subject = claims.subject else { return nil }
        let name: Pseudonym
        do throws(CryptoError) {
            name = try pseudonyms.rental(issuer: claims.issuer, subject: subject, content: content.text)
        } catch {
            throw .cryptographyFailed
        }
        return try await accounts.rental(name, now: now).map { RentalStanding.Memory($0) }
    }

    /// How many licences were given out without a record.
    package var unrecordedCount: UInt64 { unrecorded.load(ordering: .relaxed) }

    /// A repetition that this node remembers is answered from memory: it spends nothing, and its entry is in the
    /// ledger. With a seat, the decision is committed with the others of its request.
    func record(
        _ decision: LicenseDecision, from seat: DecisionSeat? = nil
    ) async throws(StoreError) -> DecisionOutcome {
        guard let replay = decision.localReplay ?? decision.replay else { return try await commit(decision, seat) }
        // Two requests with the same SPCs in another order would wait for each other otherwise.
        if let answer = await recent.begin(replay, at: decision.now, beforeWaiting: { seat?.leave() }) {
            return .repeated(answer: answer, isRecorded: true)
        }
        do throws(StoreError) {
            let outcome = try await commit(decision, seat)
            recent.end(replay, at: decision.now, with: outcome)
            return outcome
        } catch {
            recent.end(replay, at: decision.now, with: nil)
            throw error
        }
    }

    private func commit(
        _ decision: LicenseDecision, _ seat: DecisionSeat?
    ) async throws(StoreError) -> DecisionOutcome {
        do throws(StoreError) {
            guard let seat else { return try await store.commit(decision) }
            return try await seat.commit(decision, in: store)
        } catch {
            // A queue that is full is no outage: clients can fill it. What a session renews was granted before.
            guard mode == .bestEffort, case .unavailable(let outage) = error, outage != .busy,
                !decision.needsSharedState || decision.sessionTokenUse != nil
            else { throw error }
            unrecorded.add(1, ordering: .relaxed)
            return .recorded
        }
    }
}
