import ByteCoding
import Testing

@testable import PlayerMessages

/// Which property lists are passed to a general reader.
@Suite struct PropertyListBoundsTests {
    /// Returns a binary list of these objects. Its top object is the first one, unless `top` names another.
    private func list(_ objects: [[UInt8]], count: UInt64? = nil, top: UInt64 = 0) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt64(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        var writer = ByteWriter(capacity: 24)
        for number in [count ?? UInt64(objects.count), top, table] { writer.write(number) }
        return bytes + writer.bytes
    }

    private let key: [UInt8] = [0x51, 0x4B]

    @Test func takesWhatReportsHave() {
        // {"K": [data, number, "K", date, true]}
        let date: [UInt8] = [0x33] + [UInt8](repeating: 0, count: 8)
        let objects = [[0xD1, 1, 2], key, [0xA5, 3, 4, 1, 5, 6], [0x44, 1, 2, 3, 4], [0x10, 7], date, [0x09]]
        #expect(PropertyListBounds.accepts(list(objects)))
        #expect(PropertyListBounds.accepts(list([[0x62, 0, 0x41, 0, 0x42]])))
        #expect(PropertyListBounds.accepts(list([[0x4F, 0x10, 0x10] + [UInt8](repeating: 1, count: 16)])))
    }

    @Test func refusesWhatIsTooDeepOrNamesItself() {
        #expect(!PropertyListBounds.accepts(list([[0xA1, 0]])))
        #expect(!PropertyListBounds.accepts(list([[0xA1, 1], [0xA1, 0]])))
        let chain = (0..<UInt8(PropertyListBounds.depthMaximum)).map { [0xA1, $0 + 1] } + [[0x09]]
        #expect(PropertyListBounds.accepts(list(chain)))
        #expect(!PropertyListBounds.accepts(list([[0xA1, 1]] + chain.map { $0.count == 2 ? [0xA1, $0[1] + 1] : $0 })))
    }

    /// These few bytes would make a reader without limits visit ten million objects.
    @Test func refusesWhatIsVisitedTooOften() {
        let wide = { (next: UInt8) in [0xAA] + [UInt8](repeating: next, count: 10) }
        let objects = (1..<UInt8(8)).map(wide) + [[0x09]]
        #expect(!PropertyListBounds.accepts(list(objects)))
        #expect(PropertyListBounds.accepts(list([wide(1), wide(2), wide(3), [0x09]])))
    }

    /// A reader copies the text each time the array refers to it.
    @Test func refusesWhatIsCopiedTooOften() {
        let text = { (size: UInt16) in
            [0x5F, 0x11] + [UInt8(size >> 8), UInt8(size & 0xFF)] + [UInt8](repeating: 0x61, count: Int(size))
        }
        let names = { (count: UInt8) in [0xAF, 0x10, count] + [UInt8](repeating: 1, count: Int(count)) }
        #expect(PropertyListBounds.copiedSizeMaximum == 128 * 512)
        #expect(PropertyListBounds.accepts(list([names(128), text(512)])))
        #expect(!PropertyListBounds.accepts(list([names(129), text(512)])))
        #expect(!PropertyListBounds.accepts(list([names(128), text(513)])))
    }

    @Test(arguments: [
        [[0x80, 1]], [[0xC1, 0]], [[0x14] + [UInt8](repeating: 0, count: 16)], [[0xD1, 1, 1], [0x09]], [[0x70]],
        [[0x45, 1]], [[0x4F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], [[0xA1, 9]], [[0x4F, 0x4F]],
        [[0xA3]], [[0x13]], [[0x69, 0]],
    ])
    func refusesOtherObjects(objects: [[UInt8]]) {
        #expect(!PropertyListBounds.accepts(list(objects)))
    }

    @Test func refusesTrailersThatDoNotFit() {
        #expect(!PropertyListBounds.accepts(list([[0x09]], count: 0)))
        #expect(!PropertyListBounds.accepts(list([[0x09]], count: 200)))
        #expect(!PropertyListBounds.accepts(list([[0x09]], count: .max)))
        #expect(!PropertyListBounds.accepts(list([[0x09]], top: 1)))
        #expect(!PropertyListBounds.accepts(list([[0x09]], top: .max)))
        let good = list([[0xD1, 1, 2], key, [0x44, 1, 2, 3, 4]])
        for size in 0..<good.count { #expect(!PropertyListBounds.accepts(Array(good[..<size]))) }
        for index in 8..<good.count {
            for bit in 0..<8 {
                var bytes = good
                bytes[index] ^= 1 << bit
                _ = PropertyListBounds.accepts(bytes)
            }
        }
    }

    @Test func boundsXML() {
        let start =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
            + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">"
        let accepts = { (text: String) in PropertyListBounds.accepts(Array("\(start)\(text)</plist>".utf8)) }
        #expect(accepts("<dict><key>PlaybackSessionID</key><data>AQID</data></dict>"))
        #expect(accepts("<dict/>"))
        #expect(!accepts(String(repeating: "<array>", count: 2000)))
        #expect(!accepts(String(repeating: "<true/>", count: PropertyListBounds.visitMaximum)))
        #expect(!accepts("<!-- </array> --><dict/>"))
        #expect(!accepts("<![CDATA[x]]>"))
        #expect(!accepts("<?x?>"))
        #expect(!accepts("<dict"))
        #expect(!accepts("<>"))
        let long = String(repeating: "a", count: 50_000)
        for name in ["a", "dict2", "Dict", "/a", "true//", "true/a", "string// x", long] {
            #expect(!accepts("<\(name)>"))
        }
        #expect(accepts("<true /><true a=\"b\"/><array ></array >"))
        #expect(!PropertyListBounds.accepts(Array("<".utf8)))
        #expect(!PropertyListBounds.accepts(Array("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>".utf8)))
        #expect(!PropertyListBounds.accepts([]))
    }

    @Test(arguments: [
        ("<?xml version=\"1.0\"?>", true), ("<?xml version='1.0' encoding='utf-8'?>", true), ("", true),
        ("<?xml version=\"1.0\" encoding=\"UTF-7\"?>", false), ("<?xml version=\"1.0\" encoding=\"IBM037\"?>", false),
        ("<?xml encoding=\"UTF-8\" encoding=\"UTF-7\"?>", false), ("<?xml >", false), ("<?xml ?>", false),
        ("<?xml version=\"1.0\">", false),
    ])
    func takesTheDeclarationsOfPlayersAlone(declaration: String, isTaken: Bool) {
        #expect(PropertyListBounds.accepts(Array("\(declaration)<plist><dict/></plist>".utf8)) == isTaken)
    }

    /// A reader ends a declaration at `?>`, so the closing tags inside the declaration close no element.
    @Test func countsNoLevelsWithinADeclaration() {
        let deep = String(repeating: "<array>", count: 20) + String(repeating: "</array>", count: 20)
        #expect(!PropertyListBounds.accepts(Array(deep.utf8)))
        #expect(!PropertyListBounds.accepts(Array("<?xml >\(String(repeating: "</a>", count: 20))?>\(deep)".utf8)))
    }
}
