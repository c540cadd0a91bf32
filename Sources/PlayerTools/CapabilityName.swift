import FairPlay

/// The names of capability bits, for command lines and explanations.
enum CapabilityName {
    static let names: [(name: String, capability: Capabilities)] = [
        ("hdcp", .hdcpEnforcement), ("offline-key", .offlineKey), ("secure-invalidation", .secureInvalidation),
        ("offline-key-2", .offlineKeyVersion2), ("baseline", .securityLevelBaseline), ("main", .securityLevelMain),
    ]

    static let all = Capabilities(names.map(\.capability))

    /// All names, for help and messages.
    static let list = names.map(\.name).joined(separator: ",")

    /// Parses names with commas between them, or "none". Nil if there is any other word.
    static func parse(_ text: String) -> Capabilities? {
        if text == "none" { return [] }
        var capabilities: Capabilities = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let known = names.first(where: { $0.name == word }) else { return nil }
            capabilities.insert(known.capability)
        }
        return capabilities
    }

    /// The names of all bits that are set. A bit without a name is "bit" and its number.
    static func names(of capabilities: Capabilities) -> [String] {
        (0..<64).compactMap { number -> String? in
            let bit = Capabilities(rawValue: 1 << UInt64(number))
            guard capabilities.contains(bit) else { return nil }
            return names.first { $0.capability == bit }?.name ?? "bit \(number)"
        }
    }
}
