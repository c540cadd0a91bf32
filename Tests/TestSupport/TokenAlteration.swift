extension [UInt8] {
    /// The same token with another digit of Base64url, `distance` digits before its last one.
    ///
    /// A digit whose bit is flipped may be no digit: "A" becomes "@", and the token is malformed then, not forged. The
    /// last digit of a part has bits that must be zero, so it is never the one that changes.
    package func changingDigit(beforeLast distance: Int) -> [UInt8] {
        precondition((1..<count).contains(distance), "the digit is one of the token's, and not its last one")
        var changed = self
        let place = count - 1 - distance
        changed[place] = self[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return changed
    }
}
