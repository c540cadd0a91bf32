import ByteCoding
package import KeyCrypto

/// Proves in a database which secret an installation uses.
///
/// A wrong secret causes no visible error: with other pseudonyms, revocations have no effect and uses are counted from
/// zero. The proof therefore shows a wrong key file when the store is opened.
package struct SecretProof: Equatable, Sendable {
    /// The secrets that are proved. The raw values are stored, and never change. They are the names of the
    /// configuration's fields.
    package enum Name: String, Sendable, CaseIterable {
        case pseudonymKey = "ledger.pseudonymKey"
        case sessionKey = "entitlement.sessions.key"
        case ledgerKey = "ledger.key"
        case masterSecret = "keys.masterSecret"
    }

    package let name: Name
    /// The version of a ledger key or master secret. For another secret, its number in the order in which the
    /// installation began to use them, from 1.
    package let number: Int64
    /// HMAC-SHA-256 under the secret, 32 bytes.
    package let bytes: [UInt8]

    package init(name: Name, number: Int64, bytes: [UInt8]) {
        self.name = name
        self.number = number
        self.bytes = bytes
    }

    /// Reads a row; nil if only a newer version knows the secret.
    package init?(storedName: String, number: Int64, bytes: [UInt8]) {
        guard let name = Name(rawValue: storedName) else { return nil }
        self.init(name: name, number: number, bytes: bytes)
    }

    /// Computes the proof of a key. The text begins with a zero byte, so that it differs from everything else that
    /// these keys sign.
    package init(of name: Name, number: Int64, key: HMACSHA256Key) throws(CryptoError) {
        let text = [0] + Array("latchkey proof 1 \(name.rawValue)".utf8)
        self.init(name: name, number: number, bytes: try key.code(for: text[...]))
    }
}

/// The secrets that all nodes of an installation share, in the configuration of one node.
package struct SharedSecrets: Equatable, Sendable {
    /// One secret: the proof of the current key, and what else may be in a database beside it.
    struct Secret: Equatable, Sendable {
        enum Others: Equatable, Sendable {
            /// The proofs of retired keys.
            case retired([[UInt8]])
            /// The proof of each other version. This is the version of the current key.
            case versions(besides: Int64)
        }

        let name: SecretProof.Name
        let current: [UInt8]
        let others: Others
    }

    private(set) var secrets: [Secret] = []
    /// Whether `establish` stores the proofs of new secrets.
    private var addsProofs = true

    /// The same secrets for a program that makes nothing with them: no proof is stored, because the file of a new
    /// secret may be wrong.
    package var onlyCompared: SharedSecrets {
        var compared = self
        compared.addsProofs = false
        return compared
    }

    /// Returns the same secrets, except for `name`, which is taken from `other`.
    package func taking(_ name: SecretProof.Name, from other: SharedSecrets) -> SharedSecrets {
        var taken = SharedSecrets()
        taken.secrets = secrets.filter { $0.name != name } + other.secrets.filter { $0.name == name }
        return taken
    }

    /// No secrets, so nothing is compared. For tools that use none of them.
    package static let none = SharedSecrets()

    package init() {}

    package mutating func add(
        _ name: SecretProof.Name, current: HMACSHA256Key, retired: [HMACSHA256Key] = []
    ) throws(CryptoError) {
        var retiredProofs: [[UInt8]] = []
        for key in retired { retiredProofs.append(try SecretProof(of: name, number: 1, key: key).bytes) }
        secrets.append(
            Secret(
                name: name, current: try SecretProof(of: name, number: 1, key: current).bytes,
                others: .retired(retiredProofs)))
    }

    /// Adds a secret that has a version. It is compared with secrets of the same version alone.
    package mutating func add(
        _ name: SecretProof.Name, current: HMACSHA256Key, version: UInt32
    ) throws(CryptoError) {
        let number = Int64(version)
        secrets.append(
            Secret(
                name: name, current: try SecretProof(of: name, number: number, key: current).bytes,
                others: .versions(besides: number)))
    }
}

/// The table `secret_proof` of a database. Each store reads and writes it with its own SQL.
package protocol SecretProofTable: ~Copyable {
    associatedtype Failure: Error

    /// Returns all proofs in the order of their numbers.
    mutating func secretProofs() throws(Failure) -> [SecretProof]
    /// Adds a proof in one statement, which is one transaction. An existing proof of the same name and number stays.
    mutating func add(_ proof: SecretProof) throws(Failure)
    /// Deletes a proof. Does nothing if there is none.
    mutating func remove(_ proof: SecretProof) throws(Failure)
}

/// The reason why a database cannot be used with the configured secrets.
package enum SecretProofError<Failure: Error>: Error {
    /// The database was used with another secret of this name.
    case differs(SecretProof.Name)
    case database(Failure)
}

extension SecretProofError: Equatable where Failure: Equatable {}

extension SharedSecrets {
    /// Compares the secrets with the proofs in a database, and changes nothing.
    package func check<Table: SecretProofTable & ~Copyable>(
        in table: inout Table
    ) throws(SecretProofError<Table.Failure>) {
        let proofs = try wrap(SecretProofError<Table.Failure>.database, try table.secretProofs())
        for secret in secrets where !secret.isKnown(among: proofs) { throw .differs(secret.name) }
    }

