/// Welch's t for two samples of different spread: how many standard errors lie between their means.
struct WelchTest {
    private(set) var first = Moments()
    private(set) var second = Moments()

    mutating func add(first value: Double) { first.add(value) }
    mutating func add(second value: Double) { second.add(value) }

    var t: Double {
        let error = (first.variance / first.count + second.variance / second.count).squareRoot()
        return error > 0 ? (first.mean - second.mean) / error : 0
    }

    /// Mean and variance, updated one value at a time (Welford).
    struct Moments {
        private(set) var count = 0.0
        private(set) var mean = 0.0
        private var squares = 0.0

        var variance: Double { count > 1 ? squares / (count - 1) : 0 }

        mutating func add(_ value: Double) {
            count += 1
            let difference = value - mean
            mean += difference / count
            squares += difference * (value - mean)
        }
    }
}
