/// Checks up to eight ES256 signatures side by side. Belongs to one backend.
///
/// Each lane may have a key of its own. Nothing here is secret.
@safe
final class ES256Lanes {
    /// The numbers of a lane, in the order in which they are stored. Each has 32 bytes.
    private enum Part: Int, CaseIterable {
        /// Big-endian.
        case r, s, digest
        /// The coordinates of the key's point, as little-endian words.
        case x, y
    }

    private static let partSize = 32
    private static let laneSize = Part.allCases.count * partSize

    private let library: AcceleratorLibrary
    private let memory: UnsafeMutableRawPointer

    init(_ library: AcceleratorLibrary) {
        self.library = library
        unsafe memory = .allocate(byteCount: AcceleratorLibrary.laneCount * Self.laneSize, alignment: 64)
    }

    deinit {
        unsafe memory.deallocate()
    }

    /// Whether the library finds each signature valid, in the order of the checks. There are one to eight, whose keys
    /// fit the lanes.
    func verify(_ checks: [ES256Check]) -> [Bool] {
        precondition((1...AcceleratorLibrary.laneCount).contains(checks.count), "one to eight lanes")
        for (lane, check) in checks.enumerated() { load(check, into: lane) }
        // Lanes that are not needed repeat the first one.
        let lanes = (0..<AcceleratorLibrary.laneCount).map { $0 < checks.count ? $0 : 0 }
        let (r, s, digests) = unsafe (bytes(.r, of: lanes), bytes(.s, of: lanes), bytes(.digest, of: lanes))
        let (x, y) = unsafe (words(.x, of: lanes), words(.y, of: lanes))
        // Safe: all tables have eight pointers to numbers of 32 bytes, in memory that exists as long as this object.
        let status = unsafe library.verifyP256(r, s, digests, x, y, nil, nil)
        // A status has four bits for each lane.
        return (0..<checks.count).map { status >> UInt32(4 * $0) & 0xF == 0 }
    }

    private func load(_ check: ES256Check, into lane: Int) {
        let (signature, words) = (check.signature, check.key.pointWords)
        precondition(
            signature.count == 2 * Self.partSize && check.digest.count == Self.partSize && check.key.fitsLanes,
            "a signature, a SHA-256 and a point")
        // Safe: the sizes were checked, and r and s, like x and y, are stored one after the other.
        unsafe UnsafeMutableRawBufferPointer(start: part(.r, of: lane), count: 2 * Self.partSize).copyBytes(
            from: signature)
        unsafe UnsafeMutableRawBufferPointer(start: part(.digest, of: lane), count: Self.partSize).copyBytes(
            from: check.digest)
        for (index, word) in words.enumerated() {
            unsafe part(.x, of: lane).storeBytes(of: word, toByteOffset: 8 * index, as: UInt64.self)
        }
    }

    private func part(_ part: Part, of lane: Int) -> UnsafeMutableRawPointer {
        unsafe memory + lane * Self.laneSize + part.rawValue * Self.partSize
    }

    private func bytes(_ part: Part, of lanes: [Int]) -> [UnsafePointer<UInt8>?] {
        unsafe lanes.map { unsafe UnsafePointer(self.part(part, of: $0).assumingMemoryBound(to: UInt8.self)) }
    }

    private func words(_ part: Part, of lanes: [Int]) -> [UnsafePointer<UInt64>?] {
        unsafe lanes.map { unsafe UnsafePointer(self.part(part, of: $0).assumingMemoryBound(to: UInt64.self)) }
    }
}
