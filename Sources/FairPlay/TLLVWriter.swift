package import ByteCoding
package import KeyCrypto

/// Builds a payload of TLLV blocks with random padding (protocol, section 2).
package struct TLLVWriter {
    package private(set) var payload = ByteWriter(capacity: 1024)
    private let crypto: CryptoContext

    package init(using crypto: CryptoContext) {
        self.crypto = crypto
    }

    /// A block whose value is filled up to 16 bytes and followed by `extraBlocks` times 16 random bytes.
    package mutating func write(_ tag: UInt64, _ value: [UInt8], extraBlocks: Int) throws(CryptoError) {
        let blockLength = (value.count + 15) & ~15 + extraBlocks * 16
        payload.write(tag)
        payload.write(UInt32(blockLength))
        payload.write(UInt32(value.count))
        payload.write(value)
        payload.write(try crypto.randomBytes(count: blockLength - value.count))
    }

    /// A block with none to three extra blocks of padding, as many as chance says.
    package mutating func write(_ tag: UInt64, _ value: [UInt8]) throws(CryptoError) {
        try write(tag, value, extraBlocks: try crypto.randomIndex(below: 4))
    }

    /// Bytes that are blocks already: the echo of a return request.
    package mutating func writeVerbatim(_ blocks: ArraySlice<UInt8>) {
        payload.write(blocks)
    }
}
