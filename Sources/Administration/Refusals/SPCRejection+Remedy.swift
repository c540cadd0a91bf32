import FairPlay

extension SPCRejection {
    /// The rejection of which the log has these words and numbers; nil for any other words.
    init?(logged name: String, tag: UInt64, number: UInt64) {
        let count = Int(truncatingIfNeeded: number)
        let candidates: [SPCRejection] = [
            .sessionKey, .authenticationTag, .missingTag(tag), .wrongSize(tag: tag, size: count),
            .returnRequestTooLong(count: count), .returnRequestForbidden(tag), .returnRequestMissing(tag),
            .protocolVersion(used: UInt32(truncatingIfNeeded: number)), .reservedWord(tag: tag), .syncContradictory,
            .moduleRefused(status: Int32(truncatingIfNeeded: number)), .integrity,
            .framing(.truncatedHeader(offset: count)),
            .framing(.blockUnaligned(tag: tag, length: UInt32(truncatingIfNeeded: number))),
            .framing(.blockOverrun(tag: tag, length: UInt32(truncatingIfNeeded: number))),
            .framing(.valueExceedsBlock(tag: tag, length: UInt32(truncatingIfNeeded: number))),
            .framing(.tooManyBlocks(maximum: count)), .framing(.duplicateTag(tag)),
        ]
        guard let found = candidates.first(where: { $0.logged.name.description == name }) else { return nil }
        self = found
    }

    /// What to do about it.
    var remedy: String {
        switch self {
        case .integrity:
            "Compare the applicationSecret of this credential with the one that Apple delivered for this certificate. If other devices "
                + "play with it, the SPC was altered on its way: save one and ask latchkey token explain --spc."
        case .moduleRefused:
            "Ask the vendor of the external module what its status means; latchkeyd logs how the workers started."
        case .sessionKey:
            "Check that the app has the certificate of this credential's private key: latchkey credentials list shows both. If other devices "
                + "play with it, the SPC was altered on its way."
        case .protocolVersion: "Add the version to fairplay.protocolVersions if the players are meant to use it."
        case .authenticationTag, .framing, .missingTag, .wrongSize, .returnRequestTooLong, .returnRequestForbidden,
            .returnRequestMissing, .reservedWord, .syncContradictory:
            "The SPC was altered on its way, or its sender is no Apple device. Have the player send the bytes as it made them; "
                + "latchkey spc inspect shows where they go wrong."
        }
    }
}
