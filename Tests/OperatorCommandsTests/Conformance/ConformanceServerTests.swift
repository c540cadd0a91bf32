import ByteCoding
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
    ])
    func saysWhatIsWrong(words: [String], message: String) async throws {
        let run = try await LatchkeyProcess(arguments: ["conformance"] + words)
        #expect(run.status == 2)
        #expect(run.messages.contains(message), "\(run.messages)")
    }
}
