import ByteCoding
import DeviceSimulation
import FairPlay
import TestSupport

/// The inputs of an answered vector.
struct AnsweredRecipe {
    let name: String
    let purpose: String
    var options: DeviceOptions
    var terms = LicenseTerms()
    /// What the SPC's hash names, or nil for the certificate that devices of this version name.
    var subject: CredentialKey.Subject?

    private static let state = MediaPlaybackState(
        createdAt: 1_767_225_600, state: .readyToStart, sessionID: 0x1122_3344_5566_7788)

    private init(
        _ name: String, _ version: SPCVersion, _ purpose: String, assetID: [UInt8] = Array("movie-1".utf8),
        change: (inout AnsweredRecipe) -> Void = { _ in }
    ) {
        self.name = name
        self.purpose = purpose
        options = DeviceOptions(version: version, assetID: assetID)
        change(&self)
    }

    static func all() throws -> [AnsweredRecipe] {
        let (lease, rental) = (LicenseSeconds(300), LicenseSeconds(172_800))
        guard let lease, let rental, let longest = LicenseSeconds(UInt64(UInt32.max)) else { return [] }
        return plain + durations(lease: lease, rental: rental, longest: longest)
            + offlineKeys(storage: rental, playback: lease) + outputs(lease) + securityLevels + facts + assetIDs
            + blocks
    }

    // MARK: Containers

    private static let plain = [
        AnsweredRecipe("v1-plain", .v1, "Version 1 without a media playback state."),
        AnsweredRecipe("v2-plain", .v2, "Version 2 without a media playback state."),
        AnsweredRecipe("v3-plain", .v3, "Version 3 without a media playback state."),
        AnsweredRecipe(
            "v1-bundle-hash", .v1, "Version 1 that names the hash of both certificates, one after the other.",
            change: { $0.subject = .bundle }),
        AnsweredRecipe(
            "v3-bundle-hash", .v3, "Version 3 that names the SHA-256 of both certificates, one after the other.",
            change: { $0.subject = .bundle }),
        AnsweredRecipe(
            "v3-small-certificate-hash", .v3,
            "Version 3 that names the SHA-256 of the 1024-bit certificate; its key is wrapped for 2048 bits.",
            change: { $0.subject = .certificate1024 }),
    ]

    // MARK: Terms

    private static func durations(
        lease: LicenseSeconds, rental: LicenseSeconds, longest: LicenseSeconds
    ) -> [AnsweredRecipe] {
        let choices: [(name: String, duration: KeyDuration, purpose: String)] = [
            ("lease", .lease(lease), "A lease of five minutes."),
            ("rental", .rental(rental), "A rental of two days."),
            ("lease-and-rental", .leaseAndRental(lease: lease, rental: rental), "A lease within a rental."),
            ("persistent", .persistent, "A key that the device may keep, without an end."),
            ("persistent-limited", .persistentLimited(rental), "A key that the device may keep for two days."),
        ]
        let recipes = SPCVersion.allCases.flatMap { version in
            choices.map { choice in
                AnsweredRecipe("\(version)-\(choice.name)", version, choice.purpose) { recipe in
                    recipe.options.playbackState = state
                    recipe.terms.validity = .duration(choice.duration)
                }
            }
        }
        return recipes + [
            AnsweredRecipe("v1-longest-lease", .v1, "The longest lease that is not taken for none: 0xFFFFFFFE seconds.")
            {
                $0.options.playbackState = state
                $0.terms.validity = .duration(.lease(longest))
            }
        ]
    }

