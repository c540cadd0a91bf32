import ByteCoding
import Testing

@testable import PlayerTools

/// How players read answers: those of clients, section 2, and those that break players (section 0).
@Suite struct AnswerFormTests {
    /// Its Base64 text has padding, and differs in the two alphabets.
    private static let ckc: [UInt8] = [0, 0, 0, 1, 0xFB, 0xEF, 0xFF, 0x10]
    private static let base64 = "AAAAAfvv/xA="
    private static let urlSafe = "AAAAAfvv_xA"

    private func read(
        _ player: Player, _ body: [UInt8], labels: [String] = ["1"], isOffline: Bool = false
    ) throws(AnswerNotUnderstood) -> [KeyAnswer] {
        try player.profile.answer.read(body, labels: labels, isOffline: isOffline)
    }

    private func read(_ player: Player, _ body: String, isOffline: Bool = false) throws(AnswerNotUnderstood)
        -> [KeyAnswer]
    {
        try read(player, Array(body.utf8), isOffline: isOffline)
    }

    @Test(arguments: [Player.hlsJS, .shaka, .videoJS, .reactNative, .expoVideo, .expressPlay, .axinom, .clientKit])
    func takesTheBytesAsTheyAre(player: Player) throws {
        #expect(try read(player, Self.ckc) == [.ckc(Self.ckc)])
        // The player unwraps nothing: the device gets the text, and refuses it.
        #expect(try read(player, "<ckc>\(Self.base64)</ckc>") == [.ckc(Array("<ckc>\(Self.base64)</ckc>".utf8))])
        #expect(throws: AnswerNotUnderstood.self) { try read(player, []) }
    }

    /// `<ckc>` is the default answer to a form.
    @Test(arguments: [Player.shakaVerimatrix, .shakaTutorial, .shakaTutorial3, .theoKeyOS, .avFoundation, .drmToday])
    func readsTags(player: Player) throws {
        #expect(try read(player, "<ckc>\(Self.base64)</ckc>") == [.ckc(Self.ckc)])
    }

    @Test(arguments: [
        "\n<ckc>\(base64)</ckc>\n", "{\"ckc\":\"\(base64)\"}", "{\"CkcMessage\":\"\(base64)\"}",
        " {\"License\":\"\(base64)\"}", "<ckc>\(urlSafe)</ckc>", "<ckc>AAAA Afvv\n/xA=</ckc>",
        "{\"ckc\":\"other\",\"License\":\"\(base64)\"}",
    ])
    func unwrapsAsShakaDoes(body: String) throws {
        #expect(try read(.shakaGumlet, body) == [.ckc(Self.ckc)])
    }

    /// Fact 4: bare Base64 goes to the device as text. The same is true of JSON with another member, and of bytes.
    @Test(arguments: [base64, "{\"ckcMessage\":\"\(base64)\"}", "<ckc>", "[1]"])
    func leavesEverythingElseToTheDeviceAsShakaDoes(body: String) throws {
        #expect(try read(.shakaVerimatrix, body) == [.ckc(Array(body.utf8))])
        #expect(try read(.shakaVerimatrix, Self.ckc) == [.ckc(Self.ckc)])
    }

    @Test(arguments: ["<ckc>?</ckc>", "<ckc></ckc>", "{\"ckc\":\"?\"}"])
    func failsAsShakaDoes(body: String) {
        #expect(throws: AnswerNotUnderstood.self) { try read(.shakaVerimatrix, body) }
    }

    /// Fact 4: tags or a line end break react-native-video 6.4, and bytes break every reader of text.
    @Test func takesStrictBase64Alone() throws {
        #expect(try read(.reactNativeLegacy, Self.base64) == [.ckc(Self.ckc)])
        #expect(try read(.theoPallyCon, Self.base64) == [.ckc(Self.ckc)])
        for body in ["<ckc>\(Self.base64)</ckc>", Self.base64 + "\n", Self.urlSafe, String(Self.base64.dropLast()), ""]
        {
            #expect(throws: AnswerNotUnderstood.self) { try read(.reactNativeLegacy, body) }
        }
        #expect(throws: AnswerNotUnderstood.self) { try read(.reactNativeLegacy, Self.ckc) }
    }

    /// The sample code that most apps copy does not trim, but other code does.
    @Test func trimsIfThePlayerTrims() throws {
        let body = "<ckc>\(Self.base64)</ckc>\n"
        #expect(try read(.shakaTutorial, body) == [.ckc(Self.ckc)])
        #expect(throws: AnswerNotUnderstood.self) { try read(.avFoundation, body) }
        #expect(try read(.avFoundation, Self.base64) == [.ckc(Self.ckc)])
    }

