import TestSupport
import Testing

@testable import ByteCoding

@Suite struct JSONReaderTests {
    static let samples = [
        #"{"iss":"https://portal.example","exp":1767225600,"rights":[{"content":"movie-1","lease":300.5}],"jti":"\u00e9"}"#,
        #"[[],{},"",0.5e-3,true,false,null,"\ud83d\udd11"]"#,
        "{\n  \"ключ\": [1, 2, {\"a\": \"b\\\\\"}]\n}",
        "\"a string \\n alone\"",
    ]

    static let truncations = samples.flatMap { sample in (0..<sample.utf8.count).map { (sample, $0) } }

    /// Both dialects detect for every prefix of a value that it is incomplete.
    @Test(arguments: truncations)
    func refusesEveryTruncation(sample: String, length: Int) throws {
        #expect(throws: Never.self) { try JSONReader.parse(Array(sample.utf8)) }
        for dialect in [JSONDialect.strict, .json5] {
            let error = try #require(throws: JSONError.self) {
                try JSONReader.parse(Array(sample.utf8.prefix(length)), dialect: dialect)
            }
            #expect(error.position.byteOffset <= length)
        }
    }

    @Test func countsEveryValue() throws {
        let text = Array(#"{"a": [1, [], {"b": null}], "c": ""}"#.utf8)
        #expect(throws: Never.self) { try JSONReader.parse(text, limits: JSONLimits(valueCountMaximum: 7)) }
        let error = #expect(throws: JSONError.self) {
            try JSONReader.parse(text, limits: JSONLimits(valueCountMaximum: 6))
        }
        #expect(error == .tooManyValues(at: TextPosition(line: 1, column: 34, byteOffset: 33)))
    }

    @Test func everyNodeKnowsItsPlace() throws {
        let text = "{\r\n  \"é\u{1F511}\": 1, \"b\": [\n\ttrue,\r null],\n\n  \"c\": {}}"
        let object = try #require(try JSONReader.parse(Array(text.utf8)).object)
        #expect(object.members.map(\.name) == ["é\u{1F511}", "b", "c"])
        #expect(
            object.members.map(\.namePosition) == [
                TextPosition(line: 2, column: 3, byteOffset: 5), TextPosition(line: 2, column: 12, byteOffset: 18),
                TextPosition(line: 6, column: 3, byteOffset: 43),
            ])
        #expect(
            object.members.map(\.node.position) == [
                TextPosition(line: 2, column: 9, byteOffset: 15), TextPosition(line: 2, column: 17, byteOffset: 23),
                TextPosition(line: 6, column: 8, byteOffset: 48),
            ])
        #expect(
            object["b"]?.array?.map(\.position) == [
                TextPosition(line: 3, column: 2, byteOffset: 26), TextPosition(line: 4, column: 2, byteOffset: 33),
            ])
    }

    /// The reader skips a string eight bytes at a time, but still counts its columns.
    @Test func aStringHasAsManyColumnsAsScalars() throws {
        for count in 0...40 {
            let text = String(repeating: "a", count: count) + "é\u{1F511}" + String(repeating: "b", count: 40 - count)
            let array = try #require(try JSONReader.parse(Array("[\"\(text)\", 1]".utf8)).array)
            #expect(array.first?.string == text)
            #expect(array.last?.position == TextPosition(line: 1, column: 48, byteOffset: 51))
        }
    }

    @Test func anErrorNamesLineAndColumn() throws {
        let text = "{\n  \"é\": 1,\n  \"schlüssel\": tru\n}"
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
        #expect(error == .unexpectedCharacter(at: TextPosition(line: 3, column: 19, byteOffset: 32)))
        #expect(error.description.hasPrefix("line 3, column 19: unexpected character; no name or value begins with it"))
    }

    @Test(arguments: [
        ("{ \"a\": 1 \"b\": 2 }", 10, "expected a comma"), ("[1 2]", 4, "expected a comma"),
        ("{ \"a\" = 1 }", 7, "expected a colon"),
        ("{ \"a\": 1", 9, "ends before"), ("{ \"a\"", 6, "ends before"),
    ])
    func aMissingMarkIsNamed(text: String, column: Int, words: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
        #expect(
            error.description.hasPrefix("line 1, column \(column): ") && error.description.contains(words), "\(error)")
    }

    @Test func invalidUTF8IsPlacedToo() {
        let bytes = Array("[\n \"é".utf8) + [0xFF, UInt8(ascii: "\""), UInt8(ascii: "]")]
        #expect(throws: JSONError.invalidUTF8(at: TextPosition(line: 2, column: 4, byteOffset: 6))) {
            try JSONReader.parse(bytes)
        }
    }

    @Test(arguments: [(0, true), (1, true), (64, true), (65, false), (128, false)])
    func theSizeIsBounded(padding: Int, isAccepted: Bool) {
        let bytes = Array("[]".utf8) + [UInt8](repeating: 0x20, count: padding)
        let limits = JSONLimits(sizeMaximum: 66)
        if isAccepted {
            #expect(throws: Never.self) { try JSONReader.parse(bytes, limits: limits) }
        } else {
            #expect(throws: JSONError.tooLarge(size: bytes.count, maximum: 66)) {
                try JSONReader.parse(bytes, limits: limits)
            }
        }
    }

    @Test func theDefaultLimitsAreThese() {
        #expect(JSONLimits().sizeMaximum == 65_536)
        #expect(JSONLimits().depthMaximum == 16)
    }

    @Test(arguments: [0, 1, 2, 16, 128], ["[", "{\"a\":"])
    func theDepthIsBounded(depth: Int, opening: String) {
        let closing = opening == "[" ? "]" : "}"
        let text = { (depth: Int) in
            Array((String(repeating: opening, count: depth) + "0" + String(repeating: closing, count: depth)).utf8)
        }
        let limits = JSONLimits(depthMaximum: depth)
        #expect(throws: Never.self) { try JSONReader.parse(text(depth), limits: limits) }
        let offset = depth * opening.utf8.count
        #expect(
            throws: JSONError.tooDeep(at: TextPosition(line: 1, column: offset + 1, byteOffset: offset))
        ) { try JSONReader.parse(text(depth + 1), limits: limits) }
    }

    @Test(arguments: [2, 15, 16, 17, 18, 1000])
    func duplicatesAreFoundInObjectsOfEverySize(count: Int) throws {
        let members = (0..<count).map { "\"n\($0)\":\($0)" }
        let object = try #require(try JSONReader.parse(Array("{\(members.joined(separator: ","))}".utf8)).object)
        #expect(object.members.map(\.name) == (0..<count).map { "n\($0)" })
        for repeated in [0, count / 2, count - 1] {
            let text = "{\((members + ["\"n\(repeated)\":0"]).joined(separator: ","))}"
            let error = try #require(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
            let first = try #require(object.members.first { $0.name == "n\(repeated)" }?.namePosition)
            #expect(error.description.hasSuffix("already has a member of this name, at \(first)"))
        }
    }

    @Test func valuesAreNeverConverted() throws {
        let node = try JSONReader.parse(Array(#"{"s":"1","n":1,"b":true,"z":null,"a":[1],"o":{}}"#.utf8))
        let object = try #require(node.object)
        #expect(object["s"]?.string == "1" && object["s"]?.number == nil && object["s"]?.bool == nil)
        #expect(object["n"]?.number?.unsigned == 1 && object["n"]?.string == nil && object["n"]?.bool == nil)
        #expect(object["b"]?.bool == true && object["b"]?.number == nil)
        #expect(object["z"]?.isNull == true && object["z"]?.string == nil && object["s"]?.isNull == false)
        #expect(object["a"]?.array?.count == 1 && object["a"]?.object == nil)
        #expect(object["o"]?.object?.members.isEmpty == true && object["o"]?.array == nil)
        #expect(object["missing"] == nil)
        #expect(node.array == nil)
    }

    @Test func namesAreComparedByteByByte() throws {
        let object = try #require(try JSONReader.parse(Array("{\"\u{212A}ey\":1}".utf8)).object)
        #expect(object["Key"] == nil)
        #expect(object["\u{212A}ey"]?.number?.unsigned == 1)
    }

    /// The reader gives a result for any bytes. An accepted text has the same value after it is rewritten.
    @Test func randomBytesNeverTrap() throws {
        var generator = SeededGenerator.announced("JSON noise")
        let alphabet = Array("{}[]:,\"'\\/*+-.0123456789eEtrufalsn \n\rxXud8cD\u{E9}".utf8) + [0xFF, 0x00]
        var acceptedCount = 0
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            for dialect in [JSONDialect.strict, .json5] {
                guard let node = try? JSONReader.parse(bytes, dialect: dialect) else { continue }
                acceptedCount += 1
                let again = try JSONReader.parse(Array(node.rewritten.utf8))
                #expect(again.rewritten == node.rewritten)
            }
        }
        #expect(acceptedCount > 100)
    }

    /// A valid text with one changed byte is read or refused, and no error is located past its end.
    @Test(arguments: samples)
    func changedBytesNeverTrap(sample: String) {
        var generator = SeededGenerator.announced("JSON flips")
        for offset in sample.utf8.indices {
            var bytes = Array(sample.utf8)
            bytes[sample.utf8.distance(from: sample.utf8.startIndex, to: offset)] = .random(
                in: 0...255, using: &generator)
            for dialect in [JSONDialect.strict, .json5] {
                do throws(JSONError) {
                    let node = try JSONReader.parse(bytes, dialect: dialect)
                    #expect(try JSONReader.parse(Array(node.rewritten.utf8)).rewritten == node.rewritten)
                } catch {
                    #expect(error.position.byteOffset <= bytes.count)
                }
            }
        }
    }
}

extension JSONError {
    /// The position of the error.
    var position: TextPosition {
        switch self {
        case .tooLarge: .start
        case .invalidUTF8(let position), .unexpectedEnd(let position), .unexpectedCharacter(let position),
            .commaMissing(let position), .colonMissing(let position), .trailingContent(let position),
            .tooDeep(let position), .tooManyValues(let position),
            .duplicateMember(let position, _),
            .invalidNumber(let position), .controlCharacter(let position), .invalidEscape(let position):
            position
        }
    }
}
