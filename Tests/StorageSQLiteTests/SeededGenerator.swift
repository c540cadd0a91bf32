import Glibc

/// A repeatable source of random values (SplitMix64), so that a property that fails can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Takes the seed from `LATCHKEY_TEST_SEED`, else draws one, and prints it.
    static func announced(for property: String) -> SeededGenerator {
        // The test process never changes its environment, and the text is copied at once.
        let given = unsafe getenv("LATCHKEY_TEST_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(property): LATCHKEY_TEST_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
