import ByteCoding

/// The JSON forms of a request (clients, sections 1 and 2).
enum JSONRequests {
    /// Players write fewer than a hundred values, even for many keys.
    private static let limits = JSONLimits(valueCountMaximum: 1024)

    static func read(_ text: [UInt8]) throws(PlayerMessageError) -> PlayerRequest {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONReader.parse(text, limits: limits)
        } catch {
            if case .duplicateMember = error { throw .repeatedMember }
            throw .invalidJSON
        }
        if let elements = node.array { return try keyArray(elements) }
        guard let object = node.object else { throw .jsonWithoutSPC }
        if let request = object["fairplay-streaming-request"] { return try streamingKeys(request, in: object) }
        if let request = object["getFairplayLicense"] { return try getFairplayLicense(request, in: object) }
        return try plain(object)
    }

    /// Reads `{"spc": …}` and the same object with another name for the SPC. Throws if the SPC is there under two
    /// names.
    private static func plain(_ object: JSONObject) throws(PlayerMessageError) -> PlayerRequest {
        let found = RequestShape.ObjectMember.allCases.filter { object[$0.rawValue] != nil }
        guard let member = found.first, let node = object[member.rawValue] else {
            let isAnswer = ["ckc", "ckcMessage", "CkcMessage"].contains { object[$0] != nil }
            throw isAnswer ? .license : .jsonWithoutSPC
        }
        guard found.count == 1 else { throw .ambiguous }
        return PlayerRequest(
            shape: .object(member), keys: [RequestedKey(spc: try spc(node), assetHint: assetHint(in: object))],
            token: try token(in: object))
    }

    private static func getFairplayLicense(
        _ request: JSONNode, in object: JSONObject
    ) throws(PlayerMessageError) -> PlayerRequest {
        guard let inner = request.object, let node = inner["spcMessage"] else { throw .jsonWithoutSPC }
        return PlayerRequest(
            shape: .getFairplayLicense, keys: [RequestedKey(spc: try spc(node), assetHint: assetHint(in: inner))],
            token: try token(in: object))
    }

    /// Reads `[{"keyID": …, "payload": …}]`. The key id is only repeated in the answer.
    private static func keyArray(_ elements: [JSONNode]) throws(PlayerMessageError) -> PlayerRequest {
        guard !elements.isEmpty else { throw .jsonWithoutSPC }
        try check(elements.count)
        var keys: [RequestedKey] = []
        for element in elements {
            guard let object = element.object, let keyID = object["keyID"], keyID.string != nil,
                let payload = object["payload"]
            else { throw .jsonWithoutSPC }
            try checkSize(of: keyID)
            keys.append(RequestedKey(spc: try spc(payload), label: keyID))
        }
        return PlayerRequest(shape: .keyArray, keys: keys)
    }

    /// Reads Apple's own form. Each key may have an id, a string or a number, which its result repeats.
    private static func streamingKeys(
        _ request: JSONNode, in object: JSONObject
    ) throws(PlayerMessageError) -> PlayerRequest {
        guard let elements = request.object?["streaming-keys"]?.array, !elements.isEmpty else { throw .jsonWithoutSPC }
        try check(elements.count)
        var keys: [RequestedKey] = []
        for element in elements {
            guard let entry = element.object, let node = entry["spc"] else { throw .jsonWithoutSPC }
            let label = entry["id"]
            guard label.map({ $0.string != nil || $0.number != nil }) ?? true else { throw .jsonWithoutSPC }
            try checkSize(of: label)
            keys.append(
                RequestedKey(
                    spc: try spc(node), assetHint: entry["uri"]?.string, label: label,
                    isOffline: entry["offline"]?.bool ?? false))
        }
        return PlayerRequest(shape: .streamingKeys, keys: keys, token: try token(in: object))
    }

    private static func check(_ count: Int) throws(PlayerMessageError) {
        guard count <= PlayerRequest.keyCountMaximum else {
            throw .tooManyKeys(maximum: PlayerRequest.keyCountMaximum)
        }
    }

    private static func checkSize(of label: JSONNode?) throws(PlayerMessageError) {
        guard label?.string?.utf8.count ?? 0 <= PlayerRequest.labelSizeMaximum else {
            throw .labelTooLong(maximum: PlayerRequest.labelSizeMaximum)
        }
    }

    private static func spc(_ node: JSONNode) throws(PlayerMessageError) -> [UInt8] {
        guard let text = node.string else { throw .jsonWithoutSPC }
        return try PlayerMessageReader.spc(fromBase64: text.utf8.span)
    }

    private static func assetHint(in object: JSONObject) -> String? {
        ["assetId", "contentId", "uri"].lazy.compactMap { object[$0]?.string }.first
    }

    private static func token(in object: JSONObject) throws(PlayerMessageError) -> String? {
        guard let node = object["token"] else { return nil }
        guard let text = node.string else { throw .jsonWithoutSPC }
        return text
    }
}
