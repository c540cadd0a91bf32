package import Administration
package import HTTPMessages
import Synchronization
package import Telemetry

/// The preflights that browsers take for a refusal, by the page's origin and by what it asks for.
///
/// After such an answer a browser sends no request, so nothing else shows why a page cannot play. Anybody can send
/// preflights, so the table has a fixed number of entries. If it is full, the entry with the lowest count makes room:
/// what real pages ask for again and again stays.
package final class RefusedPreflights: Sendable {
    static let countMaximum = 64

    private struct State {
        var entries: [StatusReport.Preflight] = []
        var total: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func register(in registry: MetricsRegistry) {
        registry.sample(
            "latchkey_cors_preflights_refused_total",
            help: "Preflights that asked for an origin or a header that the CORS settings do not allow.",
            isCounter: true
        ) { [self] in Double(state.withLock { $0.total }) }
    }

    /// The entries, the highest count first. What the policy allows now is forgotten.
    package func entries(under policy: CORSPolicy) -> [StatusReport.Preflight] {
        state.withLock { state in
            state.entries.removeAll { policy.allows($0.header, from: $0.origin) }
            return state.entries
        }.sorted { ($1.count, $0.origin, $0.header) < ($0.count, $1.origin, $1.header) }
    }

    /// Counts a preflight. `now` is in seconds since 1970.
    package func note(_ preflight: RefusedPreflight, at now: Int64) {
        state.withLock { state in
            state.total += 1
            for header in preflight.fields.isEmpty ? [""] : preflight.fields {
                Self.count(preflight.origin, header, at: now, in: &state.entries)
            }
        }
    }

    private static func count(
        _ origin: String, _ header: String, at now: Int64, in entries: inout [StatusReport.Preflight]
    ) {
        if let index = entries.firstIndex(where: { $0.origin == origin && $0.header == header }) {
            entries[index].count += 1
            entries[index].lastAt = now
            return
        }
        if entries.count == countMaximum,
            let lowest = entries.indices.min(by: {
                (entries[$0].count, entries[$0].lastAt) < (entries[$1].count, entries[$1].lastAt)
            })
        {
            entries.remove(at: lowest)
        }
        entries.append(StatusReport.Preflight(origin: origin, header: header, count: 1, lastAt: now))
    }
}
