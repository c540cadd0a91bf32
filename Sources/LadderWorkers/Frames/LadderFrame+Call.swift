import ByteCoding
import FairPlay
import KeyCrypto

/// The encoding of a call, as the body of a message.
///
///     size  field
///       16  content IV
///        4  content kind
///      112  SK..R1
///       21  R2
///       16  integrity
///       20  certificate hash
///        4  protocol version used
///        8  session key wanted
///        4  count f of key formats, 1 to 64
///        4  size s of SK..R1 video, 0 to 256
///        4  size r of R2 video, 0 to 64; 0 if and only if s is 0
///      8 f  key formats
///        s  SK..R1 video
///        r  R2 video
///       16  content key, secret
extension LadderCall {
    private static let sessionKeyBlockSize = 112
    private static let r2Size = 21
    private static let certificateHashSize = 20
    private static let contentKeySize = 16
    static let keyFormatCounts = 1...64
    static let videoSessionKeyBlockSizes = 1...256
    static let videoR2Sizes = 1...64

    private static let fixedSize = 16 + 4 + 112 + 21 + 16 + 20 + 4 + 8 + 4 + 4 + 4 + contentKeySize
    static let encodedSizes =
        fixedSize + 8 * keyFormatCounts.lowerBound...fixedSize + 8 * keyFormatCounts.upperBound
        + videoSessionKeyBlockSizes.upperBound + videoR2Sizes.upperBound

    /// Appends the call to a message, which must have room for the largest call.
    ///
    /// Throws `notExpressible` if a part of the call has a wrong size. The message is then unchanged.
    func write(number: UInt64, to message: inout LadderMessage) throws(LadderFrameError) {
        try checkSizes()
        let bodySize =
            Self.fixedSize + 8 * keyFormats.count + (blocks.video?.sessionKeyBlock.count ?? 0)
            + (blocks.video?.r2.count ?? 0)
        message.append(publicPart(number: number, bodySize: bodySize))
        message.append(secret: content.key.bytes)
    }

    private func checkSizes() throws(LadderFrameError) {
        guard content.key.bytes.count == Self.contentKeySize else { throw .notExpressible("content key") }
        guard blocks.sessionKeyBlock.count == Self.sessionKeyBlockSize else { throw .notExpressible("SK..R1") }
        guard blocks.r2.count == Self.r2Size else { throw .notExpressible("R2") }
        guard certificateHash.count == Self.certificateHashSize else { throw .notExpressible("certificate hash") }
        guard Self.keyFormatCounts.contains(keyFormats.count) else { throw .notExpressible("key formats") }
        guard let video = blocks.video else {
            guard wanted == .generic else { throw .notExpressible("session key wanted") }
            return
        }
        guard Self.videoSessionKeyBlockSizes.contains(video.sessionKeyBlock.count),
            Self.videoR2Sizes.contains(video.r2.count)
        else { throw .notExpressible("video blocks") }
    }

    private func publicPart(number: UInt64, bodySize: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: LadderFrameHead.size + bodySize)
        LadderFrameHead(.call, number: number, bodySize: bodySize).write(to: &writer)
        writer.write(content.iv)
        writer.write(content.kind.rawValue)
        writer.write(blocks.sessionKeyBlock)
        writer.write(blocks.r2)
        writer.write(blocks.integrity)
        writer.write(certificateHash)
        writer.write(protocolVersionUsed)
        writer.write(wanted.rawValue)
        writer.write(UInt32(keyFormats.count))
        writer.write(UInt32(blocks.video?.sessionKeyBlock.count ?? 0))
        writer.write(UInt32(blocks.video?.r2.count ?? 0))
        for format in keyFormats { writer.write(format) }
        if let video = blocks.video {
            writer.write(video.sessionKeyBlock)
            writer.write(video.r2)
        }
        return writer.bytes
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        let contentIV = try reader.bytes16("content IV")
        let kindNumber = try reader.word("content kind")
        let sessionKeyBlock = try reader.bytes(count: Self.sessionKeyBlockSize, "SK..R1")
        let r2 = try reader.bytes(count: Self.r2Size, "R2")
        let integrity = try reader.bytes16("integrity")
        let certificateHash = try reader.bytes(count: Self.certificateHashSize, "certificate hash")
        let protocolVersionUsed = try reader.word("protocol version used")
        let wantedNumber = try reader.longWord("session key wanted")
        let formatCount = try reader.size("count of key formats", in: Self.keyFormatCounts)
        let videoSize = try reader.size("size of SK..R1 video", in: 0...Self.videoSessionKeyBlockSizes.upperBound)
        let videoR2Size = try reader.size("size of R2 video", in: 0...Self.videoR2Sizes.upperBound)
        var keyFormats: [UInt64] = []
        keyFormats.reserveCapacity(formatCount)
        for _ in 0..<formatCount { keyFormats.append(try reader.longWord("key format")) }
        let videoBlock = try reader.bytes(count: videoSize, "SK..R1 video")
        let videoR2 = try reader.bytes(count: videoR2Size, "R2 video")
        let contentKey = try reader.secret(count: Self.contentKeySize, "content key")
        try reader.finish()
        guard let kind = ContentKind(rawValue: kindNumber) else { throw .illegalValue("content kind") }
        guard videoBlock.isEmpty == videoR2.isEmpty else { throw .illegalValue("video blocks") }
        guard let wanted = SessionKeyVersion(rawValue: wantedNumber), wanted == .generic || !videoBlock.isEmpty else {
            throw .illegalValue("session key wanted")
        }
        let video = videoBlock.isEmpty ? nil : VideoBlocks(sessionKeyBlock: videoBlock, r2: videoR2)
        self.init(
            content: Content(key: contentKey, iv: contentIV, kind: kind),
            blocks: SessionBlocks(sessionKeyBlock: sessionKeyBlock, r2: r2, integrity: integrity, video: video),
            keyFormats: keyFormats, protocolVersionUsed: protocolVersionUsed, certificateHash: certificateHash,
            wanted: wanted)
    }
}
