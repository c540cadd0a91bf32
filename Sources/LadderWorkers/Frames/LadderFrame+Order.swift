import ByteCoding
import FairPlay
import KeyCrypto

/// The encoding of an order to a library, as the body of a message.
///
///     size  field
///        4  size m of the SPC, 1 to 65,536
///        4  whether a license is wanted, 0 or 1; without one, all fields but the SPC are 0
///       16  content IV
///        4  content type
///        4  encryption scheme
///        4  HDCP level: 1 none, 2 Type 0, 3 Type 1
///        4  validity: 1 session, 2 lease, 3 kept, 4 kept under a name
///        4  seconds of a lease, or of storage; 0 without a limit
///        4  seconds of playback; 0 without a limit
///       16  stream id
///       16  title id
///        m  SPC
///       16  content key, secret
extension LibraryOrder {
    private static let messageSizes = 1...SPCEnvelope.sizeMaximum
    private static let contentKeySize = 16
    private static let fixedSize = 4 + 4 + 16 + 6 * 4 + 16 + 16 + contentKeySize
    static let encodedSizes =
        fixedSize + messageSizes.lowerBound...fixedSize + messageSizes.upperBound

    /// Appends the order to a message, which must have room for the largest order.
    ///
    /// Throws `notExpressible` if a part of the order has a wrong size. The message is then unchanged.
    func write(number: UInt64, to message: inout LadderMessage) throws(LadderFrameError) {
        guard Self.messageSizes.contains(self.message.count) else { throw .notExpressible("SPC") }
        if let license, license.key.bytes.count != Self.contentKeySize { throw .notExpressible("content key") }
        message.append(publicPart(number: number, bodySize: Self.fixedSize + self.message.count))
        guard let license else { return message.append([UInt8](repeating: 0, count: Self.contentKeySize)) }
        message.append(secret: license.key.bytes)
    }

    private func publicPart(number: UInt64, bodySize: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: LadderFrameHead.size + bodySize)
        LadderFrameHead(.order, number: number, bodySize: bodySize).write(to: &writer)
        writer.write(UInt32(message.count))
        writer.write(license == nil ? 0 : UInt32(1))
        writer.write(license?.iv ?? .zero)
        writer.write(UInt32(license?.terms.contentType.rawValue ?? 0))
        writer.write(UInt32(license?.terms.scheme.rawValue ?? 0))
        writer.write(license?.terms.hdcp.number ?? 0)
        let validity = license?.terms.validity.fields ?? .init(kind: 0)
        writer.write(validity.kind)
        writer.write(validity.first)
        writer.write(validity.second)
        writer.write(validity.streamID)
        writer.write(validity.titleID)
        writer.write(message)
        return writer.bytes
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        let messageSize = try reader.size("size of the SPC", in: Self.messageSizes)
        let hasLicense = try reader.size("whether a license is wanted", in: 0...1) == 1
        let iv = try reader.bytes16("content IV")
        let contentType = try reader.size("content type", in: 0...4)
        let scheme = try reader.size("encryption scheme", in: 0...2)
        let hdcp = try reader.size("HDCP level", in: 0...3)
        let validity = LibraryTerms.Validity.Fields(
            kind: try reader.word("validity"), first: try reader.word("first limit"),
            second: try reader.word("second limit"), streamID: try reader.bytes16("stream id"),
            titleID: try reader.bytes16("title id"))
        let message = try reader.bytes(count: messageSize, "SPC")
        let key = try reader.secret(count: Self.contentKeySize, "content key")
        try reader.finish()
        guard hasLicense else {
            let isEmpty =
                iv == .zero && contentType == 0 && scheme == 0 && hdcp == 0 && validity == .init(kind: 0)
                && key.bytes.withBytes { span in (0..<span.byteCount).allSatisfy { span.byte(at: $0) == 0 } }
            guard isEmpty else { throw .illegalValue("terms") }
            self.init(message: message, license: nil)
            return
        }
        guard let contentType = LibraryTerms.ContentType(rawValue: UInt8(contentType)),
            let scheme = LibraryTerms.Scheme(rawValue: UInt8(scheme)), let hdcp = HDCPLevel(number: hdcp),
            let parsed = LibraryTerms.Validity(validity), parsed.fields == validity
        else { throw .illegalValue("terms") }
        let terms = LibraryTerms(contentType: contentType, scheme: scheme, hdcp: hdcp, validity: parsed)
        self.init(message: message, license: LibraryLicense(key: key, iv: iv, terms: terms))
    }
}

