import ByteCoding
import Foundation
import TestSupport
import Testing

@testable import PlayerTools

/// How answers are read, and what the command says of wrong arguments.
@Suite(.tags(.startsProcesses)) struct ConformanceServerTests {
    private static let ckc: [UInt8] = [0, 0, 0, 1] + [UInt8](repeating: 0xA5, count: 40)
    private static let digits = Base64.encode(ckc)

    @Test(arguments: [
        digits, digits + "\n", "<ckc>\(digits)</ckc>", #"{"ckc":"\#(digits)"}"#, #"{"ckcMessage":"\#(digits)"}"#,
        #"{"getFairplayLicenseResponse":{"ckcResponse":"\#(digits)"}}"#, #"[{"keyID":"AA==","payload":"\#(digits)"}]"#,
        #"{"fairplay-streaming-response":{"streaming-keys":[{"id":1,"status":0,"ckc":"\#(digits)"}]}}"#,
    ])
    func findsTheCKC(text: String) throws {
        #expect(Self.found(Array(text.utf8)) == Self.ckc)
        #expect(Self.found(Self.ckc) == Self.ckc)
    }

    @Test(arguments: ["", "no license", #"{"ckcMessage":"INTERNAL ERROR"}"#, #"{"status":-42605}"#, "<html></html>"])
    func everythingElseIsARefusal(text: String) {
        #expect(Self.found(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        (#"{"status":-42605}"#, true), (#"[{"keyID":"AA==","error":"denied"}]"#, true), (#"{"errorCode":3}"#, true),
        (#"{"fairplay-streaming-response":{"streaming-keys":[{"id":1,"status":-42605}]}}"#, true),
        (#"{"status":0}"#, false), (#"{"status":200,"error":null}"#, false), ("{}", false),
        (#"{"status":"ok"}"#, false),
    ])
    func readsErrorsInJSON(text: String, isError: Bool) throws {
        #expect(ConformanceServer.tellsError(try JSONReader.parse(Array(text.utf8))) == isError)
    }

    @Test func writesOnlyToAnEmptyFolder() async throws {
        let folder = try TemporaryDirectory()
        let (new, full) = ("\(folder.path)/new", "\(folder.path)/full")
        let names = { try FileManager.default.contentsOfDirectory(atPath: $0).sorted() }
        for (path, size) in [(new, 9), (full, 1)] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            if size == 1 { try folder.write("mine".utf8, to: "full/private-key-2048.pem") }
            let run = try await LatchkeyProcess(arguments: ["conformance", "--write", path])
            #expect(run.status == (size == 1 ? 1 : 0), "\(run.messages)")
            #expect(try names(path).count == size)
        }
        let again = try await LatchkeyProcess(arguments: ["conformance", "--write", full])
        #expect(again.messages.contains("has files") && again.messages.contains("name a new folder"))
        #expect(try String(contentsOfFile: "\(full)/private-key-2048.pem", encoding: .utf8) == "mine")
    }

    @Test(arguments: [
        ("--report", "missing/report.json", "cannot write"), ("--report", ".", "not a regular file"),
        ("--ca", "ca.pem", "has no certificates in PEM"),
    ])
    func saysBeforeTheRunWhatCannotBe(option: String, name: String, message: String) async throws {
        let folder = try TemporaryDirectory()
        try folder.write("none".utf8, to: "ca.pem")
        let words = ["conformance", "--url", "http://127.0.0.1:1", option, "\(folder.path)/\(name)"]
        let run = try await LatchkeyProcess(arguments: words)
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.messages.contains(message), "\(run.messages)")
    }

    private static func found(_ body: [UInt8]) -> [UInt8]? {
        if case .ckc(let bytes) = ConformanceServer.content(of: body, status: 200) { bytes } else { nil }
    }

    @Test(arguments: [
        ([], "give either"), (["--url", "http://127.0.0.1:1", "--library", "x"], "give either"),
        (["--url", "http://127.0.0.1:1", "--form", "xml"], "--form takes"),
        (["--url", "http://127.0.0.1:1", "--kinds", "leases"], "--kinds takes"),
        (["--url", "http://127.0.0.1:1", "--spc-version", "4"], "--spc-version takes"),
        (["--url", "http://127.0.0.1:1", "--header", "x"], "--header takes"),
        (["--url", "http://127.0.0.1:1", "--seed", "00"], "--seed takes"), (["--library", "x"], "--certificates FILE"),
        (["--url", "http://127.0.0.1:1", "--inputs", "x"], "--inputs needs --library"),
        (["--library", "x", "--form", "json"], "--form needs --url"),
        (["--url", "http://127.0.0.1:1", "--form", "json:"], "--form takes"),
        (["--write", "x", "--url", "http://127.0.0.1:1"], "--url is not for it"),
        (["--write", "x", "--report", "y"], "--report is not for it"),
    ])
    func saysWhatIsWrong(words: [String], message: String) async throws {
        let run = try await LatchkeyProcess(arguments: ["conformance"] + words)
        #expect(run.status == 2)
        #expect(run.messages.contains(message), "\(run.messages)")
    }
}
