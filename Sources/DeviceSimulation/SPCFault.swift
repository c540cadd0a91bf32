import FairPlay
import KeyCrypto

/// The malformed SPCs of protocol section 6 and hardening section 2, by name.
///
/// A container fault changes the finished message. A payload fault is made before encryption, as everybody who holds the public
/// certificate can.
package enum SPCFault: String, Sendable, CaseIterable {
    // The container: refused before any key is used.
    case versionZero, versionThree, versionFour, versionNine
    case truncatedHeader, truncatedPayload
    case oneTrailingByte, sixteenTrailingBytes, sixtyFourTrailingBytes
    case lengthPlus16, lengthMinus16, lengthHuge, lengthUnaligned, lengthZero, emptyPayload

    // The credential.
    case unknownCertificateHash
    case corruptedWrappedKey, wrappedKeyOf32Bytes

    // The payload.
    case garbagePayload, wrongIntegrity, corruptedSessionKeyBlock
    case duplicateTagDifferent, duplicateTagIdentical
    case returnRequestUnknownTag, returnRequestOddLength, returnRequestNamesItself, returnRequestNamesSessionKeyBlock
    case returnRequestNamesContentKey, returnRequestTooLong
    case assetIDEmpty, assetIDOneByte, assetIDTooLong
    case r2TooShort, r2TooLong, antiReplaySeedTooShort, sessionKeyBlockTooShort, integrityTooShort
    case playbackStateTooShort, capabilitiesTooShort, streamingIndicatorTooShort, transactionIDTooShort
    case versionsSupportedEmpty, versionsSupportedOdd
    case valueLongerThanBlock, valueLengthHuge, valueLengthNearlyTwoGiB
    case blockOverrun, blockUnaligned, blockLengthNearlyTwoGiB, blockLengthHuge, blockBeyondEnd, tooManyBlocks
    case missingSessionKeyBlock, missingIntegrity, missingAntiReplaySeed, missingR2, missingReturnRequest
    case missingAssetID, missingTransactionID, missingVersionUsed, missingVersionsSupported
    case versionUsedNine, versionUsedNotSupported

    /// What the server must answer.
    package enum Answer: Sendable, Equatable {
        /// 400 `spc_version_unsupported`
        case versionUnsupported
        /// 400 `spc_malformed`
        case malformed
        /// 422 `spc_certificate_unknown`
        case certificateUnknown
        /// 422 `spc_rejected`, the same for all
        case rejected
    }

    package var answer: Answer {
        switch self {
        case .versionZero, .versionThree, .versionFour, .versionNine: .versionUnsupported
        case .truncatedHeader, .truncatedPayload, .oneTrailingByte, .sixteenTrailingBytes, .sixtyFourTrailingBytes,
            .lengthPlus16, .lengthMinus16, .lengthHuge, .lengthUnaligned, .lengthZero, .emptyPayload:
            .malformed
        case .unknownCertificateHash: .certificateUnknown
        case .corruptedWrappedKey, .wrappedKeyOf32Bytes, .garbagePayload, .wrongIntegrity, .corruptedSessionKeyBlock,
            .duplicateTagDifferent, .duplicateTagIdentical, .returnRequestUnknownTag, .returnRequestOddLength,
            .returnRequestNamesItself, .returnRequestNamesSessionKeyBlock, .returnRequestNamesContentKey,
            .returnRequestTooLong, .assetIDEmpty, .assetIDOneByte, .assetIDTooLong, .r2TooShort, .r2TooLong,
            .antiReplaySeedTooShort, .sessionKeyBlockTooShort, .integrityTooShort, .playbackStateTooShort,
            .capabilitiesTooShort, .streamingIndicatorTooShort, .transactionIDTooShort, .versionsSupportedEmpty,
            .versionsSupportedOdd, .valueLongerThanBlock, .valueLengthHuge, .valueLengthNearlyTwoGiB, .blockOverrun,
            .blockUnaligned, .blockLengthNearlyTwoGiB, .blockLengthHuge, .blockBeyondEnd, .tooManyBlocks,
            .missingSessionKeyBlock,
            .missingIntegrity, .missingAntiReplaySeed, .missingR2, .missingReturnRequest, .missingAssetID,
            .missingTransactionID, .missingVersionUsed, .missingVersionsSupported, .versionUsedNine,
            .versionUsedNotSupported:
            .rejected
        }
    }
}
