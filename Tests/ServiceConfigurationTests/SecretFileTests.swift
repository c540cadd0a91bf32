import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct SecretFileTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
    }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    private func read(_ name: String) throws -> [UInt8] {
        try SecretFile.read(.file(path: path(name)), environment: [:]).revealed()
    }

    @Test(arguments: [0o400, 0o440, 0o600, 0o640])
    func readsWhatOwnerAndGroupMayRead(mode: Int) throws {
        try folder.write("secret", "abc", mode: mode)
        #expect(try read("secret") == Array("abc".utf8))
    }

    @Test(arguments: [0o644, 0o604, 0o660, 0o620, 0o641, 0o650, 0o700, 0o666, 0o777])
    func refusesWiderPermissions(mode: Int) throws {
        try folder.write("secret", "abc", mode: mode)
        #expect(throws: FileError.permissionsTooWide(path: path("secret"), mode: UInt32(mode))) { try read("secret") }
    }

    @Test func theRefusalSaysWhatToRun() {
        let error = FileError.permissionsTooWide(path: "/a b/it's", mode: 0o644)
        #expect(error.description.hasSuffix(#"run: chmod 0640 '/a b/it'\''s'"#))
        #expect(FileError.permissionsTooWide(path: "/a/b", mode: 0o644).description.hasSuffix("run: chmod 0640 /a/b"))
    }

    @Test func publicFilesMayBeReadByAll() throws {
        try folder.write("certificate", "abc", mode: 0o644)
        let contents = try SecretFile.readPublic(.file(path: path("certificate")), environment: [:])
        #expect(contents.revealed() == Array("abc".utf8))
    }

    @Test(arguments: [1, 4096, SecretFile.sizeMaximum])
    func readsEverySizeUpToTheLimit(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        try folder.write("secret", bytes)
        #expect(try read("secret") == bytes)
    }

    @Test func refusesALargerFile() throws {
        try folder.write("secret", [UInt8](repeating: 7, count: SecretFile.sizeMaximum + 1))
        #expect(throws: FileError.tooLarge(path: path("secret"), maximum: SecretFile.sizeMaximum)) {
            try read("secret")
        }
    }

    @Test func refusesAnEmptyFile() throws {
        try folder.write("secret", "")
        #expect(throws: FileError.empty(path: path("secret"))) { try read("secret") }
    }

    @Test(arguments: ["nothing", "secrets/admin-token/x"])
    func refusesAnAbsentFile(name: String) throws {
        #expect(throws: FileError.notFound(path: path(name))) { try read(name) }
    }

    @Test func followsSymbolicLinks() throws {
        try folder.write("target", "abc")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("target"))
        #expect(try read("link") == Array("abc".utf8))
    }

    @Test func judgesThePermissionsBehindALink() throws {
        try folder.write("target", "abc", mode: 0o644)
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("target"))
        #expect(throws: FileError.permissionsTooWide(path: path("link"), mode: 0o644)) { try read("link") }
    }

    @Test(.timeLimit(.minutes(1)))
    func refusesWhatIsNoRegularFileWithoutWaiting() throws {
        #expect(unsafe mkfifo(path("pipe"), 0o600) == 0)
        #expect(throws: FileError.notARegularFile(path: path("pipe"))) { try read("pipe") }
        #expect(throws: FileError.notARegularFile(path: path("secrets"))) { try read("secrets") }
        #expect(throws: FileError.notARegularFile(path: "/dev/zero")) {
            _ = try SecretFile.readPublic(.file(path: "/dev/zero"), environment: [:])
        }
    }

    @Test func findsSystemdCredentials() throws {
        try folder.write("kek", "abc", mode: 0o400)
        let source = SecretSource.credential(name: "kek")
        let contents = try SecretFile.read(source, environment: ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(contents.revealed() == Array("abc".utf8))
        #expect(throws: FileError.credentialsDirectoryMissing(name: "kek")) {
            _ = try SecretFile.read(source, environment: [:])
        }
        #expect(throws: FileError.credentialsDirectoryMissing(name: "kek")) {
            _ = try SecretFile.read(source, environment: ["CREDENTIALS_DIRECTORY": "relative"])
        }
    }

    /// latchkey.service sets a hyphen in place of a file that is not there.
    @Test func namesACredentialThatWasNotLoaded() throws {
        try folder.write("kek", "-", mode: 0o400)
        let environment = ["CREDENTIALS_DIRECTORY": folder.path]
        let error = FileError.credentialNotLoaded(name: "kek")
        #expect(throws: error) { _ = try SecretFile.read(.credential(name: "kek"), environment: environment) }
        #expect(throws: error) { _ = try SecretFile.readPublic(.credential(name: "kek"), environment: environment) }
        #expect(error.description.contains("LoadCredential=kek:PATH is not there") && error.isAbsence)
        #expect(try read("kek") == [UInt8(ascii: "-")])
    }

    @Test func tellsAUserOfTheCommandLineWhatToDo() {
        let error = FileError.forbidden(path: "/nowhere/key")
        #expect(error.commandDescription.hasPrefix("this user may not read /nowhere/key; run the command as"))
        #expect(FileError.empty(path: "/a").commandDescription == FileError.empty(path: "/a").description)
    }

    @Test func followsAVariableToItsFile() throws {
        try folder.write("kek", "abc")
        let source = SecretSource.environment(variable: "KEK")
        #expect(try SecretFile.read(source, environment: ["KEK": path("kek")]).revealed() == Array("abc".utf8))
        #expect(throws: FileError.variableMissing(name: "KEK")) { _ = try SecretFile.read(source, environment: [:]) }
        #expect(throws: FileError.variableNotAPath(name: "KEK")) {
            _ = try SecretFile.read(source, environment: ["KEK": "abc"])
        }
    }

    @Test(arguments: [
        ("plain-secret", "plain-secret"), ("with a line end\n", "with a line end\n"), ("line-end\r\n", "line-end"),
        ("\n", "\n"), ("ends in zero\0\n", "ends in zero\0\n"),
    ])
    func sharedSecretsLoseOnlyTheLineEndOfAText(contents: String, secret: String) throws {
        try folder.write("hs256", contents)
        let read = try SecretFile.readSharedSecret(.file(path: path("hs256")), environment: [:])
        #expect(read.revealed() == Array(secret.utf8))
    }
}

