import Administration
import ByteCoding
import CommandLineKit
import FairPlay

/// The contents of one block of an SPC in words (protocol, section 2.1).
struct TLLVExplanation {
    /// A line for each fact in the block; at least one line.
    let lines: [String]

    init(tag: UInt64, value: [UInt8]) {
        do throws(ByteReaderError) {
            lines = try Self.lines(tag: tag, value: value)
        } catch {
            lines = ["the value of \(value.count) bytes ends too early: a server refuses it"]
        }
    }

    private static func lines(tag: UInt64, value: [UInt8]) throws(ByteReaderError) -> [String] {
        var reader = ByteReader(value)
        switch tag {
        case TLLVTag.sessionKeyBlock:
            return ["encrypted for the holder of the application secret: session key, device id (HU), R1, integrity"]
        case TLLVTag.sessionKeyIntegrity: return ["the plain SK..R1 block must end with these bytes"]
        case TLLVTag.antiReplaySeed: return ["the key of the CKC is derived from this and R1"]
        case TLLVTag.r2: return ["the key of the SK..R1 block is derived from this and the application secret"]
        case TLLVTag.tagReturnRequest: return returnRequest(value)
        case TLLVTag.assetID: return [AssetIDExplanation.text(of: value)]
        case TLLVTag.transactionID: return ["number \(try reader.readUInt64("transaction id")), for the log alone"]
        case TLLVTag.protocolVersionsSupported: return ["versions \(versions(value))"]
        case TLLVTag.protocolVersionUsed: return ["version \(try reader.readUInt32("version"))"]
        case TLLVTag.streamingIndicator: return [output(try reader.readUInt64("indicator"))]
        case TLLVTag.mediaPlaybackState: return try playbackState(&reader)
        case TLLVTag.capabilities: return try capabilities(&reader)
        case TLLVTag.deviceIdentity: return try DeviceExplanation.identity(&reader)
        case TLLVTag.deviceInfo: return try DeviceExplanation.info(&reader)
        case TLLVTag.kextDenyListVersion: return [DeviceExplanation.denyList(try reader.readUInt32("version"))]
        case TLLVTag.securityLevelReport: return try DeviceExplanation.securityLevel(value)
        case TLLVTag.supportedKeyFormats: return try keyFormats(value)
        case TLLVTag.virtualMachineInfo: return try DeviceExplanation.virtualMachine(value)
        case TLLVTag.sync: return try SyncExplanation.lines(value)
        case TLLVTag.sessionKeyBlockVideo, TLLVTag.r2Video:
            return ["for a second session key, which only an external module can use"]
        // The list of tags is not closed.
        default: return [stranger(tag)]
        }
    }

    private static let seenInRealSPCs: [UInt64] = [
        0x90ac_153d_acff_0416, 0x82c2_a59e_989c_d817, 0xa8f4_7e43_af7e_84e8, 0xc392_ec58_91ef_a7d0,
        0xc7c6_7fdb_af10_fb7e,
    ]

    private static func stranger(_ tag: UInt64) -> String {
        if TLLVTag.carriedByCKC.contains(tag) { return "belongs in a CKC; it has no meaning in an SPC" }
        let seen = seenInRealSPCs.contains(tag) ? "seen in SPCs of real devices; " : ""
        return "\(seen)its meaning is not known; it is returned if the return request has it, and otherwise ignored"
    }

    /// The name of a tag, or its digits if it has no name.
    private static func name(_ tag: UInt64) -> String {
        TLLVTag.name(of: tag) ?? hexadecimal(tag)
    }

