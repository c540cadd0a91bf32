extension [UInt8] {
    /// Returns the same token with one digit of Base64url changed, `distance` digits before its last one.
    ///
    /// Flipping a bit could make a character that is not a digit: "A" becomes "@", and the token is then malformed and
    /// not forged. The last digit of a part has bits that must be zero, so it is never changed.
    package func changingDigit(beforeLast distance: Int) -> [UInt8] {
        precondition((1..<count).contains(distance), "the digit is one of the token's, and not its last one")
        var changed = self
        let place = count - 1 - distance
        changed[place] = self[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return changed
    }
}
