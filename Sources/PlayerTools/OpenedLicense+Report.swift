package import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

extension OpenedLicense {
    /// Writes the members of a license. A member that the license does not have is null.
    package func write(to writer: inout JSONWriter) {
        writer.member("contentKey", Hexadecimal.encode(contentKey.bytes.revealed()))
        writer.member("contentIV", Hexadecimal.encode(contentIV.bytes))
        terms.write(to: &writer)
        writer.member("licenseVersion", Int(version))
        writer.member("sessionKeyVersion", sessionKeyVersion?.name)
        writer.member("remarks", remarks.map(\.explanation))
    }

    /// The license as text, a line for each member.
    package var lines: [String] {
        [
            "content key  \(Hexadecimal.encode(contentKey.bytes.revealed()))",
            "content IV   \(Hexadecimal.encode(contentIV.bytes))",
            "offline      \(terms.isPersistent ? "the device may store the key" : "no")",
            "lease        \(terms.lease.map { "\($0.value) s" } ?? "none")",
            "rental       \(terms.rental.map { "\($0.value) s" } ?? "none")",
        ] + (terms.offlineKey?.lines ?? []) + [
            "HDCP         \(terms.hdcp?.name ?? "not said (a device enforces Type 0)")",
            "level        \(terms.securityLevel.map { "at least \($0.name)" } ?? "not said")",
        ] + (sessionKeyVersion.map { ["session key  \($0.name)"] } ?? [])
            + remarks.map { "unusual      \($0.explanation); devices accept it" }
    }
}

extension LicenseTerms {
    /// Writes the members of the terms. A term that is not set is null.
    package func write(to writer: inout JSONWriter) {
        writer.member("keyType", duration?.name)
        writer.member("lease", lease)
        writer.member("rental", rental)
        writer.object("offlineKey", offlineKey) { $1.write(to: &$0) }
        writer.member("hdcp", hdcp?.name)
        writer.member("securityLevel", securityLevel?.name)
    }

    /// The terms in a few words, for tables.
    package var summary: String {
        var words: [String] = []
        if let lease { words.append("lease \(lease.value) s") }
        if let rental { words.append("rental \(rental.value) s") }
        if let offlineKey {
            words.append("storage \(offlineKey.storage.map { "\($0.value) s" } ?? "without end")")
            words.append("playback \(offlineKey.playback.map { "\($0.value) s" } ?? "without end")")
        }
        if words.isEmpty, !isPersistent { words.append("session") }
        if isPersistent { words.insert("stored offline", at: 0) }
        if let hdcp { words.append("HDCP \(hdcp.name)") }
        if let securityLevel { words.append("at least \(securityLevel.name)") }
        return words.joined(separator: ", ")
    }

    fileprivate var duration: KeyDuration? {
        switch validity {
        case .session, .offlineKey: nil
        case .duration(let duration): duration
        }
    }

    fileprivate var offlineKey: OfflineKey? {
        switch validity {
        case .session, .duration: nil
        case .offlineKey(let key): key
        }
    }
}

extension OfflineKey {
    fileprivate func write(to writer: inout JSONWriter) {
        let ids = identifiers
        writer.member("version", ids.version)
        writer.member("contentID", ids.content.map { Hexadecimal.encode($0.bytes) })
        writer.member("streamID", ids.stream.map { Hexadecimal.encode($0.bytes) })
        writer.member("titleID", ids.title.map { Hexadecimal.encode($0.bytes) })
        writer.member("storage", storage)
        writer.member("playback", playback)
    }

    fileprivate var lines: [String] {
        let ids = identifiers
        let names = [("content id", ids.content), ("stream id", ids.stream), ("title id", ids.title)]
        return ["offline key  version \(ids.version)"]
            + names.compactMap { name, id in
                id.map { name.padded(to: 13) + Hexadecimal.encode($0.bytes) }
            } + [
                "storage      \(storage.map { "\($0.value) s until the first play" } ?? "no limit")",
                "playback     \(playback.map { "\($0.value) s from the first play" } ?? "no limit")",
            ]
    }

    private var identifiers: (version: Int, content: Bytes16?, stream: Bytes16?, title: Bytes16?) {
        switch name {
        case .version1(let contentID): (1, contentID, nil, nil)
        case .version2(let streamID, let titleID): (2, nil, streamID, titleID)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ seconds: LicenseSeconds?) {
        self.name(name)
        if let seconds { unsigned(UInt64(seconds.value)) } else { null() }
    }
}

extension HDCPLevel {
    fileprivate var name: String {
        switch self {
        case .none: "none"
        case .type0: "type0"
        case .type1: "type1"
        }
    }
}

extension SessionKeyVersion {
    fileprivate var name: String {
        switch self {
        case .generic: "generic"
        case .video: "video"
        }
    }
}

extension KeyDuration {
    fileprivate var name: String {
        switch self {
        case .lease: "lease"
        case .rental: "rental"
        case .leaseAndRental: "leaseAndRental"
        case .persistent: "persistent"
        case .persistentLimited: "persistentLimited"
        }
    }
}

extension String {
    /// The text with spaces after it, up to a width.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