    private static func returnRequest(_ value: [UInt8]) -> [String] {
        guard value.count % 8 == 0 else {
            return ["\(value.count) bytes are not a whole number of tags: a server refuses it"]
        }
        let tags = stride(from: 0, to: value.count, by: 8).map { offset in
            value[offset..<offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        return tags.isEmpty ? ["asks for nothing back"] : tags.map { "asks back: \(name($0))" }
    }

    private static func versions(_ value: [UInt8]) -> String {
        stride(from: 0, to: value.count - 3, by: 4).map { offset in
            "\(value[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })"
        }.joined(separator: ", ")
    }

    private static func output(_ indicator: UInt64) -> String {
        switch indicator {
        case PlaybackOutput.airPlayIndicator: "AirPlay to a television or set-top box"
        case PlaybackOutput.avAdapterIndicator: "Apple's AV adapter, which the device id (HU) then names"
        default: "the device's own screen (any value without another meaning)"
        }
    }

    private static func playbackState(_ reader: inout ByteReader) throws(ByteReaderError) -> [String] {
        let createdAt = try reader.readUInt32("creation date")
        let state = try reader.readUInt32("state")
        let session = try reader.readUInt64("session")
        let date = UnixTime(seconds: Int64(createdAt)).map { RFC3339.format($0) } ?? "\(createdAt)"
        return [
            PlaybackState(rawValue: state)?.explanation
                ?? "state \(hexadecimal(state)), which is not known and counts as ready to start",
            "made at \(date) by the device's clock", "playback session \(hexadecimal(session))",
        ]
    }

    private static func capabilities(_ reader: inout ByteReader) throws(ByteReaderError) -> [String] {
        let high = try reader.readUInt64("upper bits")
        let names = CapabilityName.names(of: Capabilities(rawValue: try reader.readUInt64("bits")))
        let upper = high == 0 ? [] : ["upper bits without a meaning: \(hexadecimal(high))"]
        return [names.isEmpty ? "none" : names.joined(separator: ", ")] + upper
    }

    private static func keyFormats(_ value: [UInt8]) throws(ByteReaderError) -> [String] {
        guard value.count >= 12 else { return [DeviceExplanation.unknownLayout(value.count)] }
        var reader = ByteReader(value)
        let version = try reader.readUInt32("version")
        guard version == 1 else { return ["version \(version) of this block, which is ignored"] }
        _ = try reader.readUInt32("reserved")
        let count = try reader.readUInt32("count")
        guard count <= 64, 12 + Int(count) * 8 <= value.count else {
            return ["\(count) formats are more than 64, or more than the block has: ignored"]
        }
        var lines = ["version \(version), \(count.counted("format"))"]
        for _ in 0..<count {
            let format = try reader.readUInt64("format")
            let meaning = format == DeviceFacts.keyFormatDefault ? " (a content key of 16 bytes)" : ""
            lines.append(hexadecimal(format) + meaning)
        }
        return lines
    }
}

extension PlaybackState {
    fileprivate var explanation: String {
        switch self {
        case .readyToStart: "ready to start: the key is needed"
        case .playing: "playing or paused: the key is not needed now"
        case .leaseExpiring: "playing, the lease about to end: a renewal"
        case .stopped: "playback has stopped"
        }
    }
}

/// A likely meaning of an asset id's bytes, which may be text or not.
enum AssetIDExplanation {
    static func text(of bytes: [UInt8]) -> String {
        if let text = printable(String(validating: bytes, as: UTF8.self)) { return "text \"\(text)\"" }
        if let text = printable(asciiInUTF16(bytes)) { return "UTF-16 text \"\(text)\"" }
        if let words = Bytes16(bytes) { return "16 bytes, as a key id \(KeyID(words: words))" }
        return "\(bytes.count) bytes that are not text"
    }

    /// The bytes as little-endian UTF-16. Nil unless all of it is ASCII, because random bytes are often valid UTF-16.
    private static func asciiInUTF16(_ bytes: [UInt8]) -> String? {
        let pairs = stride(from: 0, to: bytes.count - 1, by: 2).map { (bytes[$0], bytes[$0 + 1]) }
        guard bytes.count % 2 == 0, pairs.allSatisfy({ $0 < 0x80 && $1 == 0 }) else { return nil }
        return String(decoding: pairs.map(\.0), as: UTF8.self)
    }

    /// The text, if all of it can be printed. Nil if it is empty, or has control characters or unassigned characters.
    private static func printable(_ text: String?) -> String? {
        guard let text, !text.isEmpty, LicenseProblem.printable(text) == text else { return nil }
        return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .unassigned } ? text : nil
    }
}
