import ByteCoding
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands

@Suite struct BackupManifestTests {
    private let chain: LedgerChain
    private let manifest: BackupManifest
    private let text: [UInt8]

    init() throws {
        chain = LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32))),
            node: try NodeID("node-1"))
        let link = LedgerLink(sequence: 12, mac: [UInt8](repeating: 3, count: LedgerBatch.macSize))
        let now = try #require(UnixTime(seconds: 1_700_000_000))
        manifest = BackupManifest(
            program: "0.1.0", createdAt: RFC3339.format(now), label: "edge-1", shared: nil, schema: 13,
            oldestProgram: 1,
            keyCount: 3, entryCount: 12, checkpoint: try chain.checkpoint(link, at: now).description,
            settled: 1_700_000_000,
            files: [
                .init(part: .database, size: 4096, digest: String(repeating: "ab", count: 32)),
                .init(part: .configuration, size: 20, digest: String(repeating: "cd", count: 32)),
            ], fingerprints: [])
        text = try manifest.text(sealedBy: chain)
    }

    @Test func readsBackAsItWasWritten() throws {
        #expect(BackupManifest(parsing: text) == manifest)
        #expect(text.last == UInt8(ascii: "\n"))
        #expect(text.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(try BackupManifest.isSealed(text, by: chain))
        let object = try #require(try JSONReader.parse(text).object)
        #expect(object["format"]?.string == "latchkey-backup-1")
        #expect(object["seal"]?.string?.count == 64 && object["digest"]?.string?.count == 64)
    }

    @Test func noAlteredByteIsRead() {
        for offset in text.indices {
            for bit in [1, 0x20] as [UInt8] {
                var altered = text
                altered[offset] ^= bit
                #expect(BackupManifest(parsing: altered) == nil, "byte \(offset)")
            }
        }
    }

    @Test func noPartOfItIsRead() {
        for length in text.indices { #expect(BackupManifest(parsing: Array(text.prefix(length))) == nil) }
        #expect(BackupManifest(parsing: text + [0x0A]) == nil)
    }

    @Test func isSealedByTheKeyAndTheNodeAlone() throws {
        let other = LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5B, count: 32))),
            node: try NodeID("node-1"))
        #expect(try !BackupManifest.isSealed(text, by: other))
        let stranger = LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32))),
            node: try NodeID("node-2"))
        #expect(try !BackupManifest.isSealed(text, by: stranger))
        for length in [0, 1, 100, text.count - 1] {
            #expect(try !BackupManifest.isSealed(Array(text.prefix(length)), by: chain))
        }
    }

    @Test func needsDatabaseAndConfiguration() throws {
        for part in [BackupManifest.Part.database, .configuration] {
            var incomplete = manifest
            incomplete.files.removeAll { $0.part == part }
            #expect(BackupManifest(parsing: try incomplete.text(sealedBy: chain)) == nil)
        }
        var strange = manifest
        strange.checkpoint = "none"
        #expect(BackupManifest(parsing: try strange.text(sealedBy: chain)) == nil)
    }
}