    private static func offlineKeys(storage: LicenseSeconds, playback: LicenseSeconds) -> [AnsweredRecipe] {
        let version1 = OfflineKey.Name.version1(contentID: Bytes16(high: 0x0123_4567_89ab_cdef, low: .max))
        let version2 = OfflineKey.Name.version2(
            streamID: Bytes16(high: 0xfedc_ba98_7654_3210, low: 1), titleID: Bytes16(high: 2, low: 3))
        func recipe(
            _ name: String, _ version: SPCVersion, _ purpose: String, _ capabilities: Capabilities, _ key: OfflineKey
        ) -> AnsweredRecipe {
            AnsweredRecipe(name, version, purpose) {
                $0.options.playbackState = state
                $0.options.capabilities = capabilities
                $0.terms.validity = .offlineKey(key)
            }
        }
        return [
            recipe(
                "v1-offline-key-1", .v1, "An offline key of version 1 with both ends, for capability bit 1 alone.",
                .offlineKey, OfflineKey(version1, storage: storage, playback: playback)),
            recipe(
                "v2-offline-key-1-without-limits", .v2, "An offline key of version 1 without an end.",
                [.offlineKey, .hdcpEnforcement], OfflineKey(version1, storage: nil, playback: nil)),
            recipe(
                "v1-offline-key-2", .v1, "An offline key of version 2 with both ends.",
                [.offlineKey, .offlineKeyVersion2], OfflineKey(version2, storage: storage, playback: playback)),
            recipe(
                "v2-offline-key-2-storage", .v2, "An offline key of version 2 with an end before its first use alone.",
                .offlineKeyVersion2, OfflineKey(version2, storage: storage, playback: nil)),
            recipe(
                "v3-offline-key-2-playback", .v3, "An offline key of version 2 with an end after its first use alone.",
                [.offlineKey, .secureInvalidation, .offlineKeyVersion2],
                OfflineKey(version2, storage: nil, playback: playback)),
        ]
    }

    private static func outputs(_ lease: LicenseSeconds) -> [AnsweredRecipe] {
        [
            AnsweredRecipe("v1-hdcp-none", .v1, "HDCP is not required.") { $0.terms.hdcp = HDCPLevel.none },
            AnsweredRecipe("v1-hdcp-type-0", .v1, "HDCP Type 0.") { $0.terms.hdcp = .type0 },
            AnsweredRecipe("v2-hdcp-type-1", .v2, "HDCP Type 1, for a device that can enforce it.") {
                $0.options.capabilities = .hdcpEnforcement
                $0.terms.hdcp = .type1
            },
            AnsweredRecipe("v1-everything", .v1, "A few optional blocks, and every term of streaming at once.") {
                $0.options.streamingIndicator = .airPlay
                $0.options.capabilities = [.hdcpEnforcement, .offlineKey]
                $0.options.playbackState = MediaPlaybackState(
                    createdAt: .max, state: .leaseExpiring, sessionID: .max)
                $0.options.protocolVersionsSupported = [1, 2, 3]
                $0.terms = LicenseTerms(validity: .duration(.lease(lease)), hdcp: .type1, securityLevel: .audio)
            },
        ]
    }

    private static let securityLevels = [
        AnsweredRecipe("v1-level-audio", .v1, "The least level, for a device that says nothing of its own.") {
            $0.terms.securityLevel = .audio
        },
        AnsweredRecipe("v2-level-baseline", .v2, "Baseline, for a device that has the bit and no report.") {
            $0.options.capabilities = .securityLevelBaseline
            $0.terms.securityLevel = .baseline
        },
        AnsweredRecipe("v3-level-main", .v3, "Main, for a device that reports it.") {
            $0.options.securityLevel = .report(
                SecurityLevelReport(rawLevel: SecurityLevel.main.rawValue, denyListVersion: 0))
            $0.terms.securityLevel = .main
        },
        AnsweredRecipe("v2-encrypted-report", .v2, "A report of 32 bytes, which is passed over.") {
            $0.options.capabilities = [.securityLevelBaseline, .securityLevelMain]
            $0.options.securityLevel = .encrypted
            $0.terms.securityLevel = .main
        },
        AnsweredRecipe("v1-old-deny-list", .v1, "An old deny list makes Baseline of a device that reports Main.") {
            $0.options.denyListVersion = 30
            $0.options.securityLevel = .report(
                SecurityLevelReport(rawLevel: SecurityLevel.main.rawValue, denyListVersion: 31))
            $0.terms.securityLevel = .baseline
        },
    ]

    // MARK: Device facts

    private static let facts = [
        AnsweredRecipe("v2-every-fact", .v2, "Every optional block at once.") { $0.options.sayEverything() },
        AnsweredRecipe("v3-every-fact", .v3, "Every optional block at once.") { $0.options.sayEverything() },
        AnsweredRecipe("v1-adapter", .v1, "The AV adapter, which the device id then names.") {
            $0.options.streamingIndicator = .avAdapter
        },
        AnsweredRecipe("v1-local-output", .v1, "The device's own screen: a random streaming indicator.") {
            $0.options.streamingIndicator = .local
        },
        AnsweredRecipe("v1-no-sync", .v1, "The 28 zero bytes of a block that is not a sync.") {
            $0.options.sync = .nothing
        },
    ]

