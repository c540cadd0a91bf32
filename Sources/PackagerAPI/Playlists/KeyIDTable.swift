import ByteCoding

/// The key ids of addresses, as far as a playlist shows them: in `KEYID`, which Shaka Packager writes for the keys of
/// other systems, and in the addresses themselves.
struct KeyIDTable {
    /// The key id for each address. An address is given by the index of the first key that has it.
    private(set) var keyIDs: [Int: KeyID] = [:]

    struct Conflict: Equatable {
        let line: Int
        let detail: String
    }

    /// Makes the table of a whole playlist.
    init(of media: MediaPlaylist) {
        for stretch in media.stretches { _ = conflict(in: stretch, of: media) }
    }

    init() {}

    /// Adds the key ids of a stretch. Returns the first contradiction among them or with earlier stretches; nil if all
    /// agree.
    mutating func conflict(in stretch: SegmentStretch, of media: MediaPlaylist) -> Conflict? {
        var told: (keyID: KeyID, line: Int)?
        for key in stretch.keys.map({ media.keys[$0] }) {
            guard let keyID = key.keyID else { continue }
            if let told, told.keyID != keyID {
                return Conflict(line: key.line, detail: "KEYID is \(keyID), and \(told.keyID) in line \(told.line)")
            }
            told = (keyID, key.line)
        }
        guard let told else { return nil }
        for index in stretch.keys where media.keys[index].isFairPlay {
            let address = media.firstOfAddress[index]
            if let conflict = conflict(of: media.keys[index], address, with: told.keyID) { return conflict }
        }
        return nil
    }

    private mutating func conflict(of key: PlaylistKey, _ address: Int, with told: KeyID) -> Conflict? {
        guard let uri = key.uri else { return nil }
        guard let known = keyIDs[address] else {
            keyIDs[address] = told
            guard let own = KeyAddress(text: uri).keyID, own != told else { return nil }
            let shown = PlaylistText.shown(uri)
            return Conflict(line: key.line, detail: "URI \(shown) names another key than KEYID, \(told)")
        }
        guard known != told else { return nil }
        let shown = PlaylistText.shown(uri)
        return Conflict(line: key.line, detail: "URI \(shown) stands for the keys \(known) and \(told)")
    }
}