    @Test(arguments: [
        (Player.nagra, "CkcMessage"), (.fairPlayKSM, "ckcMessage"), (.kaltura, "ckc"),
    ])
    func readsAMember(player: Player, name: String) throws {
        #expect(try read(player, "{\"\(name)\":\"\(Self.base64)\",\"more\":1}") == [.ckc(Self.ckc)])
        for body in ["{\"other\":\"\(Self.base64)\"}", "{\"\(name)\":1}", "{\"\(name)\":\"?\"}", "[]", "", Self.base64]
        {
            #expect(throws: AnswerNotUnderstood.self) { try read(player, body) }
        }
    }

    @Test func readsTheHooksAnswer() throws {
        let body = "{\"getFairplayLicenseResponse\":{\"ckcResponse\":\"\(Self.base64)\"}}"
        #expect(try read(.reactNativeHook, body) == [.ckc(Self.ckc)])
        #expect(throws: AnswerNotUnderstood.self) {
            try read(.reactNativeHook, "{\"ckcResponse\":\"\(Self.base64)\"}")
        }
    }

    /// A download with Kaltura's player needs a duration, and stores nothing if it is 0 seconds (clients, section 1b).
    @Test func needsATimeForADownload() throws {
        func body(_ seconds: String) -> String { "{\"ckc\":\"\(Self.base64)\",\"persistence_duration\":\(seconds)}" }
        #expect(try read(.kaltura, body("86400"), isOffline: true) == [.ckc(Self.ckc)])
        #expect(try read(.kaltura, body("0")) == [.ckc(Self.ckc)])
        for bad in [body("0"), body("\"86400\""), body("null"), "{\"ckc\":\"\(Self.base64)\"}"] {
            #expect(throws: AnswerNotUnderstood.self) { try read(.kaltura, bad, isOffline: true) }
        }
    }

    // MARK: Many keys

    private static let labels = ["QUFBQUFBQUFBQUFBQUFBQQ==", "QkJCQkJCQkJCQkJCQkJCQg=="]

    @Test func readsAnArrayInAnyOrder() throws {
        let body = """
            [{"keyID":"\(Self.labels[1])","error":-42},{"keyID":"\(Self.labels[0])","payload":"\(Self.base64)"}]
            """
        #expect(
            try read(.safariCENC, Array(body.utf8), labels: Self.labels) == [.ckc(Self.ckc), .denied("error -42")])
    }

    @Test(arguments: [
        "{}", "[]", "[{\"keyID\":\"\(labels[0])\",\"payload\":\"\(base64)\"}]",
        "[{\"keyID\":\"\(labels[0])\"},{\"keyID\":\"\(labels[1])\",\"error\":1}]",
        "[{\"keyID\":\"\(labels[0])\",\"payload\":\"\(base64)\",\"error\":1},{\"keyID\":\"\(labels[1])\",\"error\":1}]",
        "[{\"keyID\":\"\(labels[0])\",\"payload\":\"?\"},{\"keyID\":\"\(labels[1])\",\"error\":1}]",
    ])
    func refusesOtherArrays(body: String) {
        #expect(throws: AnswerNotUnderstood.self) { try read(.safariCENC, Array(body.utf8), labels: Self.labels) }
    }

    @Test func readsStreamingKeys() throws {
        let body = """
            {"fairplay-streaming-response":{"streaming-keys":[{"id":1,"status":0,"ckc":"\(Self.base64)"},
            {"id":2,"status":-1021}]}}
            """
        let expected: [KeyAnswer] = [.ckc(Self.ckc), .denied("status -1021")]
        #expect(try read(.appleStreamingKeys, Array(body.utf8), labels: ["1", "2"]) == expected)
        let text = body.replacing("\"status\":0", with: "\"status\":\"0\"")
        #expect(try read(.appleStreamingKeys, Array(text.utf8), labels: ["1", "2"]) == expected)
    }

    /// An id that was sent as a number must not be returned as text.
    @Test(arguments: ["1\"", "2"])
    func needsTheIDAsItWasSent(id: String) {
        let quote = id.hasSuffix("\"") ? "\"" : ""
        let body = """
            {"fairplay-streaming-response":{"streaming-keys":[{"id":\(quote)\(id),"status":0,"ckc":"\(Self.base64)"}]}}
            """
        #expect(throws: AnswerNotUnderstood.self) { try read(.appleStreamingKeys, body) }
    }
}
