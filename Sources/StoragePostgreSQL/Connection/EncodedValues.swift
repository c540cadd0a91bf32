/// A statement's parameters in the lists that libpq takes, all in binary format.
struct EncodedValues: ~Copyable {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var sizes: [Int32] = []

    init(_ values: [PostgreSQLValue]) {
        for value in values {
            let encoded = value.encoded()
            offsets.append(encoded.map { _ in bytes.count })
            sizes.append(Int32(encoded?.count ?? 0))
            bytes.append(contentsOf: encoded ?? [])
        }
        // An empty value has an address too: without one it would be NULL.
        bytes.append(0)
    }

    /// Lends count, addresses, sizes and formats for the length of the call.
    borrowing func withLists<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let formats = [Int32](repeating: 1, count: sizes.count)
        // Every address lies within `bytes`, and all buffers live until `body` has returned.
        return unsafe bytes.withUnsafeBytes { buffer in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = unsafe offsets.map { offset in unsafe offset.flatMap { unsafe start?.advanced(by: $0) } }
            return unsafe pointers.withUnsafeBufferPointer { pointers in
                unsafe sizes.withUnsafeBufferPointer { sizes in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(Int32(sizes.count), pointers.baseAddress, sizes.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
