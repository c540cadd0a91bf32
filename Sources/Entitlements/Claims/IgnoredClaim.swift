import ByteCoding

/// A claim that this server ignores, although its name is near to that of a claim that limits something.
///
/// Such a token is good, and limits less than its issuer meant.
package struct IgnoredClaim: Equatable, Sendable, CustomStringConvertible {
    enum Hint: Equatable, Sendable {
        /// The issuer probably meant this claim.
        case meant(String)
        /// The claim has an effect only inside this object.
        case belongsInto(String)
    }

    /// As it is in the token.
    let name: String
    let hint: Hint

    package var description: String {
        switch hint {
        case .meant(let known): "\(ExplainedText.shown(name)) is ignored: is \(known) meant?"
        case .belongsInto(let object): "\(ExplainedText.shown(name)) is ignored: it has an effect only in \(object)"
        }
    }

    /// The claims of the native vocabulary that a token may leave out. A misspelled required claim is refused.
    private static let optional = ["sub", "jti", "cnf", "device", "session", "limits", "cookie"]
    private static let required = ["iss", "aud", "exp", "nbf", "iat", "rights"]
    /// Claims of other systems that have similar names by chance.
    private static let others = ["uti", "version"]
    /// Members of the objects in a token that mean nothing beside these objects.
    private static let members = [
        "limits": ["uses", "ips", "countries"], "device": ["bind", "max"],
        "a right": [
            "start", "end", "duration", "rental", "lease", "mode", "storage", "playback", "hdcp", "min_level", "tracks",
            "airplay", "av_adapter",
        ],
    ]

    /// The claims of a token in the native vocabulary that are ignored and were probably meant to limit something.
    static func all(in claims: ClaimObject) -> [IgnoredClaim] {
        let names = claims.names
        return names.filter { !(optional + required + others).contains($0) }.compactMap { name in
            if let object = members.first(where: { $0.value.contains(name) })?.key {
                return IgnoredClaim(name: name, hint: .belongsInto(object))
            }
            // A claim that is there was not misspelled.
            guard let known = NearestName.of(name, among: optional), !names.contains(known) else { return nil }
            return IgnoredClaim(name: name, hint: .meant(known))
        }
    }
}
