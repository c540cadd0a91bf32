import ByteCoding
import POSIXSockets

/// The values that the checks of the gate examine and expect, as text for the operator.
extension RequestCheck {
    func values(_ request: GateRequest) -> CheckedValues {
        let limits = request.claims.limits
        switch self {
        case .revocation: return CheckedValues()
        case .scope:
            return CheckedValues(
                found: "content \(ExplainedText.shown(request.content.contentID))",
                expected: request.claims.scope.map { ExplainedText.list($0.texts) })
        case .device:
            return CheckedValues(
                found: request.device.identifier?.description ?? "not known",
                expected: request.claims.device.pinned?.description)
        case .address:
            return CheckedValues(
                found: request.origin.address?.description ?? "not known",
                expected: limits.networks.isEmpty ? nil : ExplainedText.list(limits.networks.map(\.description)))
        case .country:
            return CheckedValues(
                found: request.origin.country?.text ?? "not known",
                expected: limits.countries.isEmpty ? nil : ExplainedText.list(limits.countries.map(\.text)))
        }
    }
}

extension RightCheck {
    func values(_ right: Right, _ request: GateRequest) -> CheckedValues {
        switch self {
        case .coverage:
            return CheckedValues(
                found: "content \(ExplainedText.shown(request.content.contentID)), kid \(request.content.keyID)",
                expected: right.selector.words)
        case .profile:
            return CheckedValues(
                found: right.profile.map(ExplainedText.shown) ?? "none",
                expected: right.profile == nil ? nil : ExplainedText.list(request.policy.profiles.keys.sorted()))
        case .use:
            return CheckedValues(
                found: request.use == .offline ? "offline" : "streaming",
                expected: right.mode.rawValue + (right.lease == nil ? "" : ", with a lease"))
        case .start:
            return CheckedValues(
                found: ExplainedText.time(request.now), expected: right.start.map { "from \(ExplainedText.time($0))" })
        case .end:
            return CheckedValues(
                found: ExplainedText.time(request.now), expected: right.end.map { "before \(ExplainedText.time($0))" })
        case .rental:
            return CheckedValues(
                found: right.rental.map { request.rental.words(under: $0) },
                expected: right.rental.map { "begun within \($0.start) s, played within \($0.play) s" })
        case .outputs: return outputValues(right, request)
        case .securityLevel: return levelValues(right, request)
        }
    }

    private func outputValues(_ right: Right, _ request: GateRequest) -> CheckedValues {
        let outputs = (try? request.tightened(right).outputs) ?? right.outputs
        let refused = [("AirPlay", outputs.airPlay), ("AV adapter", outputs.avAdapter)].filter { $0.1 == false }
        return CheckedValues(
            found: request.device.isAirPlay
                ? "AirPlay" : request.device.isAVAdapter ? "AV adapter" : "the device itself",
            expected: refused.isEmpty ? nil : "no " + refused.map(\.0).joined(separator: ", no "))
    }

    private func levelValues(_ right: Right, _ request: GateRequest) -> CheckedValues {
        let tightened = (try? request.tightened(right)) ?? right
        return CheckedValues(
            found: request.device.securityLevel?.rawValue ?? "not known",
            expected: tightened.protection(ofTracks: request.content.trackLabels).securityLevel.map {
                "at least \($0.rawValue)"
            })
    }
}

extension RentalStanding {
    /// The words with which the found value of a rental begins.
    package static let firstWords = "a rental"

    /// What is remembered of the rental, and when it ends.
    fileprivate func words(under terms: RentalTerms) -> String {
        guard let memory else { return "\(Self.firstWords) without a license yet" }
        if let firstPlay = memory.firstPlay {
            let end = LimitSeconds.sum(firstPlay, terms.play)
            return "\(Self.firstWords), first played at \(ExplainedText.time(firstPlay)), with its end at "
                + ExplainedText.time(end)
        }
        let end = LimitSeconds.sum(memory.openedAt, terms.start)
        return "\(Self.firstWords), not played, to begin before \(ExplainedText.time(end))"
    }
}

extension Right.Selector {
    fileprivate var words: String {
        switch self {
        case .content(let name): "content \(ExplainedText.shown(name))"
        case .keyIDs(let keyIDs): "kids " + ExplainedText.list(keyIDs.map(\.description))
        case .contentPrefix(let prefix): "contents that begin with \(ExplainedText.shown(prefix))"
        case .anything: "anything"
        }
    }
}
