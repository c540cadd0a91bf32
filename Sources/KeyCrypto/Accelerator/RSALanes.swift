import COpenSSL

/// Runs up to eight RSA private operations side by side. Belongs to one backend.
///
/// A lane may have any key, but all keys of a batch have moduli of the same size. Each ciphertext is blinded, each
/// result is checked with the public operation, and all memory is wiped after the batch.
final class RSALanes {
    /// What one lane computes.
    struct Lane {
        let job: RSAUnwrapJob
        let input: RSAUnwrapJob.Input
        let numbers: RSAPrivateNumbers

        /// The ciphertext; nil if it is not a number below the modulus.
        fileprivate var ciphertext: [UInt8]? { numbers.number(input.message[input.range]) }

        /// What is decrypted if there is no ciphertext, so that this refusal takes as long as any other one.
        fileprivate var standIn: [UInt8] { [UInt8](repeating: 0, count: numbers.size - 1) + [2] }
    }

    /// A lane whose ciphertext is blinded.
    private struct BlindedLane {
        let lane: Lane
        let isNumber: Bool
        /// Nil if OpenSSL could not blind the ciphertext.
        let blinding: RSABlinding?
    }

    /// More than a configuration has keys.
    private static let blindingCountMaximum = 128

    private let library: AcceleratorLibrary
    private let decoder: OAEPDecoder
    private let memory: LaneMemory
    /// An entry does not keep its key alive: a key that was replaced must not stay in memory.
    private struct Entry {
        weak var numbers: RSAPrivateNumbers?
        let blinding: RSABlinding
    }

    private var blindings: [ObjectIdentifier: Entry] = [:]
    /// The buffer for a message before its size is known.
    private let output = SecretBytes(count: LaneMemory.partSize)

    /// Returns nil if OpenSSL lacks a digest.
    init?(_ library: AcceleratorLibrary) {
        guard let decoder = OAEPDecoder() else { return nil }
        self.library = library
        self.decoder = decoder
        memory = LaneMemory(
            workSize: RSAPrivateNumbers.sizes.map { library.method(modulusSize: $0).memorySize }.max() ?? 0)
    }

    /// Settles the jobs of one to eight lanes, whose moduli have `size` bytes. Returns the lanes whose results are
    /// wrong: their jobs are not settled.
    ///
    /// The time depends only on the number of lanes, on their keys, and on how many results are wrong.
    func settle(_ lanes: [Lane], size: Int) -> [Lane] {
        precondition((1...AcceleratorLibrary.laneCount).contains(lanes.count), "one to eight lanes")
        precondition(lanes.allSatisfy { $0.numbers.size == size }, "moduli of one size")
        defer {
            memory.wipe()
            output.wipe()
        }
        let blinded = lanes.enumerated().map { index, lane in blind(lane, index) }
        let status = run(lanes, size: size)
        var wrong: [Lane] = []
        for (index, lane) in blinded.enumerated() {
            // A status has four bits for each lane.
            guard let blinding = lane.blinding, status >> UInt32(4 * index) & 0xF == 0, isRight(index, size: size)
            else {
                wrong.append(lane.lane)
                continue
            }
            settle(lane, index, blinding)
        }
        return wrong
    }

    private func blind(_ lane: Lane, _ index: Int) -> BlindedLane {
        let ciphertext = lane.ciphertext
        let blinding = blinding(of: lane)
        let isBlinded = unsafe blinding?.blind(
            ciphertext ?? lane.standIn, into: memory.part(.blinded, of: index),
            inverse: memory.part(.inverse, of: index), size: lane.numbers.size)
        return BlindedLane(lane: lane, isNumber: ciphertext != nil, blinding: isBlinded == true ? blinding : nil)
    }

    private func blinding(of lane: Lane) -> RSABlinding? {
        let name = ObjectIdentifier(lane.numbers)
        // Another key may have got the object identifier of a key that was released.
        if let known = blindings[name], known.numbers === lane.numbers { return known.blinding }
        guard let made = RSABlinding(lane.input.key) else { return nil }
        // Each reload brings new keys. The blindings of the old ones must not pile up.
        blindings = blindings.filter { $0.value.numbers != nil }
        if blindings.count >= Self.blindingCountMaximum { blindings.removeAll() }
        blindings[name] = Entry(numbers: lane.numbers, blinding: made)
        return made
    }

    /// Decrypts the numbers of all lanes, and encrypts the results again. Returns both statuses in one.
    private func run(_ lanes: [Lane], size: Int) -> UInt32 {
        let count = lanes.count
        let inputs = unsafe Self.table(count) { unsafe UnsafePointer(memory.part(.blinded, of: $0)) }
        let outputs = unsafe Self.table(count) { unsafe memory.part(.result, of: $0) }
        let secrets = unsafe RSAPrivateNumbers.Secret.allCases.map { secret in
            unsafe Self.table(count) { unsafe lanes[$0].numbers.words(of: secret) }
        }
        let results = unsafe Self.table(count) { unsafe UnsafePointer(memory.part(.result, of: $0)) }
        let checks = unsafe Self.table(count) { unsafe memory.part(.check, of: $0) }
        let moduli = unsafe Self.table(count) { unsafe lanes[$0].numbers.modulusWords }
        let method = library.method(modulusSize: size)
        let bits = Int32(size * 8)
        // Safe: each table has eight entries. The entries of used lanes point to numbers of the right size, which exist
        // until both calls have returned. `work` has the size that the methods need.
        let decrypted = unsafe library.decrypt(
            inputs, outputs, secrets[0], secrets[1], secrets[2], secrets[3], secrets[4], bits, method.decrypting,
            memory.work)
        return unsafe decrypted | library.encrypt(results, checks, moduli, bits, method.encrypting, memory.work)
    }

    /// Returns a table for the library, with null pointers for lanes that are not used.
    private static func table<Pointer>(_ count: Int, _ entry: (Int) -> Pointer) -> [Pointer?] {
        (0..<AcceleratorLibrary.laneCount).map { $0 < count ? entry($0) : nil }
    }

    /// Whether the result of a lane, encrypted again, is the number that was decrypted.
    ///
    /// A fault in one half of the computation would give a result from which the private key follows, if it were sent.
    private func isRight(_ index: Int, size: Int) -> Bool {
        unsafe CRYPTO_memcmp(memory.part(.check, of: index), memory.part(.blinded, of: index), size) == 0
    }

    private func settle(_ lane: BlindedLane, _ index: Int, _ blinding: RSABlinding) {
        let result = unsafe memory.part(.result, of: index)
        unsafe blinding.unblind(result, inverse: memory.part(.inverse, of: index), numbers: lane.lane.numbers)
        let count = unsafe decoder.decode(
            result, size: lane.lane.numbers.size, padding: lane.lane.input.padding, into: output)
        lane.lane.job.settle(output: output, size: lane.isNumber ? count : nil)
    }
}
