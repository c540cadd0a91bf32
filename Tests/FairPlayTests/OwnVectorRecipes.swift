import DeviceSimulation
import FairPlay
import TestSupport

/// What goes into a vector that is answered.
struct AnsweredRecipe {
    let name: String
    let purpose: String
    var options: DeviceOptions
    var terms = LicenseTerms()
    var namesBundle = false

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
        return plain + durations(lease: lease, rental: rental, longest: longest) + outputs(lease) + assetIDs + blocks
    }

    private static let plain = [
        AnsweredRecipe("v1-plain", .v1, "Version 1 without a media playback state."),
        AnsweredRecipe("v2-plain", .v2, "Version 2 without a media playback state."),
        AnsweredRecipe(
            "v1-bundle-hash", .v1, "Version 1 that names the hash of both certificates, one after the other.",
            change: { $0.namesBundle = true }),
    ]

    private static func durations(
        lease: LicenseSeconds, rental: LicenseSeconds, longest: LicenseSeconds
    ) -> [AnsweredRecipe] {
        let choices: [(name: String, duration: KeyDuration, purpose: String)] = [
            ("lease", .lease(lease), "A lease of five minutes."),
            ("rental", .rental(rental), "A rental of two days."),
            ("lease-and-rental", .leaseAndRental(lease: lease, rental: rental), "A lease within a rental."),
        ]
        let recipes = [SPCVersion.v1, .v2].flatMap { version in
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

    private static func outputs(_ lease: LicenseSeconds) -> [AnsweredRecipe] {
        [
            AnsweredRecipe("v1-hdcp-none", .v1, "HDCP is not required.") { $0.terms.hdcp = HDCPLevel.none },
            AnsweredRecipe("v1-hdcp-type-0", .v1, "HDCP Type 0.") { $0.terms.hdcp = .type0 },
            AnsweredRecipe("v2-hdcp-type-1", .v2, "HDCP Type 1, for a device that can enforce it.") {
                $0.options.capabilities = .hdcpEnforcement
                $0.terms.hdcp = .type1
            },
            AnsweredRecipe("v1-everything", .v1, "Every optional block that has a meaning, and every term at once.") {
                $0.options.streamingIndicator = 0xabb0_256a_3184_3974
                $0.options.capabilities = [.hdcpEnforcement, .offlineKey]
                $0.options.playbackState = MediaPlaybackState(
                    createdAt: .max, state: .leaseExpiring, sessionID: .max)
                $0.options.protocolVersionsSupported = [1, 2, 3]
                $0.terms = LicenseTerms(validity: .duration(.lease(lease)), hdcp: .type1)
            },
        ]
    }

    private static let assetIDs = [
        AnsweredRecipe(
            "v1-binary-asset-id", .v1, "An asset id of 18 bytes that are no text.",
            assetID: hex("00ff80c0feaabbccddeeff0102030405060d")),
        AnsweredRecipe(
            "v1-utf16-asset-id", .v1, "The asset id movie-1 as UTF-16, little-endian.",
            assetID: "movie-1".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }),
        AnsweredRecipe("v2-shortest-asset-id", .v2, "An asset id of two bytes.", assetID: [0x61, 0x62]),
        AnsweredRecipe(
            "v2-longest-asset-id", .v2, "An asset id of 200 bytes.", assetID: [UInt8](repeating: 0x61, count: 200)),
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

/// What goes into a vector that is refused.
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

    static let all = [
        RefusedRecipe("nothing", .v1, .nothing, .empty, "No bytes at all."),
        RefusedRecipe("certificate", .v1, .certificate, .isCertificate, "A certificate in place of an SPC."),
        RefusedRecipe(
            "version-3", .v2, .fault(.versionThree), .versionUnsupported, "A version that this server does not serve."),
        RefusedRecipe("version-0", .v1, .fault(.versionZero), .versionUnsupported, "A version that does not exist."),
        RefusedRecipe(
            "v1-truncated-header", .v1, .fault(.truncatedHeader), .malformed, "The container ends within its header."),
        RefusedRecipe(
            "v2-truncated-payload", .v2, .fault(.truncatedPayload), .malformed, "Sixteen bytes short of its payload."),
        RefusedRecipe("v1-trailing-byte", .v1, .fault(.oneTrailingByte), .malformed, "One byte behind the payload."),
        RefusedRecipe(
            "v1-length-huge", .v1, .fault(.lengthHuge), .malformed, "A payload length of 0xFFFFFFFF bytes."),
        RefusedRecipe("v2-empty-payload", .v2, .fault(.emptyPayload), .malformed, "A payload of no bytes."),
        RefusedRecipe(
            "v1-unknown-certificate", .v1, .fault(.unknownCertificateHash), .certificateUnknown,
            "The hash of a certificate that nobody has."),
        RefusedRecipe(
            "v1-corrupted-wrapped-key", .v1, .fault(.corruptedWrappedKey), .rejected,
            "The RSA-wrapped session key has one bit flipped."),
        RefusedRecipe(
            "v2-wrapped-key-of-32-bytes", .v2, .fault(.wrappedKeyOf32Bytes), .rejected,
            "The wrapped session key has 32 bytes in place of 16."),
        RefusedRecipe(
            "v1-wrong-integrity", .v1, .fault(.wrongIntegrity), .rejected,
            "The integrity block is not the end of SK..R1."),
        RefusedRecipe("v2-missing-r2", .v2, .fault(.missingR2), .rejected, "There is no R2."),
        RefusedRecipe(
            "v1-duplicate-tag", .v1, .fault(.duplicateTagDifferent), .rejected, "Two asset ids that differ."),
        RefusedRecipe(
            "v1-value-longer-than-block", .v1, .fault(.valueLongerThanBlock), .rejected,
            "A value length that exceeds its block length."),
        RefusedRecipe(
            "v2-block-length-huge", .v2, .fault(.blockLengthHuge), .rejected, "A block length of 0xFFFFFFFF bytes."),
        RefusedRecipe(
            "v1-return-request-of-the-content-key", .v1, .fault(.returnRequestNamesContentKey), .rejected,
            "A return request that names a block of the CKC's own."),
        RefusedRecipe(
            "v1-asset-id-of-one-byte", .v1, .fault(.assetIDOneByte), .rejected, "An asset id shorter than two bytes."),
        RefusedRecipe(
            "v2-protocol-version-9", .v2, .fault(.versionUsedNine), .rejected, "A protocol version that is not served."),
    ]
}
