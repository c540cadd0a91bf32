import Testing

@testable import PlayerMessages

/// Which shape the answer to a request has (clients, section 2).
@Suite struct AnswerShapeTests {
    private typealias Member = RequestShape.ObjectMember

    private static let requests: [RequestShape] =
        [.raw, .base64, .form, .multipart, .getFairplayLicense, .keyArray, .streamingKeys]
        + Member.allCases.map { .object($0) }

    @Test(
        arguments: [
            (.raw, .raw), (.form, .ckc), (.multipart, .ckc), (.base64, .kaltura), (.object(.spc), .object(.spc)),
            (.object(.spcMessage), .object(.spcMessage)),
            (.object(.capitalSpcMessage), .object(.capitalSpcMessage)), (.object(.serverPlaybackContext), .raw),
            (.getFairplayLicense, .getFairplayLicense), (.keyArray, .keyArray), (.streamingKeys, .streamingKeys),
        ] as [(RequestShape, AnswerShape)])
    func mirrorsTheRequest(request: RequestShape, shape: AnswerShape) {
        for accept in ["", "*/*", "application/json, text/plain, */*", "text/html", "text/plain;q=0, */*;q=0"] {
            let accepted = accept.isEmpty ? [] : [accept]
            #expect(AnswerPreference(accepted: accepted).shape(for: request) == shape)
        }
    }

    /// react-native-video up to 6.4 decodes the body with a strict Base64 reader.
    @Test func aFormWithAPartWithoutANameGetsBareBase64() {
        #expect(AnswerPreference().shape(for: .form, hasUnnamedPart: true) == .base64)
        #expect(AnswerPreference(explicit: .ckc).shape(for: .form, hasUnnamedPart: true) == .ckc)
    }

    @Test(arguments: [("spc=AAAAAQAA&movie-1", true), ("spc=AAAAAQAA&assetId=movie-1", false)])
    func theReaderSaysWhetherAPartHasNoName(body: String, hasUnnamedPart: Bool) throws {
        guard case .request(let request) = try PlayerMessageReader.read(Array(body.utf8)) else {
            Issue.record("not a request")
            return
        }
        #expect(request.hasUnnamedPart == hasUnnamedPart)
        #expect(AnswerPreference().shape(for: request) == (hasUnnamedPart ? .base64 : .ckc))
    }

    @Test(arguments: requests)
    func whatIsExplicitComesFirst(request: RequestShape) {
        let preference = AnswerPreference(explicit: .base64, accepted: ["application/json"])
        let hasLabels = request == .keyArray || request == .streamingKeys
        #expect(preference.shape(for: request) == (hasLabels ? AnswerShape(mirroring: request) : .base64))
    }

    /// NAGRA's players accept only JSON. A browser accepts everything, and gets the bytes.
    @Test(
        arguments: [
            (.raw, "application/json", .nagra), (.raw, "text/html, Application/JSON;q=0.5", .nagra),
            (.raw, "application/jsonp", .raw), (.raw, "application/json, application/octet-stream", .raw),
            (.raw, "application/json, */*", .raw), (.form, "application/json", .object(.spc)),
            (.multipart, "application/json", .object(.spc)), (.form, "text/plain", .ckc),
            (.form, "application/octet-stream", .raw), (.base64, "application/json", .kaltura),
            (.object(.spcMessage), "application/json", .object(.spcMessage)),
            (.object(.serverPlaybackContext), "application/json", .object(.spc)),
            (.object(.spc), "application/octet-stream", .raw), (.keyArray, "application/octet-stream", .keyArray),
        ] as [(RequestShape, String, AnswerShape)])
    func thenWhatIsAccepted(request: RequestShape, accept: String, shape: AnswerShape) {
        #expect(AnswerPreference(accepted: [accept]).shape(for: request) == shape)
        #expect(AnswerPreference(accepted: ["text/css", accept]).shape(for: request) == shape)
    }

    /// RFC 9110 section 12.5.1: the type with the largest weight is chosen. The most specific range that matches a type
    /// gives its weight, and a weight of 0 excludes the type. If the weights are equal, the answer has the shape of the
    /// request.
    @Test(
        arguments: [
            (.raw, "application/json;q=0.5, application/octet-stream;q=0.4", .nagra),
            (.raw, "application/json;q=0.4, application/octet-stream;q=0.5", .raw),
            (.raw, "application/json;q=0.5, application/octet-stream;q=0.5", .raw),
            (.raw, "application/json, */*;q=0.01", .nagra), (.raw, "application/json;q=0.001, */*;q=0", .nagra),
            (.raw, "application/json;q=0", .raw), (.raw, "application/json;q=0, */*", .raw),
            (.raw, "application/json; Q=0.000, */*", .raw), (.raw, "application/octet-stream;q=0, */*", .nagra),
            (.raw, "application/octet-stream ; q=0 , application/json", .nagra),
            (.raw, "application/*;q=0.2, application/octet-stream;q=0.1, */*", .nagra),
            (.raw, "application/json;q=0.3, application/*;q=0.2", .nagra),
            (.raw, "application/json;charset=utf-8;q=0.3, */*;q=0.2", .nagra),
            (.raw, "text/html, image/gif, *; q=.2, */*; q=.2", .raw),
            (.form, "application/*", .object(.spc)), (.form, "text/*, application/json", .ckc),
            (.form, "text/*;q=0.9, application/json", .object(.spc)),
            (.form, "text/plain;q=0.5, application/octet-stream;q=0.7, application/json;q=0.6", .raw),
            (.form, "text/plain;q=0, text/*", .ckc), (.form, "text/plain;q=0, */*", .object(.spc)),
            (.object(.spc), "application/json;q=0, */*;q=0.1", .raw),
        ] as [(RequestShape, String, AnswerShape)])
    func readsTheWeightsOfWhatIsAccepted(request: RequestShape, accept: String, shape: AnswerShape) {
        #expect(AnswerPreference(accepted: [accept]).shape(for: request) == shape)
        let fields = accept.split(separator: ",").map { String($0) }
        #expect(AnswerPreference(accepted: fields).shape(for: request) == shape)
    }

    /// A range with a malformed weight is ignored.
    @Test(arguments: ["1.001", "2", "", "0.1234", "x", "-1", "+1", "0.-1", "1e0", ".5", "0,5", "0.5.5"])
    func doesNotReadAWeightThatIsNone(weight: String) {
        let accept = "application/json;q=\(weight), application/octet-stream;q=0.001"
        #expect(AnswerPreference(accepted: [accept]).shape(for: .raw) == .raw)
    }

    @Test(arguments: ["0", "0.", "0.0", "0.000", "1", "1.", "1.000", "0.999"])
    func readsEveryWeight(weight: String) {
        let isExcluded = weight.hasPrefix("0") && weight != "0.999"
        let shape = AnswerPreference(accepted: ["application/json;q=\(weight)"]).shape(for: .raw)
        #expect(shape == (isExcluded ? .raw : .nagra))
    }

    @Test func everyNameIsAShape() {
        for name in AnswerShape.names {
            let shape = AnswerShape(named: name)
            #expect(shape != nil && shape?.hasResultForEachKey == false)
            #expect(AnswerShape(named: name.uppercased()) == nil)
        }
        #expect(AnswerShape(named: "") == nil)
        #expect(AnswerShape(named: "streaming-keys") == nil)
    }

    @Test(arguments: requests)
    func onlyShapesWithLabelsHaveAResultForEachKey(request: RequestShape) {
        let hasLabels = request == .keyArray || request == .streamingKeys
        #expect(AnswerShape(mirroring: request).hasResultForEachKey == hasLabels)
    }
}
