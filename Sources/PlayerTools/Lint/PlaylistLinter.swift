import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import PackagerAPI

/// Reads a playlist and those that it names, and collects findings about their keys.
struct PlaylistLinter {
    /// The most playlists that are read for one multivariant playlist.
    static let playlistCountMaximum = 100
    /// The size in bytes of all playlists together, after which no further one is read.
    static let sizeSumMaximum = 64 << 20
    /// The most addresses of keys that are looked up.
    static let addressCountMaximum = 1000

    let fetcher: PlaylistFetcher
    let followsOthers: Bool
    /// The keys to look addresses up in; nil without `--config`.
    let keys: ConfiguredKeys?
    /// The players of `--as`; empty without it.
    let players: [Player]

    /// Reads the playlists, and returns the report. Throws if the first playlist cannot be read, or if the store fails.
    func run(_ place: PlaylistPlace) async throws(CommandError) -> LintReport {
        var report = LintReport()
        let text = try fetcher.read(place)
        guard let first = parse(text, place, contentTypes: [], &report) else { return report }
        var members: [LintedPlaylist] = []
        if case .multivariant(let multivariant) = first.playlist.content {
            let isComplete = readMembers(of: multivariant, at: place, size: text.count, &members, &report)
            report.findings.add(
                PlaylistSet(
                    source: first.name, multivariant: multivariant, members: members.compactMap(\.member),
                    isComplete: isComplete
                ).findings)
        }
        report.playlists = [first] + members
        try await checkKeys(&report)
        let namedByHost = report.namedByHost
        var own = PlaylistFindings()
        for linted in report.playlists {
            own.add(PlaylistChecks.findings(of: linted.playlist, linted.name, namedByHost: namedByHost))
        }
        own.add(report.findings)
        report.findings = own
        return report
    }

    /// Parses a playlist. For a text that is not a playlist, adds a finding and returns nil.
    private func parse(
        _ text: [UInt8], _ place: PlaylistPlace, contentTypes: Set<ContentType>, _ report: inout LintReport
    ) -> LintedPlaylist? {
        do throws(PlaylistError) {
            return LintedPlaylist(
                name: place.name, playlist: try Playlist(parsing: text), contentTypes: contentTypes)
        } catch {
            report.findings.add(PlaylistChecks.findings(of: error, place.name))
            return nil
        }
    }

    /// Reads the media playlists of a multivariant playlist. Returns whether all could be read.
    private func readMembers(
        of multivariant: MultivariantPlaylist, at place: PlaylistPlace, size: Int,
        _ members: inout [LintedPlaylist], _ report: inout LintReport
    ) -> Bool {
        var isComplete = true
        var sizeSum = size
        /// The places that were tried, each with the index of its playlist in `members`, or nil if it was not read.
        var seen: [PlaylistPlace: Int?] = [:]
        for reference in multivariant.references {
            let shown = PlaylistText.shown(reference.address)
            do throws(PlaylistPlaceError) {
                let target = try place.resolve(reference.address, followsOthers: followsOthers)
                if let tried = seen[target] {
                    guard let index = tried else { continue }
                    members[index].contentTypes.formUnion(reference.contentTypes)
                    members[index].addresses.insert(reference.address)
                    continue
                }
                guard seen.count < Self.playlistCountMaximum, sizeSum < Self.sizeSumMaximum else {
                    isComplete = false
                    report.findings.add(
                        .notFollowed, place.name, line: reference.line,
                        "only \(seen.count) playlists are read; \(shown) is the first that is left out")
                    break
                }
                guard let (member, size) = read(reference, at: target, from: place, &report) else {
                    isComplete = false
                    seen.updateValue(nil, forKey: target)
                    continue
                }
                sizeSum += size
                seen.updateValue(members.count, forKey: target)
                members.append(member)
            } catch {
                isComplete = false
                switch error {
                case .notAReference:
                    report.findings.add(
                        .notRead, place.name, line: reference.line, "\(shown) is not the address of a playlist")
                case .otherPlace:
                    report.findings.add(
                        .notFollowed, place.name, line: reference.line,
                        "\(shown) is in another folder or on another server")
                }
            }
        }
        return isComplete
    }

    private func read(
        _ reference: PlaylistReference, at target: PlaylistPlace, from place: PlaylistPlace, _ report: inout LintReport
    ) -> (LintedPlaylist, size: Int)? {
        let text: [UInt8]
        do throws(CommandError) {
            text = try fetcher.read(target)
        } catch {
            let reason = error.text
            let shown = PlaylistText.shown(reference.address)
            report.findings.add(
                .notRead, place.name, line: reference.line,
                "\(shown) cannot be read: \(LicenseProblem.printable(reason))")
            return nil
        }
        guard var linted = parse(text, target, contentTypes: reference.contentTypes, &report) else { return nil }
        guard case .media = linted.playlist.content else {
            report.findings.add(
                .nested, place.name, line: reference.line,
                "\(PlaylistText.shown(reference.address)) is itself a multivariant playlist")
            return nil
        }
        linted.addresses = [reference.address]
        return (linted, text.count)
    }

