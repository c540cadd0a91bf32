import DeviceSimulation
import FairPlay

extension ConformanceCase {
    /// Every kind of license in every version of SPC, and what a device must state to get it.
    static let licenses =
        SPCVersion.allCases.flatMap { version in
            ConformanceKind.allCases.map { kind in
                license(
                    .licenses, "\(kind.rawValue), version \(version.rawValue)", kind, version: version,
                    rule: "1, 3 and 4.2")
            }
        } + [
            license(.licenses, "renewal of a lease", .lease, rule: "4.1") {
                $0.playbackState = $0.playbackState?.with(.leaseExpiring)
            },
            license(.licenses, "lease while a film plays", .lease, rule: "4.1") {
                $0.playbackState = $0.playbackState?.with(.playing)
            },
            license(
                .licenses, "protocol versions 1 and 2 supported, 1 used", rule: "2.4",
                tolerance: "a server that has version 2 may refuse the downgrade"
            ) { $0.protocolVersionsSupported = [1, 2] },
            refusal(
                .licenses, "lease without a playback state", .lease, rule: "4.2",
                tolerance: "Apple's server gives such a device a license without a limit", toleratedTerms: [.session]
            ) { $0.playbackState = nil },
            refusal(
                .licenses, "rental without a playback state", .rental, rule: "4.2",
                tolerance: "a server may give such a device a license without a limit", toleratedTerms: [.session]
            ) { $0.playbackState = nil },
            license(.licenses, "streaming without a playback state", rule: "2.1") { $0.playbackState = nil },
            license(
                .licenses, "offline for a device with offline keys of version 1", .offline, rule: "4.3",
                tolerance: "Apple's server has version 2 alone",
                toleratedTerms: [.duration(.persistentLimited(ConformanceKind.storageLimit))]
            ) { $0.capabilities = [.offlineKey, .securityLevelBaseline] },
            license(.licenses, "persistent for a device without offline keys", .persistent, rule: "4.3") {
                $0.capabilities = [.hdcpEnforcement]
            },
            refusal(
                .licenses, "offline for a device without offline keys", .offline, rule: "4.3",
                tolerance: "Apple's server sends the limit of the storage alone, and others the shorter one",
                toleratedTerms: [ConformanceKind.storageLimit, ConformanceKind.playbackLimit].map {
                    .duration(.persistentLimited($0))
                }
            ) { $0.capabilities = [.hdcpEnforcement] },
            refusal(.licenses, "HDCP Type 1 for a device without it", .protected, rule: "4.6") {
                $0.capabilities = [.securityLevelBaseline, .securityLevelMain]
            },
            refusal(
                .licenses, "Baseline for a device of the level Audio", .protected, rule: "4.6",
                tolerance: "a server may leave this check to the device, which the license tells the level",
                toleratedTerms: [.session]
            ) {
                $0.securityLevel = .report(
                    SecurityLevelReport(rawLevel: SecurityLevel.audio.rawValue, denyListVersion: 31))
            },
            license(.licenses, "protected, for a device of the level Baseline", .protected, rule: "4.6") {
                $0.capabilities = [.hdcpEnforcement, .securityLevelBaseline]
            },
            refusal(.licenses, unknownAsset, rule: "2.1") { $0.assetID = ConformanceKind.unknownAssetID },
        ]
}

extension MediaPlaybackState {
    func with(_ state: PlaybackState) -> MediaPlaybackState {
        MediaPlaybackState(createdAt: createdAt, state: state, sessionID: sessionID)
    }
}
