import ByteCoding
package import ContentKeys
import KeyCrypto
import Synchronization

/// Whether the database has all random keys that were made, according to the file of `keys.generationFile`.
package enum KeyGenerationStanding: Equatable, Sendable {
    /// No file is configured.
    case unwatched
    case complete
    /// The database is older than the last key. It lacks this number of keys.
    case restored(missing: Int64)
    /// The file cannot answer, because of this fault.
    case unknown(KeyGenerationFault)
}

/// The effect of an operator's consent to a restored database.
package enum KeyRestoreConsent: Equatable, Sendable {
    /// Nothing has changed, because the database is complete.
    case notNeeded
    /// The database continues from the file's number. It permanently lacks this number of keys.
    case accepted(missing: Int64)
    /// The file was missing. It was made again with the database's number.
    case fileMade
}

/// The database's counter of random keys.
struct KeyCounter: Equatable, Sendable {
    /// The installation of the file that the database is used with; nil if it was never used with a file.
    var installation: Bytes16?
    /// The number of random keys that were made.
    var number: Int64
}

/// Compares the number in the database with the number in the file, and keeps the file up to date.
///
/// The file's lock is always taken before the database's. The file is never accessed while the database is locked,
/// because the ledger of licences waits for that lock too.
final class KeyLossWatch: Sendable {
    private let file: KeyGenerationFile
    /// Every key up to this number is recorded in the file, or was stored before the file could be used.
    private let noted = Atomic<Int64>(0)

    init(path: String) {
        file = KeyGenerationFile(path: path)
    }

    /// Whether all keys of a database with this number may be delivered.
    func isNoted(_ number: Int64) -> Bool { number <= noted.load(ordering: .relaxed) }

    // MARK: Comparing

    private enum Judgement {
        case complete(KeyGenerationFile.Content)
        /// The database was never used with a file. The file, if there is one, does not say that keys are missing.
        case unbound(KeyGenerationFile.Content?)
        case restored(KeyGenerationFile.Content)
    }

    private func judge(_ counter: KeyCounter) throws(KeyGenerationFault) -> Judgement {
        guard let content = try file.read() else {
            // The database was used with a file, and the file is missing. The record of lost keys may be missing with
            // it.
            guard counter.installation == nil else { throw .missing }
            return .unbound(nil)
        }
        if let installation = counter.installation, installation != content.installation { throw .otherInstallation }
        if content.number > counter.number { return .restored(content) }
        return counter.installation == nil ? .unbound(content) : .complete(content)
    }

    /// Returns the standing of the database, and changes nothing.
    func standing(of counter: KeyCounter) -> KeyGenerationStanding {
        do throws(KeyGenerationFault) {
            switch try judge(counter) {
            case .complete, .unbound: return .complete
            case .restored(let content): return .restored(missing: content.number - counter.number)
            }
        } catch {
            return .unknown(error)
        }
    }

    // MARK: Opening

    /// Links a new database with its file, and raises the file's number. A fault is reported only when a key is to be
    /// made.
    func open(on writer: inout KeyWriter) throws(StoreError) {
        let counter = try writer.keyCounter()
        if case .complete(let content)? = try? judge(counter) {
            // Keys after this number may have been stored by a call that was never answered.
            note(content.number)
        } else {
            note(counter.number)
        }
        // A fault of the file is reported when a key is to be made.
        _ = try? file.withLock { () throws(KeyProvisionError) in _ = try settle(on: &writer) }
    }

    /// Returns the file's content, raised to the database's number; nil if the database is older. A fault of the file
    /// is a failure.
    private func settle(
        on writer: inout KeyWriter
    ) throws(KeyProvisionError) -> Result<KeyGenerationFile.Content?, KeyGenerationFault> {
        let counter = try wrap(KeyProvisionError.store, try writer.keyCounter())
        let judgement: Judgement
        do throws(KeyGenerationFault) { judgement = try judge(counter) } catch { return .failure(error) }
        switch judgement {
        case .restored:
            note(counter.number)
            return .success(nil)
        case .complete(let content): return raise(content, to: counter.number)
        case .unbound(let content):
            let installation: Bytes16
            do { installation = try content?.installation ?? RandomBytes.generate16() } catch {
                throw .store(.cryptographyFailed)
            }
            // The file is written first. If the database cannot be linked now, the next call links it.
            let start = content ?? KeyGenerationFile.Content(installation: installation, number: -1)
            let raised = raise(start, to: counter.number)
            if case .success = raised { try wrap(KeyProvisionError.store, try writer.join(installation)) }
            return raised
        }
    }

