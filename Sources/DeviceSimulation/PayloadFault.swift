/// What can be wrong with what is encrypted: the key that is wrapped, the framing, the required blocks.
///
/// Each gets the one answer for all that is wrong after the certificate hash.
package enum PayloadFault: String, Sendable, CaseIterable {
    case wrappedKeyOf32Bytes
    case garbagePayload, wrongIntegrity, corruptedSessionKeyBlock

    // Framing.
    case duplicateTagDifferent, duplicateTagIdentical
    case valueLongerThanBlock, valueLengthHuge, valueLengthNearlyTwoGiB
    case blockOverrun, blockUnaligned, blockLengthNearlyTwoGiB, blockLengthHuge, blockBeyondEnd, tooManyBlocks

    // The return request.
    case returnRequestUnknownTag, returnRequestOddLength, returnRequestNamesItself, returnRequestNamesSessionKeyBlock
    case returnRequestNamesContentKey, returnRequestNamesR1, returnRequestNamesDuration, returnRequestNamesOfflineKey
    case returnRequestNamesHDCP, returnRequestNamesSecurityLevel, returnRequestNamesSessionKeyVersion
    case returnRequestTooLong

    // Required blocks.
    case assetIDEmpty, assetIDOneByte, assetIDTooLong
    case r2TooShort, r2TooLong, antiReplaySeedTooShort, antiReplaySeedTooLong
    case sessionKeyBlockTooShort, sessionKeyBlockTooLong, integrityTooShort, transactionIDTooShort
    case versionsSupportedEmpty, versionsSupportedOdd, versionsSupportedTooMany, versionUsedTooShort
    case versionUsedNine, versionUsedNotSupported
    case missingSessionKeyBlock, missingIntegrity, missingAntiReplaySeed, missingR2, missingReturnRequest
    case missingAssetID, missingTransactionID, missingVersionUsed, missingVersionsSupported

    // Optional blocks.
    case playbackStateTooShort, capabilitiesTooShort, streamingIndicatorTooShort
    case deviceIdentityTooShort, deviceInfoTooShort, denyListVersionTooShort, securityLevelReportReservedWord
    case videoSessionKeyBlockTooLong, videoR2TooLong
    case syncTooShort, syncVersion1ReservedWord
    case syncVersion2TooShort, syncVersion2WithoutFlags, syncVersion2TooManyRecords, syncVersion2RecordsBeyondValue
    case syncVersion2RecordCountHuge
}