extension HDCPLevel {
    /// The number of the level in messages.
    fileprivate var number: UInt32 {
        switch self {
        case .none: 1
        case .type0: 2
        case .type1: 3
        }
    }

    fileprivate init?(number: Int) {
        switch number {
        case 1: self = .none
        case 2: self = .type0
        case 3: self = .type1
        default: return nil
        }
    }
}

extension LibraryTerms.Validity {
    /// The fields of a message.
    fileprivate struct Fields: Equatable {
        var kind: UInt32
        var first: UInt32 = 0
        var second: UInt32 = 0
        var streamID = Bytes16.zero
        var titleID = Bytes16.zero
    }

    fileprivate var fields: Fields {
        switch self {
        case .session: return Fields(kind: 1)
        case .lease(let lease): return Fields(kind: 2, first: lease.value)
        case .kept(let kept):
            let (storage, playback) = (kept.storage?.value ?? 0, kept.playback?.value ?? 0)
            guard let name = kept.name else { return Fields(kind: 3, first: storage, second: playback) }
            return Fields(
                kind: 4, first: storage, second: playback, streamID: name.streamID, titleID: name.titleID)
        }
    }

    fileprivate init?(_ fields: Fields) {
        let (first, second) = (LicenseSeconds(UInt64(fields.first)), LicenseSeconds(UInt64(fields.second)))
        switch (fields.kind, first) {
        case (1, _): self = .session
        case (2, let lease?): self = .lease(lease)
        case (3, _): self = .kept(.init(name: nil, storage: first, playback: second))
        case (4, _):
            self = .kept(.init(name: (fields.streamID, fields.titleID), storage: first, playback: second))
        case (_, _): return nil
        }
    }
}

/// The encoding of an answer of a library, as the body of a message.
///
///     size  field
///       20  HU
///        8  transaction id
///        4  size c of the CKC, 44 to 65,536; 0 without one
///        c  CKC
extension LibraryAnswer {
    private static let fixedSize = DeviceID.size + 8 + 4
    static let encodedSizes = fixedSize...fixedSize + ckcSizes.upperBound

    /// Appends the answer to a message, which must have room for the largest answer.
    ///
    /// Throws `notExpressible` if the CKC has a wrong size. The message is then unchanged.
    func write(number: UInt64, to message: inout LadderMessage) throws(LadderFrameError) {
        if let ckc, !Self.ckcSizes.contains(ckc.count) { throw .notExpressible("CKC") }
        let bodySize = Self.fixedSize + (ckc?.count ?? 0)
        var writer = ByteWriter(capacity: LadderFrameHead.size + bodySize)
        LadderFrameHead(.written, number: number, bodySize: bodySize).write(to: &writer)
        writer.write(deviceID.bytes)
        writer.write(transactionID)
        writer.write(UInt32(ckc?.count ?? 0))
        writer.write(ckc ?? [])
        message.append(writer.bytes)
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        let deviceID = try reader.bytes(count: DeviceID.size, "HU")
        let transactionID = try reader.longWord("transaction id")
        let size = try reader.size("size of the CKC", in: 0...Self.ckcSizes.upperBound)
        guard size == 0 || Self.ckcSizes.contains(size) else { throw .illegalValue("size of the CKC") }
        let ckc = try reader.bytes(count: size, "CKC")
        try reader.finish()
        self.init(deviceID: DeviceID(deviceID), transactionID: transactionID, ckc: size == 0 ? nil : ckc)
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8 {
        // Safe: the offset is checked, and a byte has every value.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
