import ByteCoding
import PlayerMessages
import Testing

@testable import PlayerTools

/// The table of players, and the bodies that are made from it. The server's own reader must find the original SPC in
/// each.
@Suite struct PlayerTableTests {
    /// Bytes that begin like an SPC. Their Base64 has padding and both characters in which the alphabets differ.
    private static let spcs: [[UInt8]] = [1, 2].map { last in
        [0, 0, 0, 1] + [UInt8](repeating: 0xFB, count: 30) + [UInt8](repeating: 0xFF, count: 30) + [last]
    }

    private static let uris = ["skd://2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11", "skd://00112233445566778899aabbccddeeff"]

    private func keys(_ player: Player) throws -> [AskedKey] {
        let count = player.profile.sendsKeysTogether ? 2 : 1
        return try zip(Self.uris, Self.spcs).prefix(count).map { text, spc in
            let uri = try #require(KeyURI(text))
            return AskedKey(uri: uri, assetID: try #require(uri.assetID(player.profile.assetID)), spc: spc)
        }
    }

    private func request(_ player: Player, isOffline: Bool = false) throws -> PlayerRequest {
        let profile = player.profile
        let body = profile.body.encode(try keys(player), isOffline: isOffline)
        let message = try PlayerMessageReader.read(body, contentType: profile.contentType)
        guard case .request(let request) = message else { throw PlayerMessageError.unrecognised }
        return request
    }

    @Test(arguments: Player.allCases)
    func sendsABodyThatTheServerReads(player: Player) throws {
        let request = try request(player)
        #expect(request.shape == player.profile.body.shape)
        #expect(request.keys.map(\.spc) == Array(Self.spcs.prefix(player.profile.sendsKeysTogether ? 2 : 1)))
    }

    @Test(arguments: Player.allCases)
    func namesItsSource(player: Player) {
        let source = player.profile.source
        #expect(
            ["clients, section ", "entitlement, section ", "Clients/"].contains { source.hasPrefix($0) }, "\(source)")
        #expect(!player.profile.name.isEmpty)
    }

    /// Fact 1 (clients, section 0): the content type of each kind of body.
    @Test(
        arguments: [
            (Player.hlsJS, nil), (.shaka, nil), (.safariCENC, nil), (.videoJS, "application/octet-stream"),
            (.reactNative, "application/x-www-form-urlencoded"), (.expoVideo, "application/x-www-form-urlencoded"),
            (.kaltura, "application/octet-stream"), (.hlsJSStreamingKeys, "text/plain;charset=UTF-8"),
        ] as [(Player, String?)])
    func saysTheTypeThatThePlayerSays(player: Player, type: String?) {
        #expect(player.profile.contentType == type)
        let fields = player.profile.fields(token: "a.b.c")
        #expect(fields.contains { $0.hasPrefix("Content-Type:") } == (type != nil))
        #expect(fields.contains("Accept: */*"))
    }

    @Test(arguments: [
        (Player.hlsJS, "Authorization: Bearer a.b.c"), (.nagra, "nv-authorizations: a.b.c"),
        (.axinom, "X-AxDRM-Message: a.b.c"), (.drmToday, "x-dt-auth-token: a.b.c"),
    ])
    func putsTheTokenIntoAField(player: Player, line: String) {
        #expect(player.profile.fields(token: "a.b.c").contains(line))
    }

    @Test func putsExpressPlaysTokenIntoTheQueryAlone() {
        let profile = Player.expressPlay.profile
        #expect(profile.token == .query("ExpressPlayToken"))
        #expect(profile.fields(token: "a.b.c").allSatisfy { !$0.contains("a.b.c") })
    }

