import EventLoops
import Synchronization
import Telemetry

/// A part of the daemon without which it serves less. The raw values are the names in `/readyz` and in
/// `latchkey_degraded`.
enum DegradedPart: String, CaseIterable, Sendable {
    /// PostgreSQL answers nothing.
    case postgreSQL = "postgresql"
    /// The node's own ledger takes no writes.
    case ledger
    /// The copy of the ledger in PostgreSQL is behind, or contradicts the ledger.
    case ledgerCopy = "ledger_copy"
    /// What is revoked was never read.
    case revocations
    /// The node's clock cannot be trusted, or differs from the database's.
    case clock
    /// A credential's external module has no worker.
    case credentials
    /// The keys of a live content's next period could not be made.
    case periods
}

/// What is wrong with a part now.
struct Degradation: Equatable, Sendable {
    let part: DegradedPart
    /// Why, for the log.
    let cause: String
    /// Whether the node can issue no licence at all as long as this lasts.
    let stopsLicences: Bool
}

/// What is wrong now, as the parts themselves tell it.
struct DegradationSource: Sendable {
    private let sources: [@Sendable () -> [Degradation]]

    init(_ sources: [@Sendable () -> [Degradation]] = []) {
        self.sources = sources
    }

    /// In the order of `DegradedPart`.
    var current: [Degradation] {
        let found = sources.flatMap { $0() }
        return DegradedPart.allCases.flatMap { part in found.filter { $0.part == part } }
    }
}

/// Logs when a part of the daemon begins to be degraded, and when it ends. Looks once a second, on a loop.
final class DegradationLog: Sendable {
    private static let pause: Duration = .seconds(1)

    private let source: DegradationSource
    private let logger: Logger
    private let changed: @Sendable ([DegradedPart]) -> Void
    private let known = Mutex<[DegradedPart: String]>([:])
    private let isStopped = Atomic<Bool>(false)

    /// `changed` hears which parts are degraded, whenever that changes.
    init(
        _ source: DegradationSource, logger: Logger, changed: @escaping @Sendable ([DegradedPart]) -> Void = { _ in }
    ) {
        self.source = source
        self.logger = logger
        self.changed = changed
    }

    func start(on loop: LoopContext) {
        _ = loop.execute { [self] in
            _ = loop.schedule(after: Self.pause) { [self] in
                guard !isStopped.load(ordering: .relaxed) else { return }
                look()
                start(on: loop)
            }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Logs what has changed since the last look.
    func look() {
        var now: [DegradedPart: String] = [:]
        for degradation in source.current where now[degradation.part] == nil {
            now[degradation.part] = degradation.cause
        }
        let before = known.withLock { known in
            defer { known = now }
            return known
        }
        if Set(now.keys) != Set(before.keys) { changed(DegradedPart.allCases.filter { now[$0] != nil }) }
        for part in DegradedPart.allCases where now[part] != before[part] {
            if let cause = now[part] {
                logger.warning("degraded", [.string("part", part.rawValue), .string("cause", cause)])
            } else {
                logger.info("recovered", [.string("part", part.rawValue)])
            }
        }
    }
}
