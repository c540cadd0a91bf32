import Synchronization

/// Notes that tokens have named keys that no issuer has. Any thread may use it.
///
/// It does not count and holds no text of a token, so a flood of such tokens costs nothing.
package final class UnknownKeyNotes: Sendable {
    /// One bit for each dialect.
    private let bits = Atomic<UInt8>(0)

    package init() {}

    /// Notes a token of a dialect; nil if the token can be of any dialect.
    func note(_ dialect: TokenDialect?) {
        let noted = dialect.map(Self.bit) ?? TokenDialect.allCases.reduce(0) { $0 | Self.bit($1) }
        // In a flood, the loops then only read the value, which they can do at the same time.
        guard bits.load(ordering: .relaxed) & noted != noted else { return }
        bits.bitwiseOr(noted, ordering: .relaxed)
    }

    /// Returns the dialects that were noted since the last call.
    package func take() -> Set<TokenDialect> {
        let noted = bits.exchange(0, ordering: .relaxed)
        return Set(TokenDialect.allCases.filter { noted & Self.bit($0) != 0 })
    }

    private static func bit(_ dialect: TokenDialect) -> UInt8 {
        switch dialect {
        case .jwt: 1
        case .nagra: 2
        case .axinom: 4
        case .expressPlay: 8
        }
    }
}