    /// Facts 4 and 5: the spellings of the same SPC.
    @Test(arguments: [
        (Player.avFoundation, "spc=AAAAAfv7+", "&assetId=2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"),
        (.shakaVerimatrix, "spc=AAAAAfv7-", "____wE="), (.shakaTutorial, "spc=AAAAAfv7%2B", "%2FwE%3D"),
        (.shakaTutorial3, "spc%3DAAAAAfv7%2B", "%2FwE%3D"),
        (.reactNativeLegacy, "spc=AAAAAfv7%2B", "&2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"),
        (.kaltura, "AAAAAfv7+", "///wE="), (.shakaGumlet, "{\"spc\":\"AAAAAfv7-", "\"}"),
        (.theoKeyOS, "spc=AAAAAfv7+", "&assetId=skd%3A%2F%2F2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"),
    ])
    func spellsTheSPCAsThePlayerDoes(player: Player, start: String, end: String) throws {
        let body = String(decoding: player.profile.body.encode(try keys(player), isOffline: false), as: UTF8.self)
        #expect(body.hasPrefix(start), "\(body)")
        #expect(body.hasSuffix(end), "\(body)")
    }

    @Test func escapesThePaddingToo() throws {
        let uri = try #require(KeyURI("skd://movie-1"))
        let key = AskedKey(uri: uri, assetID: Array("movie-1".utf8), spc: [0, 0, 0, 1])
        func body(_ player: Player) -> String {
            String(decoding: player.profile.body.encode([key], isOffline: false), as: UTF8.self)
        }
        #expect(body(.shakaTutorial) == "spc=AAAAAQ%3D%3D")
        #expect(body(.reactNativeLegacy) == "spc=AAAAAQ%3D%3D&movie-1")
        #expect(body(.shakaVerimatrix) == "spc=AAAAAQ==")
        #expect(body(.avFoundation) == "spc=AAAAAQ==&assetId=movie-1")
        #expect(body(.shakaTutorial3) == "spc%3DAAAAAQ%3D%3D")
    }

    @Test func labelsKeysThatGoTogether() throws {
        let array = try request(.safariCENC)
        #expect(
            array.keys.map { $0.label?.string } == ["L2wdDn08TF6cVw1qXw9qEQ==", "ABEiM0RVZneImaq7zN3u/w=="])
        let entries = try request(.appleStreamingKeys)
        #expect(entries.keys.map { $0.label?.number?.text } == ["1", "2"])
        #expect(entries.keys.map(\.assetHint) == Self.uris)
    }

    @Test func saysInTheBodyThatTheKeyIsToBeKept() throws {
        #expect(try request(.appleStreamingKeys, isOffline: true).keys.map(\.isOffline) == [true, true])
        #expect(try request(.appleStreamingKeys).keys.map(\.isOffline) == [false, false])
    }

    @Test func readsCertificates() {
        let der: [UInt8] = [0x30, 0x82, 0x01, 0xFB]
        let text = Array("MIIB+w==".utf8)
        #expect(Player.hlsJS.profile.certificate.read(der) == der)
        #expect(Player.hlsJS.profile.certificate.read(text) == nil)
        #expect(Player.theoPallyCon.profile.certificate.read(text) == der)
        #expect(Player.theoPallyCon.profile.certificate.read(der) == nil)
        #expect(Player.theoPallyCon.profile.certificate.read(Array("AAAA".utf8)) == nil)
    }

    /// Fact 8 (clients, section 0).
    @Test(
        arguments: [
            (Player.hlsJS, 503, 8), (.hlsJS, 429, 0), (.hlsJS, nil, 8), (.shaka, 403, 1), (.shaka, 503, 1),
            (.videoJS, 503, 0), (.kaltura, nil, 0),
        ] as [(Player, Int?, Int)])
    func knowsHowOftenARequestIsRepeated(player: Player, status: Int?, copies: Int) {
        #expect(player.profile.retries.copies(after: status) == copies)
    }

    @Test(arguments: [
        (Player.hlsJS, [200]), (.shaka, [200, 201, 204]), (.videoJS, [200, 201, 202, 204]),
        (.kaltura, [200, 201, 202, 204, 302, 403, 500]),
    ])
    func knowsWhichStatusesThePlayerTakes(player: Player, accepted: [Int]) {
        let all = [200, 201, 202, 204, 302, 403, 500]
        #expect(all.filter { player.profile.statuses.contains($0) } == accepted)
    }
}
