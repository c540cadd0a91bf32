import ByteCoding
import KeyCrypto
import Records
import ServiceConfiguration
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

    /// A key that is behind the file of an SDK is named like one that the configuration names itself.
    @Test func namesAKeyOfAnSDKByItsPlace() throws {
        let credential = #"name: "apple-26", sdk: { library: "/l.so", certificates: "/c.json" }"#
        let configuration = try ConfigurationFile(
            parsing: Array(ConfigurationText.make(credential: credential).utf8), path: "/latchkey.json5",
            environment: [:]
        ).configuration
        let place = "sdk.certificates: certificates[1].2048-private-key"
        let named = NamedFile(
            field: "fairplay.credentials[0].\(place)", ordinal: 0, source: .file(path: "/k"), isSecret: true)
        let key = SharedSecret(SecretBytes(copying: [1, 2, 3]))
        let print = try SecretFingerprint(named, in: configuration, nil, key)
        #expect(print.name == "fairplay.credentials.apple-26.\(place)")
        #expect(print.need == .devices && print.isOfKey && print.isThere && print.value != nil)
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
