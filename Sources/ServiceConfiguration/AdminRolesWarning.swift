/// A warning: tokens of an admin listener have no roles, and so they have all permissions.
package struct AdminRolesWarning: Equatable, Sendable, CustomStringConvertible {
    let listener: String
    /// The names of the tokens.
    let tokens: [String]

    /// Returns one warning for each admin listener that has such tokens.
    package static func warnings(about configuration: Configuration) -> [AdminRolesWarning] {
        configuration.listeners.admin.enumerated().compactMap { index, listener in
            let names =
                (listener.tokenFile == nil ? [] : ["tokenFile"])
                + listener.tokens.filter { $0.givenRoles == nil }.map(\.name)
            return names.isEmpty ? nil : AdminRolesWarning(listener: "listeners.admin[\(index)]", tokens: names)
        }
    }

    package var description: String {
        "\(listener): a token without roles works as admin, which may do everything: \(tokens.joined(separator: ", "))."
            + " Name its roles in tokens: [{ name, file, roles }]"
    }
}
