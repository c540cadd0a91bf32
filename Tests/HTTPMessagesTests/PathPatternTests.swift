import HTTPMessages
import Testing

@Suite struct PathPatternTests {
    @Test(arguments: [
        "/a", "/fps/license/{kid}", "/*/contentlicenseservice/v1/licenses", "/hms/fp/rights/", "/{tenant}/fps/{kid}",
        "/a;b/c=d,e~f/-._:@!$&'()+",
    ])
    func writesWhatItReads(text: String) throws {
        #expect(try #require(PathPattern(text)).description == text)
    }

    @Test(arguments: [
        "", "a", "/", "//", "/*", "/*/", "/{kid}", "/*/{kid}", "/a//b", "/a/*", "/a*", "/a/*/b", "/{a}b/c", "/a{b}",
        "/a/{}", "/a/{b", "/a/b}", "/a/{b c}", "/a/{kid1}", "/a/{x}/{x}", "/a b", "/a%20b", "/a?b", "/a#b", "/a\"",
        "/a\\b", "/\u{e4}", "/.", "/a/../b", "/a\n", "/a/{abcdefghijklmnopqrstuvwxyzabcdefg}",
        "/" + String(repeating: "a", count: 200),
    ])
    func refusesWhatIsNoPattern(text: String) {
        #expect(PathPattern(text) == nil)
    }

    @Test(
        arguments: [
            ("/a", "/a", []), ("/fps/license/{kid}", "/fps/license/movie-1", ["movie-1"]),
            ("/fps/license/{kid}", "/fps/license/a%2Fb", ["a%2Fb"]), ("/{x}/b/{y}", "/1/b/2", ["1", "2"]),
            ("/*/v1/licenses", "/tenant/v1/licenses", []), ("/*/v1/licenses", "/a/b/c/v1/licenses", []),
            ("/*/v1/{kid}", "/a/v1/v1", ["v1"]), ("/hms/fp/rights/", "/hms/fp/rights/", []),
        ] as [(String, String, [String])])
    func findsTheValues(pattern: String, path: String, values: [String]) throws {
        let found = try #require(PathPattern(pattern)).values(in: path)
        #expect(found?.map { String($0) } == values)
    }

    @Test(arguments: [
        ("/a", "/a/"), ("/a", "/A"), ("/a", "a"), ("/a", ""), ("/a", "*"), ("/a", "/b/a"),
        ("/fps/license/{kid}", "/fps/license/"), ("/fps/license/{kid}", "/fps/license"),
        ("/fps/license/{kid}", "/fps/license/a/b"), ("/fps/license/{kid}", "/x/fps/license/a"),
        ("/*/v1/licenses", "/v1/licenses"), ("/*/v1/licenses", "//v1/licenses"), ("/*/v1/licenses", "a/v1/licenses"),
        ("/*/v1/licenses", "/a//v1/licenses"), ("/*/v1/licenses", "/a/v1/licenses/"),
        ("/hms/fp/rights/", "/hms/fp/rights"),
    ])
    func doesNotFit(pattern: String, path: String) throws {
        #expect(try #require(PathPattern(pattern)).fits(path) == false)
    }

    @Test(
        arguments: [
            ("/a", "/a", true), ("/a", "/b", false), ("/a/{x}", "/a/b", true), ("/a/{x}", "/{y}/b", true),
            ("/a/{x}", "/b/{x}", false), ("/a/{x}", "/a/", false), ("/*/b", "/a/b", true), ("/*/b", "/b", false),
            ("/*/b", "/a/c", false), ("/*/b", "/*/a/b", true), ("/*/a/b", "/*/b", true), ("/*/a/b", "/a/b", false),
            ("/*/b", "/*/c", false), ("/a/b/c", "/b/c", false),
        ] as [(String, String, Bool)])
    func knowsWhetherAPathFitsBoth(first: String, second: String, overlap: Bool) throws {
        let (first, second) = (try #require(PathPattern(first)), try #require(PathPattern(second)))
        #expect(first.overlaps(second) == overlap && second.overlaps(first) == overlap)
    }
}
