extension Gate {
    /// What the check that has refused a request looked at, and what it wants. Empty if no check refuses for `error`.
    ///
    /// The values tell of no person: not which device it was, and of the client's address only `address`, as the
    /// operator wants it in the log.
    package static func values(
        of error: EntitlementError, _ request: GateRequest, address: String?
    ) -> CheckedValues {
        for check in RequestCheck.allCases where check.refuses(request, for: error) {
            switch check {
            case .revocation: return CheckedValues(found: request.revokedName, expected: "not revoked")
            case .device:
                return CheckedValues(
                    found: request.device.identifier == nil ? "a device that is not known" : "another device",
                    expected: request.claims.device.pinned == nil
                        ? "a device of the viewer's own" : "the device that the token is pinned to")
            case .address:
                return CheckedValues(
                    found: address ?? "an address that is not logged", expected: check.values(request).expected)
            case .scope, .country: return check.values(request)
            }
        }
        let rights = request.claims.rights
        if error == .contentNotCovered {
            let values = rights.map { RightCheck.coverage.values($0, request) }
            return CheckedValues(
                found: values.first?.found, expected: ExplainedText.list(values.compactMap(\.expected)))
        }
        for right in rights where right.covers(contentID: request.content.contentID, keyID: request.content.keyID) {
            // The first check that fails is the one by which the right refuses.
            let failed = RightCheck.allCases.first { $0.refusal(of: right, request) != nil }
            if let failed, failed.refusal(of: right, request) == error { return failed.values(right, request) }
        }
        return CheckedValues()
    }
}

extension GateRequest {
    /// What of the request is revoked, without the name of a person; nil if nothing is.
    fileprivate var revokedName: String? {
        revocations.revoked(by: claims, content: content, device: device.identifier, now: now)
    }
}

extension RequestCheck {
    fileprivate func refuses(_ request: GateRequest, for error: EntitlementError) -> Bool {
        do throws(EntitlementError) {
            try check(request)
            return false
        } catch let refusal {
            return refusal == error
        }
    }
}

extension RightCheck {
    /// Nil if the right passes the check.
    fileprivate func refusal(of right: Right, _ request: GateRequest) -> EntitlementError? {
        do throws(EntitlementError) {
            try check(right, request)
            return nil
        } catch {
            return error
        }
    }
}
