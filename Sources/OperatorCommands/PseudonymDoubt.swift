import ByteCoding

/// The doubt about a name that looks like a pseudonym, which an operator may have copied from the ledger.
enum PseudonymDoubt {
    /// A note; nil if the value of the option has not the form of a pseudonym. It is no error, because an issuer may
    /// have chosen such a name. If `takesMark` is set, the option takes 32 digits of a pseudonym after a mark.
    static func note(on option: String, _ value: String?, takesMark: Bool = false) -> String? {
        guard let value, [32, 64].contains(value.utf8.count), (try? Hexadecimal.decode(value)) != nil else {
            return nil
        }
        let advice =
            takesMark
            ? "write pseudonym: before its 32 digits" : "this names no viewer and no device: give the name in tokens"
        return "note: \(option) was taken for a name in tokens. If it is a pseudonym, as the ledger and latchkey why "
            + "print it, \(advice)"
    }
}
