extension String {
    /// Whether both are the same bytes.
    ///
    /// `==` follows canonical equivalence, by which U+212A (the Kelvin sign) equals "K"; identifiers from outside are never compared so.
    func hasSameUTF8(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
