import ByteCoding

/// The layout of a sync block's value.
///
///     offset  size  version 1         size  version 2
///          0     4  1                    4  2
///          4     4  0                    4  ignored
///          8    16  content id           8  server challenge
///         16                             8  flags
///         24     4  seconds to expiry   16  title id
///         40                             4  seconds to expiry
///         44                             4  number of records n, at most 250
///         48                          16 n  stream ids
///
/// A value of another version is ignored, such as the 28 zero bytes in ordinary SPCs. A value of fewer than 4 bytes is
/// ignored too.
enum SyncBlock {
    /// Reads the report; nil if the value is to be ignored.
    ///
    /// Throws `wrongSize` if the sizes do not agree, and `reservedWord` if the reserved word of version 1 is not zero.
    /// Throws `syncContradictory` if a report has too many records, or no flag that tells what it reports.
    static func parse(_ payload: [UInt8], in value: Range<Int>) throws(SPCRejection) -> SyncReport? {
        guard value.count >= 4 else { return nil }
        var reader = ByteReader(payload, in: value)
        let fields: Fields
        do throws(ByteReaderError) {
            fields = try Fields(reading: &reader)
        } catch {
            throw .wrongSize(tag: TLLVTag.sync, size: value.count)
        }
        switch fields {
        case .none: return nil
        case .version1(let reserved, let contentID, let duration):
            guard reserved == 0 else { throw .reservedWord(tag: TLLVTag.sync) }
            return SyncReport(.version1(contentID: contentID), remaining: .init(wireValue: duration))
        case .version2(let report, let duration):
            guard report.streamIDs.count <= SyncReportVersion2.streamIDCountMaximum else { throw .syncContradictory }
            guard !report.flags.isEmpty else { throw .syncContradictory }
            return SyncReport(.version2(report), remaining: .init(wireValue: duration))
        }
    }

    private enum Fields {
        case none
        case version1(reserved: UInt32, contentID: Bytes16, duration: UInt32)
        case version2(SyncReportVersion2, duration: UInt32)

        init(reading reader: inout ByteReader) throws(ByteReaderError) {
            switch try reader.readUInt32("version") {
            case 1:
                self = .version1(
                    reserved: try reader.readUInt32("reserved"),
                    contentID: try reader.readBytes16("content id"),
                    duration: try reader.readUInt32("seconds to expiry"))
            case 2: self = try Self.version2(from: &reader)
            default: self = .none
            }
        }

        private static func version2(from reader: inout ByteReader) throws(ByteReaderError) -> Fields {
            _ = try reader.readUInt32("reserved")
            let challenge = try reader.readUInt64("server challenge")
            let flags = SyncFlags(rawValue: try reader.readUInt64("flags"))
            let titleID = try reader.readBytes16("title id")
            let duration = try reader.readUInt32("seconds to expiry")
            let count = try reader.readUInt32("number of records")
            // If the count is too large, one record more than the maximum is enough to refuse the report.
            let read = min(Int(count), SyncReportVersion2.streamIDCountMaximum + 1)
            var streamIDs: [Bytes16] = []
            for _ in 0..<read { streamIDs.append(try reader.readBytes16("stream id")) }
            let report = SyncReportVersion2(
                challenge: challenge, flags: flags, titleID: titleID, streamIDs: streamIDs)
            return .version2(report, duration: duration)
        }
    }
}
