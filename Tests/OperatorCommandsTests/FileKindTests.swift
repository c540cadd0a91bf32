import ByteCoding
import Foundation
import TestSupport
import Testing

/// The messages of the inspect commands for files of another kind, and their advice.
@Suite(.tags(.startsProcesses)) struct FileKindTests {
    private let fixture: DevelopmentFixture
    private let spc: [UInt8]
    private let ckc: [UInt8]

    init() async throws {
        fixture = try DevelopmentFixture()
        let made = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", fixture.folder.path("a.spc")] + fixture.deviceArguments())
        try #require(made.status == 0, "\(made.messages)")
        spc = try fixture.folder.read("a.spc")
        ckc = try fixture.answer(spc, contentKey: [UInt8](0..<16), iv: .zero)
    }

    private func contents(_ name: String) throws -> [UInt8] {
        let text = Base64.encode(spc)
        switch name {
        case "empty": return []
        case "blank": return Array(" \n".utf8)
        case "certificate": return try fixture.folder.read("fairplay/certificate-2048.der")
        case "bundle": return try fixture.folder.read("fairplay/bundle.bin")
        case "private key": return try fixture.folder.read("fairplay/private-key-1024.pem")
        case "DER": return [0x30, 0x82, 0x00, 0x02, 0x05, 0x00]
        case "request": return Array("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n".utf8)
        case "text": return Array("Hello!\n".utf8)
        case "page": return Array("<!DOCTYPE html><html></html>".utf8)
        case "JSON": return Array(#"{"code":"token_expired"}"#.utf8)
        case "base64": return Array((text + "\n").utf8)
        case "base64 in lines":
            return Array(Data(spc).base64EncodedString(options: .lineLength76Characters).utf8)
        case "base64 for addresses": return Array(Base64URL.encode(spc).utf8)
        case "base64 twice": return Array(Base64.encode(text.utf8).utf8)
        case "base64 of hexadecimal": return Array(Base64.encode(hex(spc).utf8).utf8)
        case "hexadecimal": return Array(hex(spc).utf8)
        case "JSON member": return Array(#"{"id":1,"spc":"\#(text)"}"#.utf8)
        case "form": return Array("spc=\(text.replacing("+", with: "%2B").replacing("=", with: "%3D"))&assetId=a".utf8)
        case "element": return Array("<ckc>\(Base64.encode(ckc))</ckc>".utf8)
        case "secrets": return try fixture.folder.read("a.spc.secrets")
        case "bytes": return [UInt8](repeating: 0xFE, count: 99)
        case "truncated": return Array(spc.dropLast(16))
        default: throw CocoaError(.featureUnsupported)
        }
    }

    private static let wrongFiles: [(String, [String])] = [
        ("empty", ["empty"]), ("blank", ["empty"]),
        ("certificate", ["a certificate of a 2048-bit key", "--certificate"]),
        ("bundle", ["bundle", "1024- and 2048-bit"]), ("private key", ["a private key"]), ("DER", ["DER"]),
        ("request", ["a PEM file (CERTIFICATE REQUEST)"]), ("text", ["text"]), ("page", ["HTML"]),
        ("JSON", ["JSON text"]), ("base64", ["Base64 text of an SPC", "base64 --decode"]),
        ("base64 in lines", ["Base64 text of an SPC"]), ("base64 for addresses", ["Base64 text of an SPC"]),
        ("base64 twice", ["Base64 text of Base64 text of an SPC", "base64 --decode | base64 --decode"]),
        ("base64 of hexadecimal", ["Base64 text of hexadecimal text of an SPC", "base64 --decode | xxd -r -p"]),
        ("hexadecimal", ["hexadecimal text of an SPC", "xxd -r -p"]),
        ("JSON member", ["an SPC as Base64 text in the JSON member \"spc\"", "base64 --decode"]),
        ("form", ["an SPC as Base64 text in the form field \"spc\""]),
        ("element", ["a CKC as Base64 text in the element <ckc>"]), ("secrets", ["secrets file", "--secrets"]),
    ]

    @Test(arguments: wrongFiles)
    func saysWhatAWrongFileIsAndWhatToDo(name: String, expected: [String]) async throws {
        try fixture.folder.write(try contents(name), to: "wrong")
        for kind in ["spc", "ckc"] {
            let run = try await LatchkeyProcess(kind, "inspect", fixture.folder.path("wrong"))
            #expect(run.status == 1)
            #expect(run.output.isEmpty)
            for part in expected { #expect(run.messages.contains(part), "\(run.messages)") }
        }
    }

    @Test(arguments: [("bytes", "version would be"), ("truncated", "declares a payload")])
    func saysWhatIsWrongWithADamagedSPC(name: String, expected: String) async throws {
        try fixture.folder.write(try contents(name), to: "wrong")
        let run = try await LatchkeyProcess("spc", "inspect", fixture.folder.path("wrong"))
        #expect(run.status == 1)
        #expect(run.messages.contains(expected), "\(run.messages)")
        #expect(try await LatchkeyProcess("ckc", "inspect", fixture.folder.path("wrong")).status == 1)
    }

    @Test func tellsSPCAndCKCApart() async throws {
        try fixture.folder.write(ckc, to: "a.ckc")
        let path = fixture.folder.path("a.ckc")
        #expect(try await LatchkeyProcess("spc", "inspect", path).messages.contains("latchkey ckc inspect"))
        let other = fixture.folder.path("a.spc")
        #expect(try await LatchkeyProcess("ckc", "inspect", other).messages.contains("latchkey spc inspect"))
    }

    /// Messages never repeat the contents of secrets files and keys.
    @Test func showsNothingOfASecretFile() async throws {
        for name in ["a.spc.secrets", "fairplay/private-key-1024.pem", "fairplay/application-secret.hex"] {
            let text = String(decoding: try fixture.folder.read(name), as: UTF8.self)
            let run = try await LatchkeyProcess("spc", "inspect", fixture.folder.path(name))
            #expect(run.status == 1)
            // Long runs of letters and digits, which are keys in Base64 or hexadecimal and not words.
            let words = text.split { !$0.isLetter && !$0.isNumber }.filter { $0.count >= 16 }
            #expect(!words.isEmpty)
            for word in words { #expect(!run.messages.contains(word)) }
        }
    }
}
