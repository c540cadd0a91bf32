import Glibc

/// A generator whose seed is printed, so that a failed property test can be repeated (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// Makes a generator with the seed in `LATCHKEY_TEST_SEED`, or with a random seed. Prints the seed to standard
    /// output.
    package static func announced(_ test: String) -> SeededGenerator {
        // The test process never changes its environment, and the text is copied immediately.
        let given = unsafe getenv("LATCHKEY_TEST_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(test): LATCHKEY_TEST_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
