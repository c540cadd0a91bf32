/// Finds the name that a misspelled word was probably meant to be.
package enum NearestName {
    /// The known name with the fewest differences from `name`, and the first of several. Case, hyphens and underscores
    /// do not count. If names begin with `name`, only these count, as `--production` does for `--prod`.
    ///
    /// If that name has too many differences for its length, it is the first name of which `name` is an abbreviation,
    /// as `maxLife` is of `maximumLife`. Nil if no name fits.
    package static func of(_ name: String, among known: [String]) -> String? {
        let letters = plain(name)
        let longer = letters.utf8.count < 3 ? [] : known.filter { plain($0).hasPrefix(letters) }
        let distances = (longer.isEmpty ? known : longer).map { (name: $0, distance: distance(letters, plain($0))) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        if !longer.isEmpty || nearest.distance <= max(1, nearest.name.utf8.count / 3) { return nearest.name }
        return letters.utf8.count < 3 ? nil : known.first { abbreviates(letters, plain($0)) }
    }

    private static func plain(_ name: String) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }

    /// Whether both begin alike, and the letters of `short` stand in `long` in the same order.
    private static func abbreviates(_ short: String, _ long: String) -> Bool {
        var rest = Substring(short)
        for letter in long where letter == rest.first { rest.removeFirst() }
        return rest.isEmpty && short.first == long.first
    }

    /// How many bytes must be inserted, removed, replaced, or swapped with their neighbour to turn one text into the
    /// other (optimal string alignment). Only the first 64 bytes of each text count, which limits the work.
    package static func distance(_ one: String, _ other: String) -> Int {
        let one = Array(one.utf8.prefix(64))
        let other = Array(other.utf8.prefix(64))
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for (row, byte) in one.enumerated() {
            var current = [row + 1]
            for (column, otherByte) in other.enumerated() {
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (byte == otherByte ? 0 : 1))
                if row > 0, column > 0, byte == other[column - 1], one[row - 1] == otherByte {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
