import ByteCoding
import TestSupport
import Testing

@testable import PlayerMessages

/// Bytes that begin as an SPC does and contain every value of a byte, but are not the SPC of a device.
enum SampleBodies {
    static let spc: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 0] + (0...255).map { UInt8($0) } + [0xFB, 0xFF, 0xBF, 0x3E]
    static let other: [UInt8] = [0, 0, 0, 2] + Array(spc.dropFirst(4).reversed())

    static let text = Base64.encode(spc)
    static let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_")
    static let unpadded = text.replacing("=", with: "")
    static let escaped = text.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3d")
    static let wrapped = stride(from: 0, to: text.count, by: 76).map { offset in
        String(text.dropFirst(offset).prefix(76))
    }.joined(separator: "\r\n")

    static func multipart(_ value: [UInt8], name: String = "spc", boundary: String = "----WebKitFormBoundaryX")
        -> [UInt8]
    {
        Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"assetId\"\r\n\r\nmovie\r\n".utf8)
            + Array("--\(boundary)\r\ncontent-disposition: form-data; name=\(name); filename=\"x\"\r\n".utf8)
            + Array("Content-Type: application/octet-stream\r\n\r\n".utf8) + value
            + Array("\r\n--\(boundary)--\r\n".utf8)
    }
}

@Suite struct PlayerMessageReaderTests {
    typealias S = SampleBodies

    private func request(_ body: [UInt8], contentType: String? = nil) throws -> PlayerRequest {
        guard case .request(let request) = try PlayerMessageReader.read(body, contentType: contentType) else {
            throw PlayerMessageError.unrecognised
        }
        return request
    }

    private func request(_ body: String, contentType: String? = nil) throws -> PlayerRequest {
        try request(Array(body.utf8), contentType: contentType)
    }

