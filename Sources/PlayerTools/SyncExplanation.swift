import Administration
import ByteCoding
import CommandLineKit
import FairPlay

/// The contents of a sync block in words (protocol, section 4.4).
enum SyncExplanation {
    static func lines(_ value: [UInt8]) throws(ByteReaderError) -> [String] {
        guard value.count >= 4 else { return ["no sync (\(value.count) bytes)"] }
        var reader = ByteReader(value)
        switch try reader.readUInt32("version") {
        case 1 where value.count < 28, 2 where value.count < 48:
            return ["\(value.count) bytes are too few for the report: a server refuses it"]
        case 1: return try version1(&reader)
        case 2: return try version2(&reader)
        case let version: return ["no sync (version \(version))"]
        }
    }

    private static func version1(_ reader: inout ByteReader) throws(ByteReaderError) -> [String] {
        let reserved = try reader.readUInt32("reserved")
        let contentID = try reader.readBytes16("content id")
        let remaining = try reader.readUInt32("seconds to expiry")
        guard reserved == 0 else { return ["a reserved word is not 0: a server refuses it"] }
        return ["a report of version 1", "content id \(Hexadecimal.encode(contentID.bytes))", text(remaining)]
    }

    private static func version2(_ reader: inout ByteReader) throws(ByteReaderError) -> [String] {
        _ = try reader.readUInt32("reserved")
        let challenge = try reader.readUInt64("server challenge")
        let flags = SyncFlags(rawValue: try reader.readUInt64("flags"))
        let titleID = try reader.readBytes16("title id")
        let remaining = try reader.readUInt32("seconds to expiry")
        let count = try reader.readUInt32("records")
        guard count <= 250 else { return ["\(count) records are more than 250: a server refuses it"] }
        var lines = [
            flags.isEmpty
                ? "a report of version 2 without a flag: a server refuses it"
                : "a report of version 2: \(names(of: flags).joined(separator: ", "))",
            challenge == 0 ? "no server challenge" : "server challenge \(hexadecimal(challenge))",
            "title id \(Hexadecimal.encode(titleID.bytes))", text(remaining),
            "invalidated: \(count.counted("key"))",
        ]
        for _ in 0..<count {
            lines.append("stream id \(Hexadecimal.encode(try reader.readBytes16("stream id").bytes))")
        }
        return lines
    }

    private static func text(_ wireValue: UInt32) -> String {
        switch SyncReport.Remaining(wireValue: wireValue) {
        case .expired: "the key has expired"
        case .seconds(let seconds): "the key is valid for another \(seconds) s"
        case .unlimited: "the key has no end"
        }
    }

    private static let flagNames: [(SyncFlags, String)] = [
        (.report, "report asked for"), (.secureInvalidation, "invalidation of one title"),
        (.secureInvalidationOfAll, "invalidation of all keys"), (.titleIDIsValid, "title id valid"),
        (.success, "success"), (.objectNotFound, "not found"), (.objectExpired, "expired"),
    ]

    private static func names(of flags: SyncFlags) -> [String] {
        let known = flagNames.filter { flags.contains($0.0) }
        let rest = flags.subtracting(SyncFlags(known.map(\.0)))
        return known.map(\.1) + (rest.isEmpty ? [] : ["flags without a meaning: \(hexadecimal(rest.rawValue))"])
    }
}
