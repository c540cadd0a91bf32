import ContentKeys
package import RouteKit
import StorageSQLite
import Synchronization
package import Telemetry

/// Knows how much room the ledger's disk has left. Looks on the ledger keeper's thread, because a look may wait for the
/// disk.
///
/// While there is too little room, refusals get no rows in the ledger, so that what is left serves licenses.
package final class DiskWatch: Sendable {
    private let path: String
    private let latest = Mutex<DiskSpace?>(nil)

    package init(path: String) {
        self.path = path
        look()
    }

    /// Nil if the disk does not say.
    var space: DiskSpace? { latest.withLock { $0 } }

    package var isLow: Bool { space?.isLow ?? false }

    package func look() {
        let space = try? DiskSpace.measure(path)
        latest.withLock { $0 = space }
    }

    /// What is wrong with the disk; nil if nothing is.
    package var degradation: Degradation? {
        guard let space, space.isLow else { return nil }
        return Degradation(
            part: .disk,
            cause:
                "\(space.free >> 20) MiB are free where the ledger lies, less than \(DiskSpace.least >> 20); refusals get no rows",
            stopsLicenses: false)
    }

    package func register(in registry: MetricsRegistry) {
        let sizes: [(String, @Sendable (DiskSpace) -> Int64)] = [("database", \.database), ("log", \.log)]
        registry.samples(
            "latchkey_store_size_bytes", help: "Size of the node's database and of its write-ahead log.", label: "file",
            sizes.map { name, size in (name, { [self] in space.map { Double(size($0)) } }) })
        registry.sample(
            "latchkey_store_free_bytes", help: "Room that is left on the disk of the node's database."
        ) { [self] in space.map { Double($0.free) } }
    }
}
