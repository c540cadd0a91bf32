import ContentKeys
import KeyCrypto
import Licensing
import Records
import StoreConformance
import Synchronization

/// A store that decides by the model of the rules.
final class ModelStore: DecisionStore, PlaybackSlotStore {
    private let model = Mutex(DecisionModel())

    /// The recorded entries, in order.
    var entries: [LedgerEntry] { model.withLock { $0.entries } }

    func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        model.withLock { $0.commit(decision) }
    }

    func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) {
        model.withLock { $0.release(claims) }
    }

    func recorder() throws -> DecisionRecorder {
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        return DecisionRecorder(store: self, pseudonyms: Pseudonymizer(key: key))
    }
}
