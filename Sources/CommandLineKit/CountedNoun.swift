/// A count and its noun, such as "1 key" and "2 keys".
package enum CountedNoun {
    /// `many` is the plural; the noun with an "s" unless given.
    package static func text(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }
}