    private func error(_ body: [UInt8], contentType: String? = nil) -> PlayerMessageError? {
        #expect(throws: PlayerMessageError.self) {
            try PlayerMessageReader.read(body, contentType: contentType)
        }
    }

    /// Players send a raw SPC with any content type, or without one (clients, section 0, fact 1).
    @Test(
        arguments: [
            nil, "application/octet-stream", "application/x-www-form-urlencoded", "application/json",
            "text/plain;charset=UTF-8", "multipart/form-data; boundary=x",
        ] as [String?])
    func takesARawSPCUnderAnyLabel(contentType: String?) throws {
        let request = try request(S.spc, contentType: contentType)
        #expect(request.shape == .raw)
        #expect(request.keys.map(\.spc) == [S.spc])
    }

    @Test(arguments: [
        S.text, S.urlSafe, S.unpadded, S.wrapped, S.text + "\n", "\u{FEFF}" + S.text, "  \(S.text)\r\n",
        S.text.replacing("+", with: "-"),
    ])
    func takesBase64(body: String) throws {
        let request = try request(body)
        #expect(request.shape == .base64)
        #expect(request.keys.map(\.spc) == [S.spc])
    }

    @Test(
        arguments: [
            ("spc=\(S.text)", nil), ("spc=\(S.text)&assetId=movie-1", "movie-1"),
            ("spc=\(S.urlSafe)", nil), ("spc=\(S.unpadded)", nil), ("spc=\(S.escaped)&assetId=a%2Fb", "a/b"),
            ("assetId=movie-1&spc=\(S.escaped)", "movie-1"), ("spc=\(S.text)&movie-1", "movie-1"),
            ("spc%3D\(S.escaped)", nil), ("spc%3d\(S.escaped)%26assetId%3Dmovie-1", "movie-1"),
            ("spc=\(S.text.replacing("+", with: " "))", nil), ("spc=\(S.text.replacing("+", with: "%20"))", nil),
            ("contentId=movie-1&spc=\(S.text)\n", "movie-1"), ("SpcMessage=\(S.text)", nil),
        ] as [(String, String?)])
    func takesForms(body: String, assetHint: String?) throws {
        for contentType in [nil, "text/plain", "application/x-www-form-urlencoded", "application/octet-stream"] {
            let request = try request(body, contentType: contentType)
            #expect(request.shape == .form)
            #expect(request.keys.map(\.spc) == [S.spc])
            #expect(request.keys[0].assetHint == assetHint)
        }
    }

    @Test(arguments: [
        "multipart/form-data; boundary=----WebKitFormBoundaryX", "application/x-www-form-urlencoded", nil,
    ])
    func takesMultipart(contentType: String?) throws {
        for value in [S.spc, Array(S.text.utf8), Array(S.urlSafe.utf8)] {
            let request = try request(S.multipart(value), contentType: contentType)
            #expect(request.shape == .multipart)
            #expect(request.keys.map(\.spc) == [S.spc])
            #expect(request.keys[0].assetHint == "movie")
        }
    }

    @Test(arguments: RequestShape.ObjectMember.allCases)
    func takesObjectsUnderEachName(member: RequestShape.ObjectMember) throws {
        for text in [S.text, S.urlSafe, S.text.replacing("/", with: "\\/")] {
            let request = try request("\u{FEFF} {\"x\":[1], \"\(member.rawValue)\":\"\(text)\", \"assetId\":\"movie\"}")
            #expect(request.shape == .object(member))
            #expect(request.keys.map(\.spc) == [S.spc])
            #expect(request.keys[0].assetHint == "movie")
            #expect(request.token == nil)
        }
    }

    @Test func takesWhatReactNativeVideoSends() throws {
        let request = try request(#"{"getFairplayLicense":{"foo":1,"spcMessage":"\#(S.text)"}}"#)
        #expect(request.shape == .getFairplayLicense)
        #expect(request.keys.map(\.spc) == [S.spc])
    }

    @Test func takesAnArrayOfKeys() throws {
        let other = Base64.encode(S.other)
        let request = try request(#"[{"keyID":"AA==","payload":"\#(S.text)"},{"payload":"\#(other)","keyID":"BB=="}]"#)
        #expect(request.shape == .keyArray)
        #expect(request.keys.map(\.spc) == [S.spc, S.other])
        #expect(request.keys.map { $0.label?.string } == ["AA==", "BB=="])
    }

    @Test func takesStreamingKeys() throws {
        let entries = #"{"id":1,"uri":"skd://a","spc":"\#(S.text)"},{"id":"b","spc":"\#(S.text)","offline":true}"#
        let request = try request(#"{"fairplay-streaming-request":{"version":1,"streaming-keys":[\#(entries)]}}"#)
        #expect(request.shape == .streamingKeys)
        #expect(request.keys.map(\.spc) == [S.spc, S.spc])
        #expect(request.keys[0].label?.number?.text == "1")
        #expect(request.keys[1].label?.string == "b")
        #expect(request.keys.map(\.isOffline) == [false, true])
        #expect(request.keys[0].assetHint == "skd://a")
    }

    @Test func findsTheTokenInABody() throws {
        #expect(try request("spc=\(S.text)&token=a.b.c").token == "a.b.c")
        #expect(try request(#"{"spc":"\#(S.text)","token":"a.b.c"}"#).token == "a.b.c")
        #expect(error(Array("spc=\(S.text)&token=a&token=b".utf8)) == .ambiguousToken)
        #expect(error(Array(#"{"spc":"\#(S.text)","token":1}"#.utf8)) == .jsonWithoutSPC)
    }

    @Test(arguments: [
        Array("bplist00\u{1}\u{2}".utf8), Array("<?xml version=\"1.0\"?>\n<plist version=\"1.0\"></plist>".utf8),
        Array("<!DOCTYPE plist PUBLIC \"x\" \"y\">\n<plist/>".utf8),
    ])
    func takesReportsOfSessions(body: [UInt8]) throws {
        guard case .sessionReport(let report) = try PlayerMessageReader.read(body) else {
            return #expect(Bool(false), "taken for a request")
        }
        #expect(report == body)
    }

    @Test(
        arguments: [
            ([], .empty), (Array(" \r\n".utf8), .empty), ([0x30, 0x82, 0x04, 0xD3] + S.spc, .certificate),
            (Array("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".utf8), .certificate),
            (Array(Base64.encode([0x30, 0x82, 0x04, 0xD3] + S.spc).utf8), .certificate),
            (Array("spc=\(Base64.encode([0x30, 0x82, 0x04, 0xD3] + S.spc))".utf8), .certificate),
            (Array(Base64.encode(S.text.utf8).utf8), .doubleBase64),
            (Array("spc=\(Base64.encode(S.text.utf8))".utf8), .doubleBase64),
            (Array(#"{"spc":"\#(Base64.encode(S.text.utf8))"}"#.utf8), .doubleBase64),
            (S.text.utf8.flatMap { [$0, 0] }, .utf16), (S.text.utf8.flatMap { [0, $0] }, .utf16),
            ([0xFF, 0xFE] + S.text.utf8.flatMap { [$0, 0] }, .utf16),
            (Array("#EXTM3U\n#EXT-X-VERSION:5\n".utf8), .playlist), (Array("<!doctype html><html></html>".utf8), .page),
            (Array("<?xml version=\"1.0\"?><Error/>".utf8), .page), (Array("<ckc>AAAA</ckc>".utf8), .license),
            (Array(#"{"ckc":"AAAA"}"#.utf8), .license), (Array("eyJhbGciOiJIUzI1NiJ9.e30.c2ln".utf8), .token),
            (Array("assetId=movie".utf8), .formWithoutSPC), (Array("spc=".utf8), .formWithoutSPC),
            (Array("spc=\(S.text)&spc=\(S.text)".utf8), .ambiguous), (Array("spc=!!!!".utf8), .invalidBase64),
            (S.multipart(S.spc, name: "cps"), .multipartWithoutSPC), (S.multipart([]), .multipartWithoutSPC),
            (S.multipart(S.spc).dropLast(8), .multipartWithoutSPC),
            (S.multipart([0x30, 0x82, 1, 2]), .certificate),
            (Array("{\"spc\":".utf8), .invalidJSON), (Array("{\"spc\":\"\",\"spc\":\"\"}".utf8), .repeatedMember),
            (Array("{\"spc\":\"\",\"a\":[{\"b\":1,\"b\":1}]}".utf8), .repeatedMember),
            (Array("{}".utf8), .jsonWithoutSPC), (Array("[]".utf8), .jsonWithoutSPC),
            (Array("[1]".utf8), .jsonWithoutSPC), (Array(#"{"spc":1}"#.utf8), .jsonWithoutSPC),
            (Array(#"{"spc":"AAAA","payload":"AAAA"}"#.utf8), .ambiguous),
            (Array(#"{"spc":"="}"#.utf8), .invalidBase64),
            (Array(#"{"fairplay-streaming-request":{"streaming-keys":[]}}"#.utf8), .jsonWithoutSPC),
            (Array(#"{"getFairplayLicense":{}}"#.utf8), .jsonWithoutSPC),
            (Array("hello".utf8), .unrecognised), ([0xFF], .unrecognised), ([0, 0, 0], .unrecognised),
            (Array("AAAA".utf8), .unrecognised),
        ] as [([UInt8], PlayerMessageError)])
    func saysWhatArrivedInstead(body: [UInt8], expected: PlayerMessageError) {
        #expect(error(body) == expected)
    }

    @Test func boundsTheNumberOfKeys() throws {
        func body(_ count: Int) -> [UInt8] {
            let entry = #"{"keyID":"A","payload":"AAAAAQAAAAA="}"#
            return Array("[\([String](repeating: entry, count: count).joined(separator: ","))]".utf8)
        }
        let maximum = PlayerRequest.keyCountMaximum
        #expect(try request(body(maximum)).keys.count == maximum)
        #expect(error(body(maximum + 1)) == .tooManyKeys(maximum: maximum))
    }

    /// An answer repeats the names of keys, and may escape each byte of them.
    @Test func boundsTheNamesOfKeys() throws {
        func bodies(_ size: Int) -> [[UInt8]] {
            let name = String(repeating: "A", count: size)
            return [
                #"[{"keyID":"\#(name)","payload":"AAAAAQAAAAA="}]"#,
                #"{"fairplay-streaming-request":{"streaming-keys":[{"id":"\#(name)","spc":"AAAAAQAAAAA="}]}}"#,
            ].map { Array($0.utf8) }
        }
        let maximum = PlayerRequest.labelSizeMaximum
        for body in bodies(maximum) { #expect(try request(body).keys.count == 1) }
        for body in bodies(maximum + 1) { #expect(error(body) == .labelTooLong(maximum: maximum)) }
    }

    @Test(arguments: [
        "multipart/form-data;=", "multipart/form-data; =x", "multipart/;;=;", "multipart/form-data; boundary=",
    ])
    func readsAContentTypeWithoutABoundary(contentType: String) throws {
        let body = S.multipart(S.spc)
        if contentType.hasSuffix("boundary=") {
            #expect(error(body, contentType: contentType) != nil)
        } else {
            #expect(try request(body, contentType: contentType).keys.count == 1)
        }
    }

    /// A request that is cut off is not read as a whole one. Raw SPCs are the exception, because `FairPlay`
    /// checks their length.
    @Test func refusesOrPassesEveryTruncation() {
        let whole = [
            Array("spc=\(S.escaped)&assetId=movie".utf8), S.multipart(S.spc).dropLast(2),
            Array(#"[{"keyID":"AA==","payload":"\#(S.text)"}]"#.utf8),
        ]
        for body in whole {
            for count in 0..<body.count {
                guard case .request(let request)? = try? PlayerMessageReader.read(Array(body.prefix(count))) else {
                    continue
                }
                // Base64 may end anywhere. Then the SPC is a prefix of the whole one.
                #expect(request.shape == .form)
                #expect(request.keys.allSatisfy { S.spc.starts(with: $0.spc) })
            }
        }
    }

    /// Random changes of valid bodies lead to a request or an error, but never to a trap.
    @Test func survivesChangedBodies() {
        var random = SeededGenerator.announced("survivesChangedBodies")
        let whole = [
            S.spc, Array(S.text.utf8), Array("spc=\(S.escaped)&assetId=movie".utf8), S.multipart(S.spc),
            Array(#"[{"keyID":"AA==","payload":"\#(S.text)"}]"#.utf8),
        ]
        for _ in 0..<5_000 {
            var body = whole.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) where !body.isEmpty {
                let place = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: body.remove(at: place)
                default: body.insert(contentsOf: body.suffix(3), at: place)
                }
            }
            guard case .request(let request)? = try? PlayerMessageReader.read(body) else { continue }
            #expect((1...PlayerRequest.keyCountMaximum).contains(request.keys.count))
            #expect(request.keys.allSatisfy { !$0.spc.isEmpty })
        }
    }

    @Test func namesEveryShapeOnce() {
        let shapes: [RequestShape] = [
            .raw, .base64, .form, .multipart, .object(.spc), .getFairplayLicense, .keyArray, .streamingKeys,
        ]
        #expect(shapes.map(\.name) == RequestShape.names)
    }
}
