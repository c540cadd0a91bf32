import ByteCoding

/// The JSON form of a right in the native vocabulary.
extension Right {
    /// Reads one element of `rights`.
    ///
    /// A start with a fraction is rounded up to a whole second; an end with a fraction is rounded down. Throws
    /// `claimInvalid` and `claimUnsupported`.
    init(native claims: ClaimObject) throws(EntitlementError) {
        try claims.refuseStrangers(to: Self.vocabulary)
        self.init(try Self.selector(of: claims))
        start = try claims.date("start")?.up
        end = try claims.date("end")?.down
        duration = try claims.seconds("duration")
        rental = try Self.rental(of: claims)
        lease = try claims.seconds("lease")
        mode = try claims.word("mode") ?? .stream
        storage = try claims.seconds("storage")
        playback = try claims.seconds("playback")
        protection = Protection(hdcp: try claims.word("hdcp"), securityLevel: try claims.word("min_level"))
        tracks = try Self.tracks(of: claims)
        outputs = OutputPermissions(airPlay: try claims.bool("airplay"), avAdapter: try claims.bool("av_adapter"))
        profile = try claims.string("profile")
        renewAhead = try claims.seconds("renew_ahead")
    }

    private static let vocabulary = [
        "content", "kids", "content_prefix", "start", "end", "duration", "lease", "mode", "storage", "playback", "hdcp",
        "min_level", "tracks", "airplay", "av_adapter", "profile", "renew_ahead", "rental",
    ]

    /// A `duration` is a rental without stored state. With both members, it would be unclear which one counts.
    private static func rental(of claims: ClaimObject) throws(EntitlementError) -> RentalTerms? {
        guard let rental = try claims.object("rental") else { return nil }
        guard claims["duration"] == nil else { throw claims.invalid("rental") }
        return try RentalTerms(native: rental)
    }

    /// Reads exactly one of the three selectors. With two selectors, it would be unclear which one counts.
    private static func selector(of claims: ClaimObject) throws(EntitlementError) -> Selector {
        let content = try claims.contentText("content")
        let prefix = try claims.contentText("content_prefix")
        switch (content, claims["kids"], prefix) {
        case (let content?, nil, nil): return .content(content)
        case (nil, .some, nil): return .keyIDs(try Self.keyIDs(of: claims))
        case (nil, nil, let prefix?): return .contentPrefix(prefix)
        case (nil, nil, nil), (.some, .some, _), (.some, _, .some), (_, .some, .some): throw claims.invalid("content")
        }
    }

    private static func keyIDs(of claims: ClaimObject) throws(EntitlementError) -> [KeyID] {
        let keyIDs = try claims.list("kids", countMaximum: keyIDCountMaximum) { try? KeyID(parsing: $0) }
        return try claims.required("kids", keyIDs)
    }

    /// Reads `tracks`. An empty map is refused, because its issuer could mean that no track is allowed.
    private static func tracks(of claims: ClaimObject) throws(EntitlementError) -> [String: Protection] {
        guard let member = claims["tracks"] else { return [:] }
        let entries = try claims.required("tracks", member.object).members
        guard (1...trackCountMaximum).contains(entries.count) else { throw claims.invalid("tracks") }
        var tracks = [String: Protection](minimumCapacity: entries.count)
        for entry in entries {
            guard trackLabelSizes.contains(entry.name.utf8.count), ClaimObject.isIdentifier(entry.name) else {
                throw claims.invalid("tracks")
            }
            tracks[entry.name] = try Protection(reading: claims.value(of: entry, in: "tracks"))
        }
        return tracks
    }

    /// Writes the right as one element of `rights`.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch selector {
            case .content(let name): writer.member("content", name)
            case .keyIDs(let keyIDs):
                writer.array("kids") { writer in for keyID in keyIDs { writer.string(keyID.description) } }
            case .contentPrefix(let prefix): writer.member("content_prefix", prefix)
            case .anything: break  // No reader of the native vocabulary takes a right without a selector.
            }
            let times = [("start", start), ("end", end), ("duration", duration), ("lease", lease)]
            for case (let name, let value?) in times { writer.member(name, value) }
            if let rental {
                writer.name("rental")
                rental.write(to: &writer)
            }
            if mode != .stream { writer.member("mode", mode.rawValue) }
            for case (let name, let value?) in [("storage", storage), ("playback", playback)] {
                writer.member(name, value)
            }
            protection.write(to: &writer)
            if !tracks.isEmpty { writeTracks(to: &writer) }
            for case (let name, let value?) in [("airplay", outputs.airPlay), ("av_adapter", outputs.avAdapter)] {
                writer.member(name, value)
            }
            if let profile { writer.member("profile", profile) }
            if let renewAhead { writer.member("renew_ahead", renewAhead) }
        }
    }

    /// The labels are sorted, so that equal rights have equal bytes.
    private func writeTracks(to writer: inout JSONWriter) {
        writer.object("tracks") { writer in
            for (label, protection) in tracks.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                writer.object(label) { protection.write(to: &$0) }
            }
        }
    }
}

extension Protection {
    /// Reads one element of `tracks`. Throws `claimInvalid` and `claimUnsupported`.
    fileprivate init(reading claims: ClaimObject) throws(EntitlementError) {
        try claims.refuseStrangers(to: Self.vocabulary)
        self.init(hdcp: try claims.word("hdcp"), securityLevel: try claims.word("min_level"))
    }

    private static let vocabulary = ["hdcp", "min_level"]

    /// Writes the members of a right or of one of its tracks.
    fileprivate func write(to writer: inout JSONWriter) {
        if let hdcp { writer.member("hdcp", hdcp.rawValue) }
        if let securityLevel { writer.member("min_level", securityLevel.rawValue) }
    }
}
