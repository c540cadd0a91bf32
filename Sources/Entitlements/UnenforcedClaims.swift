/// Claims of the native vocabulary that restrict a licence and that nothing here enforces yet.
///
/// A token that carries one is refused: to ignore it would grant more than the issuer meant. A name leaves this list when the check that
/// honours it arrives.
enum UnenforcedClaims {
    /// Members of the token itself.
    static let ofToken = ["cnf", "device", "session", "limits"]
    /// Members of a right.
    static let ofRight = ["airplay", "av_adapter", "profile"]
}
