import ByteCoding

extension SKDTemplate {
    /// Checks that the server can read every URL that the template writes, and finds the key of the URL by it.
    ///
    /// Throws `otherScheme`, `invalidCharacter`, `namesNothing`, `notReadable` and `misread`, and `tooLong` if even
    /// short names make a URL that is too long.
    package func checkThatItLeadsBack() throws(SKDTemplateError) {
        guard template.hasPrefix("skd:") else { throw .otherScheme }
        guard isOfURI else { throw .invalidCharacter }
        let form = form
        let needed = fields.filter { namesKeyID ? $0.namesKey : [.contentID, .track, .period].contains($0) }
        guard namesKeyID || needed.contains(.contentID) else { throw .namesNothing }
        if let field = form.unreadFields.first(where: needed.contains) {
            throw .notReadable(field.rawValue, instead: readable)
        }
        guard let short = try? ContentID("c"), let zero = KeyID(bytes: [UInt8](repeating: 0, count: 16)) else { return }
        _ = try url(for: sample(short, zero, .sd, period: 0))
        let forms = AssetForms(template: self)
        for names in samples {
            // Long names may make a URL that is too long, which is no fault of the template.
            guard let url = try? url(for: names) else { continue }
            if !leadsBack(url, names, forms) { throw .misread(instead: readable) }
        }
    }

    /// Whether the URL names the key, and nothing that is looked up before it.
    package func leadsBack(_ url: String, _ names: SKDNames, _ forms: AssetForms) -> Bool {
        guard let assetID = try? AssetID(bytes: Array(url.utf8)) else { return false }
        let reference = AssetReference(assetID, forms)
        if namesKeyID, reference.binding?.keyIDs != [names.keyID] { return false }
        let expected: AssetCandidate =
            namesKeyID
            ? .keyID(names.keyID)
            : .track(NamedTrack(names.contentID, label: names.trackLabel, periodIndex: names.periodIndex))
        // A content whose id spells a key id keeps that key id from all other contents.
        let spelled = SpelledName.names(of: names.contentID).map { AssetCandidate.keyID($0.keyID) }
        let first = reference.candidates.first { candidate in
            if case .alias = candidate { return false }
            return candidate == expected || !spelled.contains(candidate)
        }
        return first == expected
    }

    /// The same fields in a template that can be read: a slash separates them.
    private var readable: String {
        let others = namesKeyID ? fields.filter { $0 != .iv } : fields.filter { $0 != .iv && $0 != .authority }
        let template = try? SKDTemplate(parsing: "skd://" + others.map { "{\($0.rawValue)}" }.joined(separator: "/"))
        // Without this guard, a template that cannot be read would look for itself again and again.
        guard let template, template.template != self.template, (try? template.checkThatItLeadsBack()) != nil else {
            return Self.standard.source
        }
        return template.template
    }

    /// Names that other names could be taken for: two tracks, two periods, and contents whose ids look like key ids,
    /// paths and queries.
    private var samples: [SKDNames] {
        let contents = [
            "movie-1", "a.b_c~d-e", "A/b;c:d,e#f?kid=g&track=h%2F", "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11",
            "7b1d0c9e52a44e0b9c610a5f3b8d2e11", "ex0MnlKkTgucYQpfO40uEQ",
        ]
        let tracks = ["SD", "hd-1.a_b~", "A+B/C:7"]
        let keyIDs = ["237c46af-f1f1-457e-bbbe-9df128a187d4", "ffffffff-ffff-4fff-bfff-ffffffffffff"]
        return contents.flatMap { content in
            tracks.flatMap { track in
                keyIDs.flatMap { keyID in
                    [0, 1, 42].compactMap { (period: UInt32) -> SKDNames? in
                        guard let contentID = try? ContentID(content), let keyID = try? KeyID(parsing: keyID),
                            let label = try? TrackLabel(track)
                        else { return nil }
                        return sample(contentID, keyID, label, period: period)
                    }
                }
            }
        }
    }

    /// Names of a key that the template can write.
    private func sample(_ contentID: ContentID, _ keyID: KeyID, _ label: TrackLabel, period: UInt32) -> SKDNames {
        SKDNames(
            contentID: contentID, keyID: keyID, iv: Bytes16(high: 0x0123_4567_89AB_CDEF, low: UInt64(period)),
            periodIndex: fields.contains(.period) ? period : nil, trackLabel: fields.contains(.track) ? label : nil,
            authority: "h:1")
    }
}
