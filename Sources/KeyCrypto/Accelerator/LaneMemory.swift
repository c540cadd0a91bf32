import COpenSSL

/// The memory in which a backend runs batches: four numbers for each lane, and memory for the library to work in.
///
/// It is ordinary memory, because its 35 KiB for each loop would fill the secure heap if there are many processors.
/// Secrets are in it only during a batch: `wipe` follows each one.
@safe
struct LaneMemory: ~Copyable {
    /// The numbers of a lane. Each has room for the largest modulus.
    enum Part: Int, CaseIterable {
        /// The blinded ciphertext.
        case blinded
        /// The number that removes the blinding.
        case inverse
        /// The decrypted number.
        case result
        /// The decrypted number, encrypted again.
        case check
    }

    static let partSize = 256
    private static let laneSize = Part.allCases.count * partSize
    private static let partsSize = AcceleratorLibrary.laneCount * laneSize
    /// crypto_mb needs it for the memory in which it works.
    private static let alignment = 64

    private let base: UnsafeMutableRawPointer
    private let size: Int

    init(workSize: Int) {
        size = Self.partsSize + workSize
        unsafe base = .allocate(byteCount: size, alignment: Self.alignment)
        wipe()
    }

    deinit {
        unsafe base.deallocate()
    }

    func part(_ part: Part, of lane: Int) -> UnsafeMutablePointer<UInt8> {
        precondition((0..<AcceleratorLibrary.laneCount).contains(lane), "a lane of the memory")
        return unsafe base.advanced(by: lane * Self.laneSize + part.rawValue * Self.partSize)
            .assumingMemoryBound(to: UInt8.self)
    }

    var work: UnsafeMutablePointer<UInt8> {
        unsafe base.advanced(by: Self.partsSize).assumingMemoryBound(to: UInt8.self)
    }

    func wipe() {
        unsafe OPENSSL_cleanse(base, size)
    }
}