@Suite struct EncodedSecretTests {
    private static let secret: [UInt8] = Array(0xF0...0xFF)

    private func decode(_ contents: [UInt8], size: Int = 16) -> [UInt8]? {
        guard let secret = EncodedSecret.decode(SecretBytes(copying: contents), size: size) else { return nil }
        return secret.revealed()
    }

    @Test(arguments: [
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF\n",
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff \r\n",
        "8PHy8/T19vf4+fr7/P3+/w==", "8PHy8/T19vf4+fr7/P3+/w==\n",
        "0xf0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", " f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "\u{FEFF}f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\r\n",
        "F0:F1:F2:F3:F4:F5:F6:F7:F8:F9:FA:FB:FC:FD:FE:FF", "f0f1f2f3 f4f5f6f7 f8f9fafb fcfdfeff",
        "\u{FEFF}0XF0F1F2F3F4F5F6F7\nF8F9FAFBFCFDFEFF", "f0,f1,f2,f3,f4,f5,f6,f7,f8,f9,fa,fb,fc,fd,fe,ff",
        "0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff",
    ])
    func readsTexts(text: String) {
        #expect(decode(Array(text.utf8)) == Self.secret)
    }

    @Test func readsRawBytes() {
        #expect(decode(Self.secret) == Self.secret)
        let endsLikeAText = Array(0xF0...0xFE) + [0x0A] as [UInt8]
        #expect(decode(endsLikeAText) == endsLikeAText)
    }

    @Test func readsA32ByteKeyInEachForm() {
        let key = [UInt8](repeating: 0xA5, count: 32)
        #expect(decode(Array(String(repeating: "a5", count: 32).utf8), size: 32) == key)
        #expect(decode(Array("paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaU=".utf8), size: 32) == key)
        #expect(decode(key, size: 32) == key)
    }

    @Test(arguments: [
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfe", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfefff", "g0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "0xf0f1f2f3f4f5f6f7f8f9fafbfcfdfe", "0x0xf0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "8PHy8/T19vf4+fr7/P3+/w", "\n",
        "f00xf1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "f0-f1-f2-f3-f4-f5-f6-f7-f8-f9-fa-fb-fc-fd-fe-ff", "\"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\"",
        "8PHy8/T19vf4+fr7/P3+/x==", "8PHy8_T19vf4-fr7_P3-_w==", "8PHy8/T19vf4+fr7/P3+",
    ])
    func refusesOtherTexts(text: String) {
        #expect(decode(Array(text.utf8)) == nil)
    }

    @Test func refusesAKeyOfHalfTheSizeInHexadecimal() {
        #expect(decode(Array("f0f1f2f3f4f5f6f7".utf8)) == nil)
        #expect(decode(Array("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff".utf8), size: 32) == nil)
        // Digits with marks between them that have the size of a raw secret.
        for text in ["f0:f1:f2:f3:f4:f", "0xf0f1f2f3f4f5f6", "f0f1f2f3f4f5f6\r\n"] {
            #expect(decode(Array(text.utf8)) == nil)
        }
    }

    @Test(arguments: [
        ("f0:f1", "it holds 4 hexadecimal digits"), ("8PHy8/T19vf4+fr7/P3+", "it holds 15 bytes as Base64"),
        ("no secret at all", "it holds 16 bytes in another form"),
    ])
    func saysWhatAFileHolds(text: String, words: String) {
        #expect(EncodedSecret.form(of: SecretBytes(copying: Array(text.utf8))) == words)
    }
}
