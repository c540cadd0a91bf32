extension StoreError: CustomStringConvertible {
    /// The explanation.
    package var description: String { explanation }

    /// Says what is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .contentAmbiguous(let contentID): "\(contentID) has several keys; name one by its kid"
        case .keyIDTaken(let keyID):
            "\(keyID) is the kid of another key, content or initialization vector, or has another track or floor; a stored key never "
                + "changes, so use another kid"
        case .aliasTaken(let keyID): "an alias already names the key \(keyID); the key is stored, without that alias"
        case .keyUnknown(let keyID): "no key has the kid \(keyID)"
        case .keyIDSpellsContent(let keyID, let contentID):
            "the kid \(keyID) spells the content id \(contentID), so an asset id could mean either; only one of the "
                + "two can exist, so use another kid or content id"
        case .aliasNamesContent(let contentID):
            "the alias is the name of the content \(contentID), or of one of its keys"
        case .periodTooFar(let contentID, let period, let newest):
            "period \(period) of \(contentID) is more than \(LivePeriods.jumpMaximum) after its newest period "
                + "\(newest); use the next number, or withdraw the keys of a wrong one"
        case .sealBroken(let keyID):
            "the stored key \(keyID) does not open: it was altered, or sealed under another key-encryption key"
        case .recordMalformed: "the database has a value that this version never writes; is it damaged?"
        case .unavailable(let outage): outage.explanation
        case .cryptographyFailed: "a cryptographic operation failed; is the installation of OpenSSL complete?"
        }
    }
}

extension StoreOutage: CustomStringConvertible {
    /// The explanation.
    package var description: String { explanation }

    /// What is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .busy: "another process is writing to the database and did not finish in time; try again"
        case .diskFull: "the disk of the database is full"
        case .notWritable:
            "the database cannot be written; check the permissions of the file and of its folder, and whether the process"
                + " has used up its file descriptors (LimitNOFILE=, ulimit -n)"
        case .inputOutput: "reading or writing the database failed; check the disk and the system's log"
        case .damaged: "the database is damaged; restore it from a copy"
        case .unreachable: "the database's server does not answer; check that it runs and can be reached from here"
        case .misconfigured:
            "the database's server refuses this node's requests: check the database, the role and its rights"
        case .hanging: "the disk of the database does not answer; check the disk and the system's log"
        case .replaced:
            "the database file was deleted or replaced while it was open; stop the daemon, put the file back, and start it again"
        case .clockUntrusted:
            "the clocks of this node and of the database differ too much; check the time service on both machines"
        case .other(let code): "the database reports error \(code)"
        }
    }
}

extension KeyProvisionError: CustomStringConvertible {
    /// The explanation.
    package var description: String { explanation }

    /// Says what is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .conflict(let keyID, let conflict): "the key \(keyID) \(conflict.explanation)"
        case .store(let error): error.explanation
        }
    }
}

extension KeyConflict {
    /// Says why there is no such key, as the end of a sentence about the wanted key.
    package var explanation: String {
        switch self {
        case .otherContent: "is stored for another content"
        case .otherTrack: "is stored for another track"
        case .otherPeriod: "is stored for another key period"
        case .otherScheme: "is stored for another encryption scheme"
        case .otherIV: "is stored with another initialization vector"
        case .otherKey: "is stored with other bytes"
        case .weakerFloor: "is stored with a weaker demand for HDCP or security level"
        case .withdrawn: "was withdrawn"
        case .severalKeys: "is wanted for a track and period that have several live keys"
        }
    }
}
