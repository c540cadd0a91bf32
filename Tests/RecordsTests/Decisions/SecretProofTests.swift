import ContentKeys
import KeyCrypto
import Testing

@testable import Records

@Suite struct SecretProofTests {
    /// The table of proofs in memory.
    private struct Table: SecretProofTable {
        var proofs: [SecretProof] = []
        /// The proof that another program adds just before this one.
        var fromAnotherProgram: SecretProof?

        mutating func secretProofs() throws(StoreError) -> [SecretProof] { proofs }

        mutating func add(_ proof: SecretProof) throws(StoreError) {
            if let other = fromAnotherProgram { proofs.append(other) }
            fromAnotherProgram = nil
            if !proofs.contains(where: { ($0.name, $0.number) == (proof.name, proof.number) }) { proofs.append(proof) }
        }

        mutating func remove(_ proof: SecretProof) throws(StoreError) { proofs.removeAll { $0 == proof } }
    }

    private typealias Refusal = SecretProofError<StoreError>

    private static func key(_ byte: UInt8) throws -> HMACSHA256Key {
        try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static func secrets(pseudonym: UInt8 = 1, session: UInt8, retired: [UInt8] = []) throws -> SharedSecrets {
        var secrets = SharedSecrets()
        try secrets.add(.pseudonymKey, current: key(pseudonym))
        try secrets.add(.sessionKey, current: key(session), retired: retired.map { try key($0) })
        return secrets
    }

    @Test func addsEachProofOnce() throws {
        var table = Table()
        try Self.secrets(session: 2).establish(in: &table)
        try Self.secrets(session: 2).establish(in: &table)
        #expect(table.proofs.map(\.name) == [.pseudonymKey, .sessionKey])
        #expect(table.proofs.allSatisfy { $0.bytes.count == 32 && $0.number == 1 })
    }

    @Test func namesTheSecretThatDiffersAndWritesNothing() throws {
        var table = Table()
        try Self.secrets(session: 2).establish(in: &table)
        let before = table.proofs
        #expect(throws: Refusal.differs(.pseudonymKey)) {
            try Self.secrets(pseudonym: 9, session: 2).establish(in: &table)
        }
        #expect(throws: Refusal.differs(.sessionKey)) { try Self.secrets(session: 9).establish(in: &table) }
        #expect(throws: Refusal.differs(.sessionKey)) { try Self.secrets(session: 9).check(in: &table) }
        #expect(table.proofs == before)
    }

    /// A key of one field never proves another field, even if an operator uses it for both.
    @Test func theSameKeyProvesEachFieldOtherwise() throws {
        let proofs = try SecretProof.Name.allCases.map { try SecretProof(of: $0, number: 1, key: Self.key(5)).bytes }
        #expect(Set(proofs).count == SecretProof.Name.allCases.count)
    }

    private static func masterSecret(_ byte: UInt8, version: UInt32 = 1) throws -> SharedSecrets {
        var secrets = SharedSecrets()
        try secrets.add(.masterSecret, current: key(byte), version: version)
        return secrets
    }

    /// With the proof of a wrong file, all nodes would refuse the right one.
    @Test func storesNoProofOfSecretsThatAreOnlyCompared() throws {
        var table = Table()
        try Self.masterSecret(9).onlyCompared.establish(in: &table)
        #expect(table.proofs == [])
        try Self.masterSecret(2).establish(in: &table)
        #expect(throws: Refusal.differs(.masterSecret)) { try Self.masterSecret(9).onlyCompared.establish(in: &table) }
        try Self.masterSecret(9, version: 2).onlyCompared.establish(in: &table)
        try Self.masterSecret(2).onlyCompared.establish(in: &table)
        #expect(table.proofs.map(\.number) == [1])
    }

    @Test func namesAMasterSecretThatIsNotConfigured() throws {
        var table = Table()
        try Self.secrets(session: 2).establish(in: &table)
        #expect(try Self.secrets(session: 2).unconfigured(in: &table) == nil)
        try Self.masterSecret(3).establish(in: &table)
        #expect(try Self.secrets(session: 2).unconfigured(in: &table) == .masterSecret)
        #expect(try Self.masterSecret(4, version: 2).unconfigured(in: &table) == nil)
    }

    @Test func followsARetiredKeyAndForgetsIt() throws {
        var table = Table()
        try Self.secrets(session: 2).establish(in: &table)
        try Self.secrets(session: 3, retired: [2]).establish(in: &table)
        #expect(table.proofs.filter { $0.name == .sessionKey }.map(\.number) == [1, 2])
        // A node that does not have the new key yet is accepted, and removes nothing.
        try Self.secrets(session: 2).establish(in: &table)
        #expect(table.proofs.filter { $0.name == .sessionKey }.count == 2)
        try Self.secrets(session: 3).establish(in: &table)
        #expect(table.proofs.filter { $0.name == .sessionKey }.map(\.number) == [2])
        #expect(throws: Refusal.differs(.sessionKey)) { try Self.secrets(session: 2).establish(in: &table) }
    }

    @Test func comparesWithAProofThatAnotherProgramAddedFirst() throws {
        var same = Table(fromAnotherProgram: try SecretProof(of: .sessionKey, number: 1, key: Self.key(2)))
        try Self.secrets(session: 2).establish(in: &same)
        var other = Table(fromAnotherProgram: try SecretProof(of: .sessionKey, number: 1, key: Self.key(9)))
        #expect(throws: Refusal.differs(.sessionKey)) { try Self.secrets(session: 2).establish(in: &other) }
    }

    @Test func aReplacedSecretIsKnownAtTheNextStart() throws {
        var table = Table()
        try Self.secrets(session: 2).establish(in: &table)
        let new = try Self.secrets(session: 2).taking(.sessionKey, from: Self.secrets(pseudonym: 9, session: 3))
        try new.replace(in: &table)
        try Self.secrets(session: 3).establish(in: &table)
        #expect(throws: Refusal.differs(.pseudonymKey)) { try Self.secrets(pseudonym: 9, session: 3).check(in: &table) }
    }

    /// Two nodes with different secrets of one version would make different keys for the same names.
    @Test func comparesASecretThatHasAVersionWithThatVersionAlone() throws {
        func master(_ byte: UInt8, version: UInt32) throws -> SharedSecrets {
            var secrets = SharedSecrets()
            try secrets.add(.masterSecret, current: Self.key(byte), version: version)
            return secrets
        }
        var table = Table()
        try master(1, version: 1).establish(in: &table)
        #expect(throws: Refusal.differs(.masterSecret)) { try master(2, version: 1).establish(in: &table) }
        try master(2, version: 2).establish(in: &table)
        // A node that does not have the new secret yet is accepted, and no proof is removed.
        try master(1, version: 1).establish(in: &table)
        #expect(table.proofs.map(\.number) == [1, 2])
        #expect(throws: Refusal.differs(.masterSecret)) { try master(1, version: 2).check(in: &table) }
        #expect(throws: Refusal.differs(.masterSecret)) { try master(2, version: 1).check(in: &table) }
    }

    @Test func readsNoProofOfASecretThatItDoesNotKnow() {
        #expect(SecretProof(storedName: "keys.nextVersion", number: 1, bytes: []) == nil)
        #expect(SecretProof(storedName: "ledger.key", number: 4, bytes: [1])?.name == .ledgerKey)
    }
}
