package import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
package import KeyCrypto
package import Licensing
import Records

/// An explanation as JSON, and as text for a person. It shows the true cause of a rejected SPC, which no client gets.
package struct ExplanationReport {
    private let explanation: LicenseExplanation
    private let blocks: [(tag: UInt64, value: [UInt8])]

    package init(_ explanation: LicenseExplanation) throws(CryptoError) {
        self.explanation = explanation
        blocks =
            if case .success(let terms)? = explanation.terms {
                try terms.describedBlocks(using: CryptoContext())
            } else {
                []
            }
    }

    /// Whether the request would get its license, as far as this can be known in advance. Nil if there is only a token,
    /// and it is valid.
    package var isAllowed: Bool? {
        if explanation.refusal != nil { return false }
        return explanation.stages == nil ? nil : true
    }

    /// The claims without an effect, and what the policy lint has found.
    private var findings: [String] {
        explanation.token.ignored.map(\.description) + explanation.findings.map(\.description)
    }

    /// All checks with their results, in the order of the decision.
    private var sections: [ExplainedSection] {
        var sections = [ExplainedSection("token", explanation.token.checks.map { ExplainedCheck($0) })]
        if let revocation = explanation.revocation {
            sections.append(ExplainedSection("revocations", [ExplainedCheck(revocation)]))
        }
        if let stages = explanation.stages {
            sections.append(ExplainedSection("spc", stages.map { ExplainedCheck($0) }))
        }
        if let gate = explanation.gate {
            sections.append(ExplainedSection("request", gate.checks.map { ExplainedCheck($0) }))
            for right in gate.rights {
                sections.append(
                    ExplainedSection("rights[\(right.index)]", right.checks.map { ExplainedCheck($0) }))
            }
        }
        if let sync = explanation.sync { sections.append(ExplainedSection("sync", [ExplainedCheck(sync)])) }
        if let terms = explanation.terms {
            sections.append(
                ExplainedSection("terms", [ExplainedCheck(terms) { explanation.limitedTerm(where: $0) }]))
        }
        return sections
    }
}

// MARK: JSON

extension ExplanationReport {
    package func write(to writer: inout JSONWriter) {
        writer.name("allowed")
        if let isAllowed { writer.bool(isAllowed) } else { writer.null() }
        writer.member("use", explanation.use == .offline ? "offline" : "streaming")
        writer.object("refusal", explanation.refusal) { writer, refusal in
            ExplainedCheck.write(refusal, to: &writer)
            writer.member("remedy", ExplainedCheck.remedy(of: refusal))
        }
        writer.object("checks") { writer in
            for section in sections {
                writer.objects(section.name, section.checks) { $1.write(to: &$0) }
            }
        }
        writer.member("findings", findings)
        writeClaims(to: &writer)
        writeSPC(to: &writer)
        writeKey(to: &writer)
        writeRental(to: &writer)
        writer.member("spends", spending)
        writeTerms(to: &writer)
    }

    private func writeClaims(to writer: inout JSONWriter) {
        writer.object("claims", explanation.token.claims) { writer, claims in
            writer.member("issuer", claims.issuer)
            writer.member("subject", claims.subject)
            writer.member("tokenID", claims.tokenID)
            writer.member("kid", claims.keyID)
            writer.member("expiresAt", claims.expiresAt)
            writer.member("rights", claims.rights.count)
        }
    }

    private func writeSPC(to writer: inout JSONWriter) {
        writer.object("spc", explanation.spc) { writer, spc in
            writer.member("version", Int(spc.version.rawValue))
            writer.member("credential", spc.credentialName)
            writer.member("assetID", Hexadecimal.encode(spc.assetID))
            writer.member("deviceID", spc.deviceID.map { Hexadecimal.encode($0.bytes) })
            writer.member("sync", spc.isSync)
        }
    }

    private func writeKey(to writer: inout JSONWriter) {
        writer.object("key", explanation.key) { writer, key in
            writer.member("kid", key.keyID.description)
            writer.member("content", key.contentID.text)
            writer.member("contentType", key.contentType.rawValue)
        }
    }

    private func writeRental(to writer: inout JSONWriter) {
        writer.object("rental", explanation.rental) { writer, rental in
            switch rental {
            case .success(let memory):
                writer.member("openedAt", memory.map { Revocation.time($0.openedAt) })
                writer.member("firstPlay", memory?.firstPlay.map(Revocation.time))
            case .failure(let error): writer.member("unknown", "\(error)")
            }
        }
    }

    private var rentalLine: String? {
        switch explanation.rental {
        case nil: return nil
        case .success(nil): return "rental     the store has no record of it"
        case .success(let memory?):
            let play = memory.firstPlay.map { "first play \(Revocation.time($0))" } ?? "not played"
            return "rental     opened \(Revocation.time(memory.openedAt)), \(play)"
        case .failure(let error): return "rental     not known (\(error)), and treated as a new one here"
        }
    }

