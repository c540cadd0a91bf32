import ByteCoding

/// The JSON form of a right in the native vocabulary.
extension Right {
    /// Reads one element of `rights`.
    ///
    /// A start with a fraction begins with the next whole second, an end with one ends with the last. Throws `claimInvalid` and
    /// `claimUnsupported`.
    init(reading claims: ClaimObject) throws(EntitlementError) {
        try claims.refuse(UnenforcedClaims.ofRight)
        try claims.refuseStrangers(to: Self.vocabulary)
        self.init(
            try Self.selector(of: claims),
            start: try claims.date("start")?.up,
            end: try claims.date("end")?.down,
            duration: try claims.seconds("duration"),
            lease: try claims.seconds("lease"),
            mode: try Self.word("mode", of: claims) ?? .stream,
            hdcp: try Self.word("hdcp", of: claims))
    }

    /// What a right may say. The last three are for offline licences and for players, and restrict no streaming licence.
    private static let vocabulary: Set = [
        "content", "kids", "content_prefix", "start", "end", "duration", "lease", "mode", "hdcp", "storage", "playback",
        "renew_ahead",
    ]

    /// Exactly one of the three selectors: with two of them nobody could say what was meant.
    private static func selector(of claims: ClaimObject) throws(EntitlementError) -> Selector {
        let content = try claims.contentText("content")
        let prefix = try claims.contentText("content_prefix")
        switch (content, claims["kids"], prefix) {
        case (let content?, nil, nil): return .content(content)
        case (nil, let keyIDs?, nil): return .keyIDs(try Self.keyIDs(from: keyIDs, of: claims))
        case (nil, nil, let prefix?): return .contentPrefix(prefix)
        case (nil, nil, nil), (.some, .some, _), (.some, _, .some), (_, .some, .some): throw claims.invalid("content")
        }
    }

    private static func keyIDs(from member: JSONNode, of claims: ClaimObject) throws(EntitlementError) -> [KeyID] {
        guard let elements = member.array, (1...keyIDCountMaximum).contains(elements.count) else {
            throw claims.invalid("kids")
        }
        var keyIDs: [KeyID] = []
        for element in elements {
            let text = try claims.required("kids", element.string)
            do throws(TextCodingError) {
                keyIDs.append(try KeyID(parsing: text))
            } catch {
                throw claims.invalid("kids")
            }
        }
        return keyIDs
    }

    private static func word<Word: RawRepresentable>(
        _ name: String, of claims: ClaimObject
    ) throws(EntitlementError) -> Word? where Word.RawValue == String {
        guard let text = try claims.string(name) else { return nil }
        return try claims.required(name, Word(rawValue: text))
    }

    /// Writes the right as one element of `rights`.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch selector {
            case .content(let name): writer.member("content", name)
            case .keyIDs(let keyIDs):
                writer.name("kids")
                writer.array { writer in for keyID in keyIDs { writer.string(keyID.description) } }
            case .contentPrefix(let prefix): writer.member("content_prefix", prefix)
            }
            let seconds = [("start", start), ("end", end), ("duration", duration), ("lease", lease)]
            for case (let name, let value?) in seconds { writer.member(name, value) }
            if mode != .stream { writer.member("mode", mode.rawValue) }
            if let hdcp { writer.member("hdcp", hdcp.rawValue) }
        }
    }
}