    private static let assetIDs = [
        AnsweredRecipe(
            "v1-binary-asset-id", .v1, "An asset id of 18 bytes that are no text.",
            assetID: hex("00ff80c0feaabbccddeeff0102030405060d")),
        AnsweredRecipe(
            "v1-utf16-asset-id", .v1, "The asset id movie-1 as UTF-16, little-endian.",
            assetID: "movie-1".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }),
        AnsweredRecipe("v2-shortest-asset-id", .v2, "An asset id of two bytes.", assetID: [0x61, 0x62]),
        AnsweredRecipe(
            "v2-longest-asset-id", .v2, "An asset id of 200 bytes, the most that an alias has.",
            assetID: [UInt8](repeating: 0x61, count: 200)),
    ]

    private static let blocks = [
        AnsweredRecipe("v2-many-unknown-blocks", .v2, "Sixty unknown blocks, all of them asked back.") {
            $0.options.unknownBlockCount = 60
        },
        AnsweredRecipe(
            "v1-zero-length-values", .v1, "Blocks without a value: one with padding alone, one with nothing."
        ) {
            $0.options.unknownBlockCount = 0
            $0.options.otherBlocks = [
                DeviceBlock(0x0123_4567_89ab_cdef, [], extraBlocks: 1),
                DeviceBlock(0xfedc_ba98_7654_3210, [], extraBlocks: 0),
            ]
        },
        AnsweredRecipe("v1-repeated-return-request", .v1, "A return request that names blocks more than once.") {
            $0.options.returnRequest = [
                TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.assetID,
            ]
        },
        AnsweredRecipe("v2-empty-return-request", .v2, "A return request that asks for nothing.") {
            $0.options.returnRequest = []
        },
        AnsweredRecipe("v2-fixed-order", .v2, "No unknown blocks, and the blocks in a fixed order.") {
            $0.options.unknownBlockCount = 0
            $0.options.shufflesBlocks = false
        },
    ]
}

extension DeviceOptions {
    /// Adds every optional block.
    fileprivate mutating func sayEverything() {
        let system = OperatingSystemVersion(rawValue: 0x0012_0403)
        streamingIndicator = .airPlay
        playbackState = MediaPlaybackState(createdAt: 1_767_225_600, state: .readyToStart, sessionID: 1)
        capabilities = [
            .hdcpEnforcement, .offlineKey, .secureInvalidation, .offlineKeyVersion2, .securityLevelBaseline,
            .securityLevelMain,
        ]
        deviceIdentity = DeviceIdentity(
            version: 1, deviceClass: .appleMobile, vendorHash: 0x0102_0304_0506_0708, productHash: .max,
            systemFairPlayVersion: 0x0001_0002, trustedFairPlayVersion: 0x0003_0004, operatingSystem: system)
        deviceInfo = DeviceInfo(rawType: DeviceType.mobile.rawValue, operatingSystem: system)
        denyListVersion = 57
        securityLevel = .report(SecurityLevelReport(rawLevel: SecurityLevel.main.rawValue, denyListVersion: 56))
        keyFormats = [TLLVTag.contentKey, 0x1111_2222_3333_4444]
        virtualMachine = VirtualMachineInfo(
            version: 1, host: .init(deviceClass: .appleDesktop, operatingSystem: system, protocolVersion: 2),
            guest: .init(deviceClass: .other(77), operatingSystem: system, protocolVersion: 3))
        sync = .nothing
        video = .opaque(.init(sessionKeyBlock: [UInt8](0..<255), r2: [UInt8](0..<64)))
    }
}

/// The inputs of a vector with a sync report.
struct SyncRecipe {
    let name: String
    let version: SPCVersion
    let purpose: String
    let report: SyncReport

    private init(_ name: String, _ version: SPCVersion, _ purpose: String, _ report: SyncReport) {
        self.name = name
        self.version = version
        self.purpose = purpose
        self.report = report
    }

    private static let titleID = Bytes16(high: 0x7469_746c_6520_6f6e, low: 0x6520_2020_2020_2020)

    private static func version2(
        _ flags: SyncFlags, challenge: UInt64 = 0x1122_3344_5566_7788, streamCount: UInt64 = 0,
        remaining: SyncReport.Remaining = .seconds(86_400)
    ) -> SyncReport {
        let report = SyncReportVersion2(
            challenge: challenge, flags: flags, titleID: titleID,
            streamIDs: (0..<streamCount).map { Bytes16(high: 0x7374_7265_616d_0000, low: $0) })
        return SyncReport(.version2(report), remaining: remaining)
    }

