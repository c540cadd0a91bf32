import CommandLineKit
import Foundation
import Testing

@testable import PlayerTools

/// The locations of the playlists that a playlist names (RFC 3986, section 5.4, as far as it concerns `http`).
@Suite struct PlaylistPlaceTests {
    private static let base = "http://a.example/b/c/d.m3u8?q"

    private func outcome(_ reference: String, _ base: String = base, followsOthers: Bool = true) throws -> String {
        let place = try PlaylistPlace(operand: base)
        do throws(PlaylistPlaceError) {
            switch try place.resolve(reference, followsOthers: followsOthers) {
            case .standardInput: return "-"
            case .file(let path): return path
            case .address(let url): return url.absoluteString
            }
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("g", "http://a.example/b/c/g"), ("./g", "http://a.example/b/c/g"), ("g/", "http://a.example/b/c/g/"),
        ("/g", "http://a.example/g"), ("//g.example", "http://g.example"), ("g?y#s", "http://a.example/b/c/g?y"),
        ("../g", "http://a.example/b/g"), ("../../g", "http://a.example/g"), ("../../../g", "http://a.example/g"),
        ("https://h.example/x", "https://h.example/x"), ("g;x=1/../y", "http://a.example/b/c/y"),
        ("ftp://h.example/x", "notAReference"), ("data:,x", "notAReference"),
        ("http://u:p@a.example/", "notAReference"),
        ("file:///etc/hostname", "otherPlace"),
    ])
    func resolvesReferences(reference: String, expected: String) throws {
        #expect(try outcome(reference) == expected)
    }

    @Test(arguments: [
        ("g", true), ("/g", true), ("http://a.example:80/g", true), ("HTTP://A.example/g", true),
        ("https://a.example/g", false), ("http://a.example:81/g", false), ("//b.example/g", false),
        ("http://a.example.b.example/g", false),
    ])
    func comparesServers(reference: String, isSame: Bool) throws {
        #expect(try (outcome(reference, followsOthers: false) == "otherPlace") == !isSame)
    }

    @Test(arguments: [
        ("g.m3u8", "/x/y/g.m3u8"), ("z/g.m3u8", "/x/y/z/g.m3u8"), ("a%20b", "/x/y/a b"), ("z/../g", "/x/y/g"),
        ("../g", "otherPlace"), ("/x/y/g", "/x/y/g"), ("/x/yz/g", "otherPlace"), ("%2e%2e/g", "otherPlace"),
        ("z%2f..%2f..%2fg", "otherPlace"), ("//h.example/x/y/g", "otherPlace"), ("http://a.example/g", "otherPlace"),
    ])
    func staysInTheFolder(reference: String, expected: String) throws {
        #expect(try outcome(reference, "/x/y/main.m3u8", followsOthers: false) == expected)
    }

    @Test func readsOperands() throws {
        #expect(try PlaylistPlace(operand: "-") == .standardInput)
        #expect(try PlaylistPlace(operand: "/a/b.m3u8") == .file("/a/b.m3u8"))
        #expect(try PlaylistPlace(operand: "/a/../b.m3u8") == .file("/b.m3u8"))
        #expect(throws: CommandError.self) { try PlaylistPlace(operand: "ftp://a.example/b") }
        #expect(throws: CommandError.self) { try PlaylistPlace(operand: "http://u@a.example/b") }
    }
}
