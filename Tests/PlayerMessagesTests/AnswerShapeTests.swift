import Testing

@testable import PlayerMessages

/// Which shape answers which request (clients, section 2; design, section 11).
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
        for accepted in [[], ["*/*"], ["application/json, text/plain, */*"], ["text/html"], ["application/*"]] {
            #expect(AnswerPreference(accepted: accepted).shape(for: request) == shape)
        }
    }

    /// react-native-video up to 6.4 decodes the body with a strict reader of Base64.
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

    /// NAGRA's players accept JSON and nothing else; a browser accepts everything, and gets the bytes.
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
