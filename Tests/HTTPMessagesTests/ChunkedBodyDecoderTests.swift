import HTTPMessages
import Testing

@Suite struct ChunkedBodyDecoderTests {
    static let encoded = Array("5;name=\"value\"\r\nhello\r\n0A\r\n, chunked!\r\n00\r\nX-Trailer: y\r\nZ:\r\n\r\n".utf8)
    static let decoded = Array("hello, chunked!".utf8)

    @Test(arguments: 0...encoded.count)
    func joinsChunksHoweverTheyAreCut(cut: Int) throws {
        var decoder = ChunkedBodyDecoder(limits: HTTPLimits(), path: "/")
        var (body, position) = ([UInt8](), 0)
        let isEarly = try decoder.decode(Array(Self.encoded.prefix(cut)).span, from: &position, into: &body)
        #expect(isEarly == (cut == Self.encoded.count))
        #expect(position == cut)
        if !isEarly {
            position = 0
            let isComplete = try decoder.decode(Array(Self.encoded.dropFirst(cut)).span, from: &position, into: &body)
            #expect(isComplete)
        }
        #expect(body == Self.decoded)
    }

    @Test(arguments: [
        "1;a", "1;a=b", "1;a=\"\"", "1;a=\"b c\";d", "1;a=\"\\\"\\\\\"", "1;a;b=c;d=\"e\"", "1;a=\"\u{e4};=\"",
    ])
    func skipsExtensions(chunk: String) throws {
        #expect(try decode("\(chunk)\r\nx\r\n0;y\r\n\r\n", HTTPLimits()) == Array("x".utf8))
    }

    @Test func leavesWhatFollows() throws {
        var decoder = ChunkedBodyDecoder(limits: HTTPLimits(), path: "/")
        var (body, position) = ([UInt8](), 0)
        let isComplete = try decoder.decode((Self.encoded + Array("GET".utf8)).span, from: &position, into: &body)
        #expect(isComplete)
        #expect(position == Self.encoded.count)
    }

    @Test(arguments: [(0, true), (10, true), (11, false)])
    func limitsTheBody(size: Int, isAllowed: Bool) throws {
        var limits = HTTPLimits()
        limits.bodySizeMaximum = 10
        let chunks = String(repeating: "1\r\na\r\n", count: size)
        if isAllowed {
            #expect(try decode(chunks + "0\r\n\r\n", limits) == Array(repeating: UInt8(ascii: "a"), count: size))
        } else {
            #expect(throws: HTTPProblem.bodyTooLarge) { try decode(chunks + "0\r\n\r\n", limits) }
        }
    }

    @Test(arguments: [(0, true), (4, true), (5, false)])
    func limitsAllExtensionsTogether(size: Int, isAllowed: Bool) throws {
        var limits = HTTPLimits()
        limits.chunkExtensionsSizeMaximum = 4
        let text = String(repeating: "1;e\r\na\r\n", count: size) + "0\r\n\r\n"
        if isAllowed {
            #expect(try decode(text, limits)?.count == size)
        } else {
            #expect(throws: HTTPProblem.malformed(.chunkExtension)) { try decode(text, limits) }
        }
    }

    @Test(arguments: [(9, true), (8, false), (0, false)])
    func limitsTheTrailer(maximum: Int, isAllowed: Bool) throws {
        var limits = HTTPLimits()
        limits.trailerSizeMaximum = maximum
        // "X:y" and "Z:y", each with the first byte of its line end, and that byte of the last line: 11 bytes.
        let text = "0\r\nX:y\r\nZ:y\r\n\r\n"
        if isAllowed {
            #expect(try decode(text, limits) == [])
        } else {
            #expect(throws: HTTPProblem.headTooLarge) { try decode(text, limits) }
        }
    }

    private func decode(_ text: String, _ limits: HTTPLimits) throws -> [UInt8]? {
        var decoder = ChunkedBodyDecoder(limits: limits, path: "/")
        var (body, position) = ([UInt8](), 0)
        return try decoder.decode(Array(text.utf8).span, from: &position, into: &body) ? body : nil
    }
}
