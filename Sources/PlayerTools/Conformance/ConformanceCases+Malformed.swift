import DeviceSimulation
import FairPlay

extension ConformanceCase {
    /// SPCs with one fault. A server must give no license for them.
    static let malformed =
        cases(.v1, containers) + cases(.v3, containers.filter { !generic.contains($0) })
        + cases(.v1, payloads.map { .payload($0) })
        + cases(.v2, sessionFaults) + cases(.v3, sessionFaults)

    private static func cases(_ version: SPCVersion, _ faults: [SPCFault]) -> [ConformanceCase] {
        let possible = Set(SPCFault.all(for: version))
        return faults.filter(possible.contains).map { fault in
            refusal(
                .malformed, words(fault.description) + (version == .v1 ? "" : ", version \(version.rawValue)"),
                version: version, rule: rule(fault), tolerance: tolerance(fault), fault: fault)
        }
    }

    private static let containers = ContainerFault.allCases.filter {
        ![.versionNine, .sixtyFourTrailingBytes].contains($0)
    }
    .map { SPCFault.container($0) }
    private static let generic = Set(SPCFault.all(for: .v1))

    private static let sessionFaults: [SPCFault] = [
        .container(.unknownCertificateHash), .container(.corruptedWrappedKey),
        .payload(.wrappedKeyOf32Bytes), .payload(.garbagePayload), .payload(.wrongIntegrity),
        .payload(.corruptedSessionKeyBlock),
    ]

    /// All faults but those that break only limits of this project, and some that are like another one.
    private static let payloads = PayloadFault.allCases.filter { fault in
        ![
            PayloadFault.tooManyBlocks, .returnRequestTooLong, .versionsSupportedTooMany, .assetIDTooLong,
            .syncVersion2TooManyRecords, .syncVersion2RecordCountHuge, .valueLengthNearlyTwoGiB,
            .blockLengthNearlyTwoGiB, .videoR2TooLong, .returnRequestNamesSessionKeyVersion,
        ].contains(fault)
    }

    private static func rule(_ fault: SPCFault) -> String {
        switch fault {
        case .container: "1.1 and 1.2"
        case .payload(let fault):
            switch group(fault) {
            case .session: "3.2"
            case .framing: "2"
            case .returnRequest: "2.3"
            case .versions: "2.4"
            case .missing, .sizes, .optional: "2.1"
            }
        }
    }

    private enum Group { case session, framing, returnRequest, versions, missing, sizes, optional }

    private static func group(_ fault: PayloadFault) -> Group {
        let name = fault.rawValue
        let prefixes: [(String, Group)] = [
            ("returnRequest", .returnRequest), ("missing", .missing), ("versions", .versions),
            ("versionUsed", .versions), ("assetID", .sizes), ("r2", .sizes), ("antiReplaySeed", .sizes),
            ("sessionKeyBlock", .sizes), ("integrity", .sizes), ("transactionID", .sizes), ("duplicate", .framing),
            ("value", .framing), ("block", .framing), ("wrappedKey", .session), ("garbage", .session),
            ("wrongIntegrity", .session), ("corrupted", .session),
        ]
        return prefixes.first { name.hasPrefix($0.0) }?.1 ?? .optional
    }

    /// Why a server may answer an SPC with this fault; nil if it must not.
    private static func tolerance(_ fault: SPCFault) -> String? {
        switch fault {
        case .container(.unknownCertificateHash): "a server with one certificate may ignore the hash"
        case .container(.oneTrailingByte), .container(.sixteenTrailingBytes), .container(.sixtyFourTrailingBytes),
            .container(.lengthMinus16), .container(.lengthZero):
            "Apple's server opens what stands behind the payload too"
        case .container(.nonZeroLengthStart), .container(.nonZeroLengthMiddle): "Apple's server ignores these bytes"
        case .container: nil
        case .payload(let fault): tolerance(fault)
        }
    }

    private static func tolerance(_ fault: PayloadFault) -> String? {
        switch (group(fault), fault) {
        case (.returnRequest, .returnRequestUnknownTag), (.returnRequest, .returnRequestOddLength): nil
        case (.returnRequest, _): "Apple's server does not look for such a return request"
        case (.versions, _): "Apple's server leaves this check to its library"
        case (.optional, _): "a server may ignore a block that it does not need"
        case (.sizes, .assetIDEmpty), (.sizes, .assetIDOneByte): "a server may find no key for it instead"
        case (.session, .wrappedKeyOf32Bytes): "Apple's server cuts a longer key"
        case (.framing, .blockUnaligned): "Apple's server does not look for multiples of 16"
        case (.session, _), (.framing, _), (.missing, _), (.sizes, _): nil
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
