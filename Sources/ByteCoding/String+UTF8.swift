extension String {
    /// Whether both are the same bytes.
    ///
    /// `==` follows canonical equivalence, by which U+212A (the Kelvin sign) equals "K"; identifiers from outside are
    /// never compared so. It is quick to tell most texts apart, and so comes before the comparison of bytes.
    package func hasSameUTF8(as other: String) -> Bool {
        utf8.count == other.utf8.count && self == other && utf8.elementsEqual(other.utf8)
    }
}
