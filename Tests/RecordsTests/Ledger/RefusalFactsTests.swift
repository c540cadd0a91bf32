import ByteCoding
import Testing

@testable import Records

@Suite struct RefusalFactsTests {
    private static let entry: LedgerEntry = {
        var entry = LedgerEntry(
            kind: .licenseRefused, at: 1_700_000_000,
            license: LicenseID(milliseconds: 1_700_000_000_250, random: .zero), detail: "c")
        entry.facts[.expected] = "B"
        entry.facts[.listener] = "p"
        return entry
    }()

    @Test func keepsEachFactOnceInTheOrderOfTheNames() {
        var facts = RefusalFacts(found: "x", expected: "y")
        facts[.listener] = "public"
        facts[.issuer] = "portal"
        facts[.issuer] = "other"
        #expect(facts.all.map(\.name) == [.listener, .issuer, .found, .expected])
        #expect(facts.all.map(\.text) == ["public", "other", "x", "y"])
        facts[.found] = nil
        facts[.listener] = ""
        #expect(facts.all.map(\.name) == [.issuer, .expected] && facts[.found] == nil)
        var more = RefusalFacts(found: "z", expected: "other")
        more[.client] = "192.0.2.0/24"
        facts.add(more)
        #expect(facts.all.map(\.text) == ["192.0.2.0/24", "other", "z", "y"])
    }

    @Test(arguments: RefusalFacts.Name.allCases)
    func cutsATextAndObeysNoTerminal(name: RefusalFacts.Name) {
        var facts = RefusalFacts()
        facts[name] = String(repeating: "é", count: 200)
        #expect(facts[name] == String(repeating: "é", count: name.sizeMaximum / 2))
        facts[name] = "a\u{1B}[31m\n\u{9B}b"
        #expect(facts[name] == "a?[31m??b")
        #expect(RefusalFacts.Name.allCases.filter { $0.word == name.word } == [name])
    }

    @Test func isEncodedAsDocumented() throws {
        let parts = ["01 03 00010000", "018bcfe568fa 0000 0000000000000000", "01 63", "02", "01 01 70", "0a 01 42"]
        #expect(Hexadecimal.encode(Self.entry.encoded()) == parts.joined().filter { $0 != " " })
        #expect(try LedgerEntry(parsing: Self.entry.encoded()) == Self.entry)
    }

    /// They have fields of their own, which the indexes read.
    @Test func leavesContentKeyAndSubjectToTheEntry() {
        var entry = Self.entry
        for name in [RefusalFacts.Name.content, .keyID, .subject, .device] { entry.facts[name] = "x" }
        #expect(entry == Self.entry)
    }

    @Test(arguments: [
        ("no fact", "00"), ("a fact twice", "02 01 01 70 01 01 70"), ("another order", "02 0a 01 42 01 01 70"),
        ("an unknown fact", "01 0f 01 70"), ("a fact with a field of its own", "01 06 01 70"),
        ("an empty fact", "01 01 00"), ("a control character", "01 01 01 1b"),
        ("a text that is too long", "01 01 41" + String(repeating: "61", count: 65)),
    ])
    func refuses(what: String, digits: String) throws {
        let head = "01 03 00010000 018bcfe568fa00000000000000000000 01 63"
        let bytes = try Hexadecimal.decode((head + digits).filter { $0 != " " })
        #expect(throws: LedgerEntryError.notCanonical, "\(what)") { try LedgerEntry(parsing: bytes) }
    }

    @Test func isFoundByTheRequest() {
        var entry = Self.entry
        entry.request = "4be1c7a2d0396f58"
        let query = LedgerQuery(request: "4be1c7a2d0396f58")
        #expect(query.matches(entry) && !query.matches(Self.entry))
        #expect(query.term.map(entry.terms.contains) == true)
        #expect(query.term.map(Self.entry.terms.contains) == false)
    }
}