    private func writeTerms(to writer: inout JSONWriter) {
        writer.name("terms")
        guard case .success(let terms)? = explanation.terms else { return writer.null() }
        writer.object { writer in
            writer.member("validity", terms.validity.name)
            for (name, limit) in limits(of: terms) { writer.member(name, limit.map { Int64($0.value) }) }
            writer.member("kept", terms.isPersistent)
            writer.member("hdcp", terms.hdcp?.word)
            writer.member("securityLevel", terms.securityLevel?.word)
            writer.objects("blocks", blocks) { writer, block in
                writer.member("tag", hexadecimal(block.tag))
                writer.member("name", TLLVTag.name(of: block.tag))
                writer.member("value", Hexadecimal.encode(block.value))
            }
        }
    }

    private func limits(of terms: LicenseTerms) -> [(String, LicenseSeconds?)] {
        [
            ("lease", terms.lease), ("rental", terms.rental), ("storage", terms.offlineKey?.storage),
            ("playback", terms.offlineKey?.playback),
        ]
    }

    /// The limits on which only the shared store can decide, in words.
    private var spending: [String] {
        guard let obligations = explanation.obligations else { return [] }
        var lines: [String] = []
        if let uses = obligations.usesPerKey { lines.append("one of \(uses) uses of the token for this key") }
        if obligations.bindsFirstDevice { lines.append("the token is bound to the first device that uses it") }
        if let maximum = obligations.deviceMaximum {
            lines.append("one of \(maximum) places for the subject's devices")
        }
        if let rental = obligations.rental {
            let isFirstPlay = rental.memory.firstPlay != nil && rental.known?.firstPlay == nil
            lines.append(isFirstPlay ? "the first play of the rental, for all devices" : "a license of the rental")
        }
        for group in obligations.sessions.flatMap(\.groups) {
            lines.append("one of \(group.maximum) playbacks at once in the group \"\(group.id)\"")
        }
        return lines
    }
}

// MARK: Text

extension ExplanationReport {
    /// Lines for a person, the verdict first.
    package var text: String {
        var lines = [verdict]
        if let refusal = explanation.refusal { lines.append("what to do: \(ExplainedCheck.remedy(of: refusal))") }
        for section in sections {
            lines.append("\(section.name):")
            lines += section.checks.map { "  \($0.line)" }
        }
        if !findings.isEmpty { lines.append("findings about the token:") }
        lines += findings.map { "  \($0)" }
        lines += spcLines
        if !spending.isEmpty { lines.append("would be counted; only the store knows what is left:") }
        lines += spending.map { "  \($0)" }
        return (lines + termLines).joined(separator: "\n")
    }

    private var verdict: String {
        if let refusal = explanation.refusal {
            return "refused: \(ExplainedCheck.code(of: refusal)), \(ExplainedCheck.cause(of: refusal))"
        }
        return explanation.stages == nil
            ? "the token is good; with an SPC the rest can be explained"
            : "allowed, unless the store has something recorded as spent"
    }

    private var spcLines: [String] {
        guard let spc = explanation.spc else { return [] }
        let key = explanation.key.map { "\($0.keyID), content \($0.contentID.text)" }
        return [
            "asset id   \(Hexadecimal.encode(spc.assetID))",
            "device     \(spc.deviceID.map { "\($0)" } ?? "known only to the external module")",
            "key        \(key ?? "not looked up, or not found")",
        ] + [rentalLine].compactMap(\.self)
    }

    private var termLines: [String] {
        guard case .success(let terms)? = explanation.terms else { return [] }
        var lines = ["the device would be told: \(terms.validity.name)"]
        for case (let name, let limit?) in limits(of: terms) { lines.append("  \(name) \(limit.value) s") }
        if let hdcp = terms.hdcp { lines.append("  HDCP \(hdcp.word)") }
        if let level = terms.securityLevel { lines.append("  security level at least \(level.word)") }
        for block in blocks {
            lines.append(
                "  \(hexadecimal(block.tag)) \(TLLVTag.name(of: block.tag) ?? "unknown"): \(Hexadecimal.encode(block.value))"
            )
        }
        return lines
    }
}

extension LicenseTerms {
    fileprivate var offlineKey: OfflineKey? {
        guard case .offlineKey(let key) = validity else { return nil }
        return key
    }
}

extension HDCPLevel {
    fileprivate var word: String {
        switch self {
        case .none: "none"
        case .type0: "type0"
        case .type1: "type1"
        }
    }
}

extension SecurityLevel {
    fileprivate var word: String {
        switch self {
        case .audio: "audio"
        case .baseline: "baseline"
        case .main: "main"
        }
    }
}
