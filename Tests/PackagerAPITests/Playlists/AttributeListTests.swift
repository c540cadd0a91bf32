import Testing

@testable import PackagerAPI

@Suite struct AttributeListTests {
    private static let valid = "METHOD=SAMPLE-AES,URI=\"skd://a,b=c d\",IV=0x0F,X-1=\"\""

    private static func list(_ text: String) throws(AttributeListError) -> AttributeList {
        try AttributeList(parsing: Array(text.utf8)[...])
    }

    private static func error(_ text: String) -> AttributeListError? {
        do throws(AttributeListError) {
            _ = try list(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func keepsTheOrderAndTheQuotationMarks() throws {
        let list = try Self.list(Self.valid)
        #expect(list.attributes.map(\.name) == ["METHOD", "URI", "IV", "X-1"])
        #expect(
            list.attributes.map(\.value) == [
                .plain("SAMPLE-AES"), .quoted("skd://a,b=c d"), .plain("0x0F"), .quoted(""),
            ])
        #expect(list["URI"]?.text == "skd://a,b=c d")
        #expect(list["URI"]?.isQuoted == true && list["IV"]?.isQuoted == false)
        #expect(list["METHO"] == nil)
    }

    @Test(arguments: [
        ("", AttributeListError.nameMissing), (" A=1", .nameMissing), ("A=1, B=2", .nameMissing), ("a=1", .nameMissing),
        ("A=1,", .nameMissing), (",A=1", .nameMissing), ("\u{C4}=1", .nameMissing), ("A", .valueMissing("A")),
        ("A =1", .valueMissing("A")), ("A:1", .valueMissing("A")), ("A=", .valueMissing("A")),
        ("A=,B=1", .valueMissing("A")), ("A= 1", .valueMissing("A")), ("A=\"", .quoteNotClosed("A")),
        ("B=1,A=\"x", .quoteNotClosed("A")), ("A=\"x\"y", .textBehindValue("A")), ("A=1 ", .textBehindValue("A")),
        ("A=1\"2\"", .textBehindValue("A")), ("A=1;B=2,A=3", .repeated("A")), ("A=1,B=2,A=\"1\"", .repeated("A")),
    ])
    func refusesWhatIsNoList(text: String, error: AttributeListError) {
        #expect(Self.error(text) == error)
    }

    @Test func limitsTheNumberOfAttributes() throws {
        let attributes = (1...PlaylistLimits.attributeCountMaximum + 1).map { "A\($0)=1" }
        #expect(
            try Self.list(attributes.dropLast().joined(separator: ",")).attributes.count
                == PlaylistLimits.attributeCountMaximum)
        #expect(Self.error(attributes.joined(separator: ",")) == .tooMany)
    }

    /// A list that is cut off is refused, or has exactly the attributes before the cut.
    @Test(arguments: 0..<valid.utf8.count)
    func readsEveryTruncationOrRefusesIt(length: Int) throws {
        let text = String(decoding: Self.valid.utf8.prefix(length), as: UTF8.self)
        let whole = try Self.list(Self.valid).attributes
        guard let cut = try? Self.list(text).attributes else {
            #expect(Self.error(text) != nil)
            return
        }
        #expect(cut.dropLast() == whole.prefix(cut.count - 1))
        #expect(cut.count <= whole.count)
    }
}
