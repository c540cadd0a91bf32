import DeviceSimulation
import FairPlay

extension ConformanceCase {
    /// SPCs with one fault. A server must give no license for them, unless the row has a reason why it may.
    ///
    /// Faults that break only limits of this project are left out.
    static let malformed =
        cases(of: .v1, container + payload) + cases(of: .v3, version3) + cases(of: .v2, session)
        + cases(of: .v3, session)

    /// Faults that show one rule, and the reason why a server may answer them.
    private typealias Row = (rule: String, tolerance: String?, faults: [SPCFault])

    private static let container: [Row] = [
        row(
            "1.1", nil, .versionZero, .versionFour, .truncatedHeader, .truncatedPayload, .lengthPlus16, .lengthHuge,
            .lengthUnaligned, .emptyPayload),
        row(
            "1.1", "Apple's server opens what stands behind the payload too", .oneTrailingByte, .sixteenTrailingBytes,
            .lengthMinus16, .lengthZero),
    ]

    private static let version3: [Row] = [
        row(
            "1.2", nil, .wrongTransportIdentifier, .truncatedAuthenticationTag, .wrongAuthenticationTag,
            .authenticationTagOfZeros, .flippedPayloadByte),
        row("1.2", "Apple's server ignores these bytes", .nonZeroLengthStart, .nonZeroLengthMiddle),
    ]

    /// Faults of the credential and the session.
    private static let session: [Row] = [
        row("1.1", "a server with one certificate may ignore the hash", .unknownCertificateHash),
        row("1.1", nil, .corruptedWrappedKey),
        row("1.1", "Apple's server cuts a longer key", .wrappedKeyOf32Bytes),
        row("3.2", nil, .garbagePayload, .wrongIntegrity, .corruptedSessionKeyBlock),
    ]

    private static let payload: [Row] =
        session + [
            row(
                "2", nil, .duplicateTagDifferent, .duplicateTagIdentical, .valueLongerThanBlock, .valueLengthHuge,
                .blockOverrun, .blockLengthHuge, .blockBeyondEnd),
            row("2", "Apple's server does not look for multiples of 16", .blockUnaligned),
            row(
                "2", nil, .missingSessionKeyBlock, .missingIntegrity, .missingAntiReplaySeed, .missingR2,
                .missingReturnRequest, .missingAssetID, .missingTransactionID, .missingVersionUsed,
                .missingVersionsSupported),
            row(
                "2.1", nil, .r2TooShort, .antiReplaySeedTooShort, .antiReplaySeedTooLong, .sessionKeyBlockTooShort,
                .integrityTooShort),
            row(
                "2.1", "a server may read only what it needs", .r2TooLong, .sessionKeyBlockTooLong,
                .transactionIDTooShort),
            row("2.1", "a server may find no key for it instead", .assetIDEmpty, .assetIDOneByte),
            row(
                "2.1", "a server may ignore a block that it does not need", .playbackStateTooShort,
                .capabilitiesTooShort, .streamingIndicatorTooShort, .deviceIdentityTooShort, .deviceInfoTooShort,
                .denyListVersionTooShort, .securityLevelReportReservedWord, .videoSessionKeyBlockTooLong),
            row("2.3", nil, .returnRequestUnknownTag, .returnRequestOddLength),
            row(
                "2.3", "Apple's server does not look for such a return request", .returnRequestNamesItself,
                .returnRequestNamesSessionKeyBlock, .returnRequestNamesContentKey, .returnRequestNamesR1,
                .returnRequestNamesDuration, .returnRequestNamesOfflineKey, .returnRequestNamesHDCP,
                .returnRequestNamesSecurityLevel),
            row(
                "2.4", "Apple's server leaves this check to its library", .versionsSupportedEmpty,
                .versionsSupportedOdd, .versionUsedTooShort, .versionUsedNine, .versionUsedNotSupported),
            row(
                "4.4", "a server may ignore a block that it does not need", .syncTooShort, .syncVersion1ReservedWord,
                .syncVersion2TooShort, .syncVersion2WithoutFlags, .syncVersion2RecordsBeyondValue),
        ]

    private static func row(_ rule: String, _ tolerance: String?, _ faults: ContainerFault...) -> Row {
        (rule, tolerance, faults.map { .container($0) })
    }

    private static func row(_ rule: String, _ tolerance: String?, _ faults: PayloadFault...) -> Row {
        (rule, tolerance, faults.map { .payload($0) })
    }

    private static func cases(of version: SPCVersion, _ rows: [Row]) -> [ConformanceCase] {
        rows.flatMap { row in
            row.faults.map { fault in
                refusal(
                    .malformed, words(fault.description) + (version == .v1 ? "" : ", version \(version.rawValue)"),
                    version: version, rule: row.rule, tolerance: row.tolerance, fault: fault)
            }
        }
    }

    /// The name of a fault as words: "value longer than block". Abbreviations stay together.
    private static func words(_ name: String) -> String {
        var words: [String] = []
        var previous: Character = "A"
        for (index, character) in zip(name.indices, name) {
            let next = name[index...].dropFirst().first
            let startsWord = character.isUppercase && (!previous.isUppercase || next?.isLowercase ?? false)
            let startsNumber = character.isNumber && previous.isLowercase && (words.last?.count ?? 0) > 1
            if startsWord || startsNumber || words.isEmpty { words.append("") }
            words[words.count - 1].append(character)
            previous = character
        }
        return words.map { $0.count > 1 && $0.allSatisfy { $0.isUppercase || $0.isNumber } ? $0 : $0.lowercased() }
            .joined(separator: " ")
    }
}
