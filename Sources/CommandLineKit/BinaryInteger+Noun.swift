extension BinaryInteger {
    /// The number with a noun, such as "1 key" and "2 keys". `many` is the plural; the noun with an "s" unless given.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
