import ByteCoding
import CommandSupport
import ContentKeys
import PackagerAPI

/// The asset id that players make from a key's address, and the key that it names.
struct SentAssetID: Sendable {
    let uri: String
    let form: AssetIDForm
    /// The players that send it; empty if no player was named.
    let players: [Player]
    /// Nil if no asset id can be made from the address, or if the player takes it from the media.
    let assetID: AssetID?
    /// The result of the look-up; nil without a configuration.
    var resolution: AssetResolution?

    init(uri: String, form: AssetIDForm, players: [Player]) {
        self.uri = uri
        self.form = form
        self.players = players
        assetID = form.assetID(of: uri).flatMap { try? AssetID(bytes: $0) }
    }

    /// A description such as "the asset id movie-1 of hls.js".
    var description: String {
        let name = assetID.map { "asset id \(PlaylistText.shown(AssetIDText.text(of: $0)))" } ?? "asset id"
        guard let first = players.first else { return "the \(name)" }
        let others = players.count - 1
        return "the \(name) of \(first.rawValue)"
            + (others == 0 ? "" : others == 1 ? " and 1 other player" : " and \(others) other players")
    }

    /// A line with the players, their asset id, and the key that it names.
    var line: String {
        let names = players.isEmpty ? "most players" : players.map(\.rawValue).joined(separator: ", ")
        guard let assetID else { return "\(names): no asset id: \(form.explanationOfMissing)" }
        let shown = PlaylistText.shown(AssetIDText.text(of: assetID))
        return "\(names): asset id \(shown)" + (outcome.map { ", \($0)" } ?? "")
    }

    /// The result of the look-up in words; nil without a configuration.
    private var outcome: String? {
        switch resolution {
        case nil: nil
        case .live(let key, _): "key \(key.keyID) of \(PlaylistText.shown(key.contentID.text))"
        case .withdrawn(let keyID): "key \(keyID), withdrawn"
        case .ambiguous(let contentID): "several keys of \(PlaylistText.shown(contentID.text))"
        case .unknown: "no key"
        }
    }
}

extension AssetIDForm {
    /// The forms of asset ids that these players send, each with its players, in the order of the players.
    static func groups(of players: [Player]) -> [(form: AssetIDForm, players: [Player])] {
        guard !players.isEmpty else { return [(.wholeURI, [])] }
        var groups: [(form: AssetIDForm, players: [Player])] = []
        for player in players {
            let form = player.profile.assetID
            if let place = groups.firstIndex(where: { $0.form == form }) {
                groups[place].players.append(player)
            } else {
                groups.append((form, [player]))
            }
        }
        return groups
    }

    /// The bytes of the asset id for an address. Nil if there are none of a legal size.
    ///
    /// An address that begins with `skd:` without the slashes is accepted too, because apps pass it on unchanged.
    func assetID(of text: String) -> [UInt8]? {
        if let uri = KeyURI(text) { return uri.assetID(self) }
        switch self {
        case .wholeURI, .withoutScheme:
            return KeyURI.assetIDSizes.contains(text.utf8.count) ? Array(text.utf8) : nil
        case .host, .keyID: return nil
        }
    }

    /// The name of the form in JSON.
    var word: String {
        switch self {
        case .wholeURI: "wholeURI"
        case .withoutScheme: "withoutScheme"
        case .host: "host"
        case .keyID: "keyID"
        }
    }

    /// Why there is no asset id.
    var explanationOfMissing: String {
        switch self {
        case .keyID: "the key id is in the media, and not in the address"
        case .host: "the address has no host of 2 to 1,024 bytes"
        case .wholeURI, .withoutScheme: "the address does not have 2 to 1,024 bytes"
        }
    }
}