    // MARK: - Keys

    /// Finds the asset ids that players send, and the keys that they name.
    private func checkKeys(_ report: inout LintReport) async throws(CommandError) {
        guard keys != nil || !players.isEmpty else { return }
        let groups = AssetIDForm.groups(of: players)
        var seen: Set<PlaylistFinding> = []
        var table = KeyLookups(keys: keys)
        for linted in report.playlists {
            for use in PlaylistKeyUse.uses(of: linted.playlist, linted.name, contentTypes: linted.contentTypes) {
                if table[use.uri] == nil {
                    guard table.count < Self.addressCountMaximum else {
                        report.findings.add(
                            .notFollowed, use.source, line: use.line,
                            "only \(Self.addressCountMaximum) addresses of keys are looked up")
                        report.assetIDs = table.all
                        return
                    }
                    try await table.add(use.uri, groups)
                }
                guard keys != nil, let sent = table[use.uri] else { continue }
                for one in sent { Self.add(one, of: use, &seen, &report.findings) }
            }
        }
        report.assetIDs = table.all
        report.namedByHost = table.namedByHost
        if keys != nil { checkOutputs(table, &report) }
    }

    /// Adds a finding for each fault. A fault that several forms of asset ids have is added once.
    private static func add(
        _ sent: SentAssetID, of use: PlaylistKeyUse, _ seen: inout Set<PlaylistFinding>,
        _ findings: inout PlaylistFindings
    ) {
        guard let resolution = sent.resolution else {
            return findings.add(
                .assetIDMissing, use.source, line: use.line,
                "\(sent.description) cannot be derived from \(PlaylistText.shown(use.uri)): "
                    + sent.form.explanationOfMissing)
        }
        for finding in use.findings(resolution, asked: sent.description).found where seen.insert(finding).inserted {
            findings.add(finding.rule, finding.source, line: finding.line, finding.detail)
        }
    }

    /// Compares the streams' statements about digital outputs with the demands of their keys.
    private func checkOutputs(_ table: KeyLookups, _ report: inout LintReport) {
        guard let first = report.playlists.first, case .multivariant(let multivariant) = first.playlist.content else {
            return
        }
        var demands: [String: (uri: String, key: ContentKeyAttributes)] = [:]
        for member in report.playlists {
            for use in PlaylistKeyUse.uses(of: member.playlist, member.name) {
                guard case .live(let key, _) = table[use.uri]?.first?.resolution, let least = key.leastHDCP else {
                    continue
                }
                for address in member.addresses where (demands[address]?.key.leastHDCP ?? .notRequired) < least {
                    demands[address] = (use.uri, key)
                }
            }
        }
        for stream in multivariant.streams {
            guard let demand = demands[stream.address] else { continue }
            report.findings.add(stream.findings(first.name, key: demand.key, uri: demand.uri))
        }
    }
}

/// A playlist that was read.
struct LintedPlaylist: Sendable {
    let name: String
    let playlist: Playlist
    /// The types of content for which it is used.
    var contentTypes: Set<ContentType>
    /// The spellings by which a multivariant playlist names it.
    var addresses: Set<String> = []

    var member: PlaylistSet.Member? {
        guard case .media(let media) = playlist.content else { return nil }
        return PlaylistSet.Member(source: name, media: media, contentTypes: contentTypes)
    }
}

/// The asset ids of each address, each looked up once.
private struct KeyLookups {
    private let keys: ConfiguredKeys?
    private var order: [String] = []
    private var sent: [String: [SentAssetID]] = [:]
    private(set) var namedByHost: Set<String> = []

    init(keys: ConfiguredKeys?) {
        self.keys = keys
    }

    var count: Int { order.count }

    var all: [SentAssetID] { order.flatMap { sent[$0] ?? [] } }

    subscript(uri: String) -> [SentAssetID]? { sent[uri] }

    mutating func add(
        _ uri: String, _ groups: [(form: AssetIDForm, players: [Player])]
    ) async throws(CommandError) {
        var made: [SentAssetID] = []
        for group in groups {
            var one = SentAssetID(uri: uri, form: group.form, players: group.players)
            one.resolution = try await resolution(of: one)
            made.append(one)
        }
        order.append(uri)
        sent[uri] = made
        guard keys != nil else { return }
        let whole = try await resolution(of: SentAssetID(uri: uri, form: .wholeURI, players: []))
        let host = try await resolution(of: SentAssetID(uri: uri, form: .host, players: []))
        if case .live = whole, whole == host { namedByHost.insert(uri) }
    }

    private func resolution(of sent: SentAssetID) async throws(CommandError) -> AssetResolution? {
        guard let keys, let assetID = sent.assetID else { return nil }
        return try await keys.resolve(assetID)
    }
}