    static let all = [
        SyncRecipe(
            "v1-sync-1", .v1, "Version 1: a key with some seconds left.",
            SyncReport(.version1(contentID: titleID), remaining: .seconds(2_591_995))),
        SyncRecipe(
            "v2-sync-1-expired", .v2, "Version 1: a key that has expired.",
            SyncReport(.version1(contentID: titleID), remaining: .expired)),
        SyncRecipe(
            "v1-sync-1-unlimited", .v1, "Version 1: a key without an end.",
            SyncReport(.version1(contentID: titleID), remaining: .unlimited)),
        SyncRecipe(
            "v1-sync-2-report", .v1, "Version 2: a report of one title.",
            version2([.report, .titleIDIsValid, .success])),
        SyncRecipe(
            "v3-sync-2-without-challenge", .v3, "Version 2: a report without a server challenge.",
            version2([.report, .success], challenge: 0)),
        SyncRecipe(
            "v2-sync-2-invalidation", .v2, "Version 2: three keys were invalidated.",
            version2([.secureInvalidation, .success], streamCount: 3, remaining: .expired)),
        SyncRecipe(
            "v3-sync-2-invalidation-of-all", .v3, "Version 2: 250 keys were invalidated, the most that may be.",
            version2([.secureInvalidationOfAll, .success], streamCount: 250, remaining: .expired)),
        SyncRecipe(
            "v2-sync-2-not-found", .v2, "Version 2: there was no such key.",
            version2([.report, .objectNotFound], remaining: .expired)),
    ]
}

/// The inputs of a refused vector.
struct RefusedRecipe {
    enum Content {
        case fault(SPCFault)
        case nothing
        case certificate
    }

    let name: String
    let version: SPCVersion
    let purpose: String
    let content: Content
    let expected: RefusedVector.Answer

    private init(
        _ name: String, _ version: SPCVersion, _ content: Content, _ expected: RefusedVector.Answer, _ purpose: String
    ) {
        self.name = name
        self.version = version
        self.purpose = purpose
        self.content = content
        self.expected = expected
    }

    private init(_ name: String, _ version: SPCVersion, _ fault: ContainerFault, _ purpose: String) {
        self.init(name, version, .fault(.container(fault)), RefusedVector.Answer(fault.answer), purpose)
    }

    private init(_ name: String, _ version: SPCVersion, _ fault: PayloadFault, _ purpose: String) {
        self.init(name, version, .fault(.payload(fault)), .rejected, purpose)
    }

    static let all = others + containers + version3 + payloads + optionalBlocks

    private static let others = [
        RefusedRecipe("nothing", .v1, .nothing, .empty, "No bytes at all."),
        RefusedRecipe("certificate", .v1, .certificate, .isCertificate, "A certificate in place of an SPC."),
    ]

    private static let containers = [
        RefusedRecipe("version-4", .v2, ContainerFault.versionFour, "A version that does not exist yet."),
        RefusedRecipe("version-0", .v1, ContainerFault.versionZero, "A version that does not exist."),
        RefusedRecipe(
            "v1-truncated-header", .v1, ContainerFault.truncatedHeader, "The container ends within its header."),
        RefusedRecipe(
            "v2-truncated-payload", .v2, ContainerFault.truncatedPayload, "Sixteen bytes short of its payload."),
        RefusedRecipe("v1-trailing-byte", .v1, ContainerFault.oneTrailingByte, "One byte behind the payload."),
        RefusedRecipe("v1-length-huge", .v1, ContainerFault.lengthHuge, "A payload length of 0xFFFFFFFF bytes."),
        RefusedRecipe("v2-empty-payload", .v2, ContainerFault.emptyPayload, "A payload of no bytes."),
        RefusedRecipe(
            "v1-unknown-certificate", .v1, ContainerFault.unknownCertificateHash,
            "The hash of an unknown certificate."),
        RefusedRecipe(
            "v1-corrupted-wrapped-key", .v1, ContainerFault.corruptedWrappedKey,
            "The RSA-wrapped session key has one bit flipped."),
    ]

