/// What is known of the wanted shape of an answer before the body of the request is read.
package struct AnswerPreference: Equatable, Sendable {
    /// The shape that the query names, or else the one that the address is configured for.
    package var explicit: AnswerShape?
    /// The values of the field `Accept`; empty at an address where they say something else.
    package var accepted: [String]

    package init(explicit: AnswerShape? = nil, accepted: [String] = []) {
        self.explicit = explicit
        self.accepted = accepted
    }

    /// The shape of the answer to a request (clients, section 2): what is explicit, then what the sender accepts, then
    /// the mirror of the request.
    ///
    /// A request with a name for each key is always mirrored: no other shape has a place for each result. The mirror of
    /// a form is bare Base64 if a part of it has no name, because react-native-video up to 6.4 sends such forms.
    package func shape(for request: RequestShape, hasUnnamedPart: Bool = false) -> AnswerShape {
        let mirror = hasUnnamedPart ? .base64 : AnswerShape(mirroring: request)
        if mirror.hasResultForEachKey { return mirror }
        return explicit ?? acceptable(insteadOf: mirror, for: request)
    }

    /// The shape of the answer to a request that was read.
    package func shape(for request: PlayerRequest) -> AnswerShape {
        shape(for: request.shape, hasUnnamedPart: request.hasUnnamedPart)
    }

    /// The mirror, unless its type is not accepted and another one is. Browsers accept `*/*`, which says nothing, and
    /// so does every list that has it.
    private func acceptable(insteadOf mirror: AnswerShape, for request: RequestShape) -> AnswerShape {
        let mirrorType = Self.mediaType(mirror.contentType[...])
        var acceptsJSON = false
        var acceptsBytes = false
        for value in accepted {
            for range in value.split(separator: ",") {
                let type = Self.mediaType(range)
                if type == "*/*" || type == mirrorType { return mirror }
                if type == "application/json" { acceptsJSON = true }
                if type == "application/octet-stream" { acceptsBytes = true }
            }
        }
        // NAGRA's players send a raw SPC and accept JSON alone.
        if acceptsJSON { return request == .raw ? .nagra : .object(.spc) }
        return acceptsBytes ? .raw : mirror
    }

    /// A media type or range in lower case, without its parameters. Weights are not read.
    private static func mediaType(_ range: Substring) -> String {
        range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    }
}