    /// Returns the optional secret that a database was used with, if the configuration has none: the master secret.
    /// Then this node makes random keys, although keys were derived.
    package func unconfigured<Table: SecretProofTable & ~Copyable>(
        in table: inout Table
    ) throws(Table.Failure) -> SecretProof.Name? {
        guard !secrets.contains(where: { $0.name == .masterSecret }) else { return nil }
        return try table.secretProofs().contains { $0.name == .masterSecret } ? .masterSecret : nil
    }

    /// Adds the proofs of secrets that are new in a database. Compares nothing, because an operator has replaced the
    /// secrets on purpose.
    package func replace<Table: SecretProofTable & ~Copyable>(in table: inout Table) throws(Table.Failure) {
        let proofs = try table.secretProofs()
        for secret in secrets {
            let known = proofs.filter(secret.isComparable)
            guard !known.contains(where: { $0.bytes == secret.current }) else { continue }
            try table.add(secret.proof(after: known))
        }
    }

    /// Compares the secrets with the proofs in a database, and adds the proofs of new secrets. Removes the proofs of
    /// older secrets that are no longer configured as retired. If the secrets are `onlyCompared`, nothing is written.
    ///
    /// A new secret is accepted only if the older one is configured as retired. A node that still uses the older secret
    /// is not refused, and removes nothing, because nodes change their secrets one after the other.
    package func establish<Table: SecretProofTable & ~Copyable>(
        in table: inout Table
    ) throws(SecretProofError<Table.Failure>) {
        // Nothing is written for a secret that does not belong here, because its proof would make all other nodes
        // refuse the database.
        try check(in: &table)
        guard addsProofs else { return }
        let proofs = try wrap(SecretProofError<Table.Failure>.database, try table.secretProofs())
        for secret in secrets {
            let known = proofs.filter(secret.isComparable)
            if let own = known.first(where: { $0.bytes == secret.current }) {
                for old in known where old.number < own.number && !secret.hasRetired(old) {
                    try wrap(SecretProofError<Table.Failure>.database, try table.remove(old))
                }
            } else {
                try wrap(SecretProofError<Table.Failure>.database, try table.add(secret.proof(after: known)))
            }
        }
        // Another program may have added another proof of the same number first.
        let added = try wrap(SecretProofError<Table.Failure>.database, try table.secretProofs())
        for secret in secrets
        where !added.contains(where: { secret.isComparable(with: $0) && $0.bytes == secret.current }) {
            throw .differs(secret.name)
        }
    }
}

extension SharedSecrets.Secret {
    /// Whether the secret may be used with a database that has these proofs.
    fileprivate func isKnown(among proofs: [SecretProof]) -> Bool {
        let known = proofs.filter(isComparable)
        return known.isEmpty || known.contains { $0.bytes == current || hasRetired($0) }
    }

    /// Whether only the current key or a retired one may have the proof.
    fileprivate func isComparable(with proof: SecretProof) -> Bool {
        switch others {
        case .retired: proof.name == name
        case .versions(besides: let version): proof.name == name && proof.number == version
        }
    }

    fileprivate func hasRetired(_ proof: SecretProof) -> Bool {
        switch others {
        case .retired(let retired): retired.contains(proof.bytes)
        case .versions: false
        }
    }

    /// The proof to add to a database that has these comparable ones.
    fileprivate func proof(after known: [SecretProof]) -> SecretProof {
        switch others {
        case .retired: SecretProof(name: name, number: (known.map(\.number).max() ?? 0) + 1, bytes: current)
        case .versions(besides: let version): SecretProof(name: name, number: version, bytes: current)
        }
    }
}

extension LedgerKeys {
    /// Compares the ledger keys with the proofs in a node's file, and adds the proof of the current key. Changes
    /// nothing else.
    ///
    /// A missing older version is not an error here. Verification of the ledger shows whether it is still needed.
    package func establish<Table: SecretProofTable & ~Copyable>(
        in table: inout Table
    ) throws(SecretProofError<Table.Failure>) {
        let known = try check(in: &table)
        let own: [SecretProof]
        do { own = try proofs() } catch { throw .differs(.ledgerKey) }
        guard let proof = own.last, !known.contains(where: { $0.number == proof.number }) else { return }
        try wrap(SecretProofError<Table.Failure>.database, try table.add(proof))
    }

    /// Compares the ledger keys with the proofs in a node's file, and returns these proofs. Throws if the current key
    /// has a lower version than a proof in the file.
    @discardableResult
    package func check<Table: SecretProofTable & ~Copyable>(
        in table: inout Table
    ) throws(SecretProofError<Table.Failure>) -> [SecretProof] {
        let known = try wrap(SecretProofError<Table.Failure>.database, try table.secretProofs())
            .filter { $0.name == .ledgerKey }
        let own: [SecretProof]
        do { own = try proofs() } catch { throw .differs(.ledgerKey) }
        for proof in own where known.contains(where: { $0.number == proof.number && $0.bytes != proof.bytes }) {
            throw .differs(.ledgerKey)
        }
        if let newest = known.last?.number, newest > Int64(current.version) { throw .differs(.ledgerKey) }
        return known
    }

    /// Returns the versions of ledger keys that have proofs and that this node is not configured with.
    package func missingVersions(among proofs: [SecretProof]) -> [Int64] {
        let own = Set(inOrder.map { Int64($0.version) })
        return proofs.filter { $0.name == .ledgerKey && !own.contains($0.number) }.map(\.number)
    }
}
