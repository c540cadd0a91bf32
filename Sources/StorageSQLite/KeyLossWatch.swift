import ByteCoding
package import ContentKeys
import KeyCrypto
import Synchronization

/// Whether the database has all random keys that were made, as far as the file of `keys.generationFile` says.
package enum KeyGenerationStanding: Equatable, Sendable {
    /// No file is configured.
    case unwatched
    case complete
    /// The database is older than the last key: so many numbers are missing.
    case restored(missing: Int64)
    /// The file does not say.
    case unknown(KeyGenerationFault)
}

/// What an operator's consent to a restored database has changed.
package enum KeyRestoreConsent: Equatable, Sendable {
    /// Nothing: the database is complete.
    case notNeeded
    /// The database counts on from the file's number; so many numbers are missing in it for good.
    case accepted(missing: Int64)
    /// The file was gone, and is made again with the database's number.
    case fileMade
}

/// What the database counts.
struct KeyCounter: Equatable, Sendable {
    /// The file with which it is used; nil if it was used with none.
    var installation: Bytes16?
    /// How many random keys were made.
    var number: Int64
}

/// Compares the number in the database with the one in the file, and keeps the file's number up.
///
/// The order is: the file's lock, then the database's. The file is never touched while the database is locked, because
/// the ledger of licences waits for that lock too.
final class KeyLossWatch: Sendable {
    private let file: KeyGenerationFile
    /// Every key up to this number is in the file, or was there before the file could be used.
    private let noted = Atomic<Int64>(0)

    init(path: String) {
        file = KeyGenerationFile(path: path)
    }

    /// Whether all keys of a database with this number may be given out.
    func isNoted(_ number: Int64) -> Bool { number <= noted.load(ordering: .relaxed) }

    // MARK: Comparing

    private enum Judgement {
        case complete(KeyGenerationFile.Content)
        /// The database was never used with a file, and this one does not say that keys are missing.
        case unbound(KeyGenerationFile.Content?)
        case restored(KeyGenerationFile.Content)
    }

    private func judge(_ counter: KeyCounter) throws(KeyGenerationFault) -> Judgement {
        guard let content = try file.read() else {
            // A database that was used with a file has lost it; and with it perhaps the knowledge of lost keys.
            guard counter.installation == nil else { throw .missing }
            return .unbound(nil)
        }
        if let installation = counter.installation, installation != content.installation { throw .otherInstallation }
        if content.number > counter.number { return .restored(content) }
        return counter.installation == nil ? .unbound(content) : .complete(content)
    }

    /// How the database stands, without changing anything.
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

    /// Joins a new database and its file, and brings the file's number up. What is wrong shows when a key is to be
    /// made.
    func open(on writer: inout KeyWriter) throws(StoreError) {
        let counter = try writer.keyCounter()
        if case .complete(let content)? = try? judge(counter) {
            // Keys behind this number may have been stored by a call that was never answered.
            note(content.number)
        } else {
            note(counter.number)
        }
        // A fault of the file shows again when it matters.
        _ = try? file.withLock { () throws(KeyProvisionError) in _ = try settle(on: &writer) }
    }

    /// The file's content, as new as the database; nil if the database is older. A fault of the file is the failure.
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
            // The file first: a database that does not know it yet takes it the next time.
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

    /// The file has all keys through this number. It never goes back.
    private func note(_ number: Int64) {
        noted.max(number, ordering: .relaxed)
    }

    // MARK: Making keys

    /// Stores the keys that are missing, unless a random one among them may be lost. The answer may be given when this
    /// returns: the file has the number of every key in it.
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
            // Keys that no file has the number of may have been stored by a call that has failed then.
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

    /// The transaction. The number that the database has come to; nil if no random key was stored.
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
                // Another program, which does not know the file, has counted meanwhile.
                next.number = number
                try file.write(next)
            }
        } catch {
            throw KeyProvisionError(error)
        }
        note(number)
    }

    // MARK: The operator's consent

    /// Takes the database for complete from now on.
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