    private func raise(
        _ content: KeyGenerationFile.Content, to number: Int64
    ) -> Result<KeyGenerationFile.Content?, KeyGenerationFault> {
        var content = content
        if content.number < number {
            content.number = number
            do throws(KeyGenerationFault) { try file.write(content) } catch { return .failure(error) }
        }
        note(number)
        return .success(content)
    }

    /// Records that the file has all keys through this number. The recorded number never decreases.
    private func note(_ number: Int64) {
        noted.max(number, ordering: .relaxed)
    }

    // MARK: Making keys

    /// Stores the missing keys, unless one of them is random and may have been lost.
    ///
    /// When this returns, the file has the number of every key in the answer. The answer may then be given.
    func store(
        _ wishes: [KeyWish], on writer: inout KeyWriter, with ring: KeyRing
    ) throws(KeyProvisionError) -> [ProvidedKey] {
        try file.withLock { () throws(KeyProvisionError) in
            let content: KeyGenerationFile.Content?
            var fault: KeyGenerationFault?
            switch try settle(on: &writer) {
            case .success(let settled): content = settled
            case .failure(let error): (content, fault) = (nil, error)
            }
            // A call that failed after its transaction may have stored keys whose number is not in the file.
            if let fault, try !isNoted(wrap(KeyProvisionError.store, try writer.keyCounter()).number) {
                throw KeyProvisionError(fault)
            }
            let randomCount = Int64(wishes.count { $0.material == .random })
            var next = content
            next?.number += randomCount
            if let next, randomCount > 0 {
                do throws(KeyGenerationFault) { try file.prepare(next) } catch { fault = error }
            }
            let (provided, number) = try store(wishes, on: &writer, with: ring, through: next, fault)
            try finish(next, number)
            return provided
        }
    }

    /// Runs the transaction. Also returns the database's new number; nil if no random key was stored.
    private func store(
        _ wishes: [KeyWish], on writer: inout KeyWriter, with ring: KeyRing, through next: KeyGenerationFile.Content?,
        _ fault: KeyGenerationFault?
    ) throws(KeyProvisionError) -> (provided: [ProvidedKey], number: Int64?) {
        do throws(KeyProvisionError) {
            return try writer.transaction(failure: KeyProvisionError.store) { writer throws(KeyProvisionError) in
                let provisioning = try writer.provisioning(of: wishes, with: ring)
                if let contentID = provisioning.firstRandom {
                    if let fault { throw KeyProvisionError(fault) }
                    guard next != nil else { throw .keyLost(contentID) }
                }
                try writer.store(provisioning, with: ring)
                guard provisioning.randomCount > 0, let next else { return (provisioning.provided, nil) }
                return (
                    provisioning.provided,
                    try wrap(KeyProvisionError.store, try writer.raiseKeyCounter(to: next.number))
                )
            }
        } catch {
            file.discard()
            throw error
        }
    }

    private func finish(_ next: KeyGenerationFile.Content?, _ number: Int64?) throws(KeyProvisionError) {
        guard var next, let number else { return file.discard() }
        do throws(KeyGenerationFault) {
            if number == next.number {
                try file.putInPlace()
            } else {
                // Another program, which does not use the file, has made keys in the meantime.
                next.number = number
                try file.write(next)
            }
        } catch {
            throw KeyProvisionError(error)
        }
        note(number)
    }

    // MARK: The operator's consent

    /// Makes the database count as complete from now on.
    func acceptRestore(on writer: inout KeyWriter) throws(KeyProvisionError) -> KeyRestoreConsent {
        try file.withLock { () throws(KeyProvisionError) in
            let counter = try wrap(KeyProvisionError.store, try writer.keyCounter())
            let judgement: Judgement
            do throws(KeyGenerationFault) {
                judgement = try judge(counter)
            } catch .missing {
                guard let installation = counter.installation else { throw KeyProvisionError(.missing) }
                let content = KeyGenerationFile.Content(installation: installation, number: counter.number)
                do throws(KeyGenerationFault) { try file.write(content) } catch { throw KeyProvisionError(error) }
                note(counter.number)
                return .fileMade
            } catch {
                throw KeyProvisionError(error)
            }
            guard case .restored(let content) = judgement else {
                if case .failure(let fault) = try settle(on: &writer) { throw KeyProvisionError(fault) }
                return .notNeeded
            }
            try wrap(KeyProvisionError.store) { () throws(StoreError) in
                try writer.transaction { writer throws(StoreError) in
                    try writer.join(content.installation)
                    _ = try writer.raiseKeyCounter(to: content.number)
                }
            }
            note(content.number)
            return .accepted(missing: content.number - counter.number)
        }
    }
}