    private static let version3 = [
        RefusedRecipe(
            "v3-wrong-tag", .v3, ContainerFault.wrongAuthenticationTag, "The authentication tag has one bit flipped."),
        RefusedRecipe(
            "v3-flipped-payload", .v3, ContainerFault.flippedPayloadByte,
            "One bit of the encrypted payload is flipped."),
        RefusedRecipe(
            "v3-wrong-transport", .v3, ContainerFault.wrongTransportIdentifier,
            "The transport identifier is another one."),
        RefusedRecipe(
            "v3-length-not-covered", .v3, ContainerFault.nonZeroLengthMiddle,
            "A byte of the length that the tag does not cover is not zero."),
        RefusedRecipe(
            "v3-truncated-tag", .v3, ContainerFault.truncatedAuthenticationTag, "The last byte of the tag is missing."),
        RefusedRecipe(
            "v3-trailing-bytes", .v3, ContainerFault.sixteenTrailingBytes, "Sixteen bytes behind the tag."),
        RefusedRecipe(
            "v3-unknown-certificate", .v3, ContainerFault.unknownCertificateHash,
            "The hash of an unknown certificate."),
        RefusedRecipe(
            "v3-wrapped-key-of-32-bytes", .v3, PayloadFault.wrappedKeyOf32Bytes,
            "The wrapped master key has 32 bytes in place of 16."),
        RefusedRecipe(
            "v3-wrong-integrity", .v3, PayloadFault.wrongIntegrity,
            "An authentic payload whose integrity block is not the end of SK..R1."),
    ]

    private static let payloads = [
        RefusedRecipe(
            "v2-wrapped-key-of-32-bytes", .v2, PayloadFault.wrappedKeyOf32Bytes,
            "The wrapped session key has 32 bytes in place of 16."),
        RefusedRecipe(
            "v1-wrong-integrity", .v1, PayloadFault.wrongIntegrity, "The integrity block is not the end of SK..R1."),
        RefusedRecipe("v2-missing-r2", .v2, PayloadFault.missingR2, "There is no R2."),
        RefusedRecipe("v1-duplicate-tag", .v1, PayloadFault.duplicateTagDifferent, "Two asset ids that differ."),
        RefusedRecipe(
            "v1-value-longer-than-block", .v1, PayloadFault.valueLongerThanBlock,
            "A value length that exceeds its block length."),
        RefusedRecipe(
            "v2-block-length-huge", .v2, PayloadFault.blockLengthHuge, "A block length of 0xFFFFFFFF bytes."),
        RefusedRecipe(
            "v1-return-request-of-the-content-key", .v1, PayloadFault.returnRequestNamesContentKey,
            "A return request that names a block of the CKC's own."),
        RefusedRecipe(
            "v2-return-request-of-the-offline-key", .v2, PayloadFault.returnRequestNamesOfflineKey,
            "A return request that names a block of the CKC's own."),
        RefusedRecipe(
            "v1-asset-id-of-one-byte", .v1, PayloadFault.assetIDOneByte, "An asset id shorter than two bytes."),
        RefusedRecipe(
            "v2-protocol-version-9", .v2, PayloadFault.versionUsedNine, "A protocol version that is not served."),
    ]

    private static let optionalBlocks = [
        RefusedRecipe(
            "v1-security-level-report-reserved", .v1, PayloadFault.securityLevelReportReservedWord,
            "A security level report whose reserved word is not zero."),
        RefusedRecipe(
            "v1-device-identity-short", .v1, PayloadFault.deviceIdentityTooShort, "A device identity of 35 bytes."),
        RefusedRecipe(
            "v1-sync-1-reserved", .v1, PayloadFault.syncVersion1ReservedWord,
            "A sync of version 1 whose reserved word is not zero."),
        RefusedRecipe(
            "v2-sync-2-without-flags", .v2, PayloadFault.syncVersion2WithoutFlags,
            "A sync of version 2 that says nothing of what it reports."),
        RefusedRecipe(
            "v3-sync-2-too-many-records", .v3, PayloadFault.syncVersion2TooManyRecords, "A sync with 251 records."),
        RefusedRecipe(
            "v1-sync-2-records-short", .v1, PayloadFault.syncVersion2RecordsBeyondValue,
            "A sync whose last record ends behind its value."),
        RefusedRecipe(
            "v1-sync-2-record-count-huge", .v1, PayloadFault.syncVersion2RecordCountHuge,
            "A sync that declares 0xFFFFFFFF records and has none."),
        RefusedRecipe(
            "v2-video-block-long", .v2, PayloadFault.videoSessionKeyBlockTooLong,
            "An SK..R1 for video of 257 bytes."),
    ]
}

extension RefusedVector.Answer {
    fileprivate init(_ answer: SPCFault.Answer) {
        self =
            switch answer {
            case .versionUnsupported: .versionUnsupported
            case .malformed: .malformed
            case .certificateUnknown: .certificateUnknown
            case .rejected: .rejected
            }
    }
}
