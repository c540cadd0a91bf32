package import ByteCoding

/// The outer layout of a CKC (protocol, section 1.3), which needs no key.
package struct CKCEnvelope: Sendable {
    package let message: [UInt8]
    package let version: UInt32
    package let reserved: UInt32
    package let iv: Bytes16
    package let payload: Range<Int>

    /// Throws `truncated`, `payloadLength` or `payloadUnaligned`; version and reserved word may be any.
    package init(parsing message: [UInt8]) throws(CKCFault) {
        let declared: UInt32
        var reader = ByteReader(message)
        do throws(ByteReaderError) {
            version = try reader.readUInt32("version")
            reserved = try reader.readUInt32("reserved")
            iv = try reader.readBytes16("initialization vector")
            declared = try reader.readUInt32("payload length")
        } catch {
            throw .truncated(error)
        }
        guard Int(declared) == reader.remaining else {
            throw .payloadLength(declared: declared, available: reader.remaining)
        }
        guard declared % 16 == 0, declared > 0 else { throw .payloadUnaligned }
        self.message = message
        payload = reader.offset..<message.count
    }
}
