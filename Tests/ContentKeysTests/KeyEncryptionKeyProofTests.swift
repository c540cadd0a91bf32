import Testing

@testable import ContentKeys

@Suite struct KeyEncryptionKeyProofTests {
    /// The table of proofs in memory.
    private struct Table: KeyProofTable {
        var proofs: [KeyEncryptionKeyProof] = []
        /// The proof that another program adds just before this one.
        var fromAnotherProgram: KeyEncryptionKeyProof?
        private(set) var addCount = 0

        mutating func keyProofs() throws(StoreError) -> [KeyEncryptionKeyProof] { proofs }

        mutating func add(_ proof: KeyEncryptionKeyProof) throws(StoreError) {
            addCount += 1
            if let other = fromAnotherProgram { proofs.append(other) }
            if !proofs.contains(where: { $0.version == proof.version }) { proofs.append(proof) }
        }
    }

    private typealias Refusal = KeyProofError<StoreError>

    private static func ring(_ current: UInt8, version: UInt32, older: [KeySealing] = []) throws -> KeyRing {
        try #require(KeyRing(current: KeySealingTests.sealing(byte: current, version: version), older: older))
    }

    private static func proof(_ byte: UInt8, version: UInt32) throws -> KeyEncryptionKeyProof {
        let sealing = try KeySealingTests.sealing(byte: byte, version: version)
        return try KeyEncryptionKeyProof(version: Int64(version), bytes: sealing.makeProof())
    }

    @Test func addsTheProofOfTheSealingKeyOnce() throws {
        var table = Table()
        let ring = try Self.ring(0x11, version: 1)
        try ring.establishProof(in: &table)
        try ring.establishProof(in: &table)
        #expect(table.addCount == 1)
        let proof = try #require(table.proofs.first)
        #expect(table.proofs.count == 1)
        #expect(proof.version == 1)
        #expect(ring.current.accepts(proof: proof.bytes))
    }

    @Test func addsNoProofOfAnOlderKey() throws {
        var table = Table()
        let ring = try Self.ring(0x22, version: 2, older: [KeySealingTests.sealing(byte: 0x11, version: 1)])
        try ring.establishProof(in: &table)
        #expect(table.proofs.map(\.version) == [2])
    }

    @Test func acceptsTheProofsOfAllKeysOfTheRing() throws {
        var table = Table(proofs: [try Self.proof(0x11, version: 1)])
        let ring = try Self.ring(0x22, version: 2, older: [KeySealingTests.sealing(byte: 0x11, version: 1)])
        try ring.establishProof(in: &table)
        #expect(table.proofs.map(\.version) == [1, 2])
    }

    @Test func refusesAnotherKeyOfTheSameVersionAndWritesNothing() throws {
        var table = Table(proofs: [try Self.proof(0x11, version: 1)])
        #expect(throws: Refusal.differs) { try Self.ring(0x33, version: 1).establishProof(in: &table) }
        let ring = try Self.ring(0x22, version: 2, older: [KeySealingTests.sealing(byte: 0x33, version: 1)])
        #expect(throws: Refusal.differs) { try ring.establishProof(in: &table) }
        #expect(table.addCount == 0)
    }

    @Test func refusesARingThatLacksAVersionAndWritesNothing() throws {
        var table = Table(proofs: [try Self.proof(0x11, version: 7)])
        #expect(throws: Refusal.missing(version: 7)) { try Self.ring(0x11, version: 1).establishProof(in: &table) }
        #expect(table.addCount == 0)
    }

    @Test func comparesWithAProofThatAnotherProgramAddedFirst() throws {
        var same = Table(fromAnotherProgram: try Self.proof(0x11, version: 1))
        try Self.ring(0x11, version: 1).establishProof(in: &same)
        #expect(same.proofs.count == 1)
        var other = Table(fromAnotherProgram: try Self.proof(0x33, version: 1))
        #expect(throws: Refusal.differs) { try Self.ring(0x11, version: 1).establishProof(in: &other) }
    }

    @Test(arguments: [Int64.min, -1, Int64(UInt32.max) + 1, .max])
    func readsNoVersionThatNoProgramWrites(version: Int64) {
        #expect(throws: StoreError.recordMalformed) { try KeyEncryptionKeyProof(version: version, bytes: []) }
    }

    @Test(arguments: [0, 1, Int64(UInt32.max)])
    func readsEveryVersion(version: Int64) throws {
        #expect(try KeyEncryptionKeyProof(version: version, bytes: [1]).version == UInt32(version))
    }
}
