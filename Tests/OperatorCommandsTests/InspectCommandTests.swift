import ByteCoding
import FairPlay
import Foundation
import TestSupport
import Testing

/// `device make-spc`, `spc inspect` and `ckc inspect`, which work without a server.
@Suite(.tags(.startsProcesses)) struct InspectCommandTests {
    private let fixture: DevelopmentFixture
    private var folder: TemporaryDirectory { fixture.folder }

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func makeSPC(_ name: String, _ more: String...) async throws -> [UInt8] {
        let run = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", folder.path(name)] + fixture.deviceArguments() + more)
        try #require(run.status == 0, "\(run.messages)")
        return try folder.read(name)
    }

    @Test(arguments: [1, 2, 3])
    func makesAnSPCThatTheServerAnswersAndItsSecretsOpen(version: Int) async throws {
        let spc = try await makeSPC("a.spc", "--spc-version", "\(version)")
        #expect(try folder.mode("a.spc.secrets") == 0o600)
        let key = [UInt8](0x20...0x2F)
        let iv = Bytes16([UInt8](0x40...0x4F), at: 0)
        let lease = try #require(LicenseSeconds(300))
        let rental = try #require(LicenseSeconds(7200))
        let terms = LicenseTerms(validity: .duration(.leaseAndRental(lease: lease, rental: rental)), hdcp: .type1)
        try folder.write(try fixture.answer(spc, contentKey: key, iv: iv, terms: terms), to: "a.ckc")

        let run = try await LatchkeyProcess(
            "ckc", "inspect", folder.path("a.ckc"), "--secrets", folder.path("a.spc.secrets"), "--json")
        #expect(run.status == 0, "\(run.messages)")
        let license = try #require(try run.object()["license"]?.object)
        #expect(license["contentKey"]?.string == Hexadecimal.encode(key))
        #expect(license["contentIV"]?.string == Hexadecimal.encode(iv.bytes))
        #expect(license["lease"]?.number?.unsigned == 300)
        #expect(license["rental"]?.number?.unsigned == 7200)
        #expect(license["hdcp"]?.string == "type1")
        #expect(license["keyType"]?.string == "leaseAndRental")
        #expect(license["offlineKey"]?.isNull == true)
        #expect(license["securityLevel"]?.isNull == true)
        #expect(license["licenseVersion"]?.number?.unsigned == 1)
        #expect(license["sessionKeyVersion"]?.isNull == true)

        let text = try await LatchkeyProcess(
            "ckc", "inspect", folder.path("a.ckc"), "--secrets", folder.path("a.spc.secrets"))
        #expect(text.output.contains(Hexadecimal.encode(key)))
    }

    @Test func showsTheOuterLayoutWithoutSecrets() async throws {
        let spc = try await makeSPC("a.spc")
        try folder.write(try fixture.answer(spc, contentKey: [UInt8](0..<16), iv: .zero), to: "a.ckc")

        let inspected = try await LatchkeyProcess("spc", "inspect", folder.path("a.spc"), "--json").object()
        #expect(inspected["version"]?.number?.unsigned == 1)
        #expect(inspected["bytes"]?.number?.unsigned == UInt64(spc.count))
        #expect(inspected["wrappedKeyBytes"]?.number?.unsigned == 128)
        #expect(inspected["certificateHash"]?.string?.count == 40)
        #expect(inspected["blocks"]?.isNull == true)
        let license = try await LatchkeyProcess("ckc", "inspect", folder.path("a.ckc"), "--json").object()
        #expect(license["version"]?.number?.unsigned == 1)
        #expect(license["license"]?.isNull == true)
    }

    @Test func showsTheBlocksWithTheSecrets() async throws {
        _ = try await makeSPC("a.spc")
        let run = try await LatchkeyProcess(
            "spc", "inspect", folder.path("a.spc"), "--secrets", folder.path("a.spc.secrets"), "--json")
        let blocks = try #require(try run.object()["blocks"]?.array).compactMap(\.object)
        let assetID = try #require(blocks.first { $0["name"]?.string == "asset id" })
        #expect(assetID["tag"]?.string == "1bf7f53f5d5d5a1f")
        #expect(assetID["value"]?.string == Hexadecimal.encode("movie-1".utf8))
        #expect(blocks.contains { $0["name"]?.string == "media playback state" })
        #expect(blocks.contains { $0["name"]?.isNull == true }, "unknown blocks have no name")
    }

    @Test func leavesOutThePlaybackStateWhenItIsTold() async throws {
        _ = try await makeSPC("a.spc", "--no-playback-state")
        let run = try await LatchkeyProcess(
            "spc", "inspect", folder.path("a.spc"), "--secrets", folder.path("a.spc.secrets"))
        #expect(run.status == 0)
        #expect(!run.output.contains("media playback state"))
    }

    @Test func takesAnAssetIDInHexadecimal() async throws {
        let run = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", folder.path("a.spc"), "--json"]
                + fixture.deviceArguments().dropLast() + ["hex:00ff10"])
        #expect(run.status == 0)
        let inspected = try await LatchkeyProcess(
            "spc", "inspect", folder.path("a.spc"), "--secrets", folder.path("a.spc.secrets"))
        #expect(inspected.output.contains("00ff10"))
    }

    @Test func refusesTheSecretsOfAnotherSPC() async throws {
        let spc = try await makeSPC("a.spc")
        _ = try await makeSPC("b.spc")
        try folder.write(try fixture.answer(spc, contentKey: [UInt8](0..<16), iv: .zero), to: "a.ckc")
        for words in [["spc", "inspect", folder.path("a.spc")], ["ckc", "inspect", folder.path("a.ckc")]] {
            let run = try await LatchkeyProcess(arguments: words + ["--secrets", folder.path("b.spc.secrets")])
            #expect(run.status == 1)
            #expect(run.output.isEmpty)
        }
    }

    @Test func refusesAnAlteredCKCAndShowsNoKey() async throws {
        let spc = try await makeSPC("a.spc")
        var answer = try fixture.answer(spc, contentKey: [UInt8](repeating: 0xAB, count: 16), iv: .zero)
        answer[40] ^= 1
        try folder.write(answer, to: "a.ckc")
        let run = try await LatchkeyProcess(
            "ckc", "inspect", folder.path("a.ckc"), "--secrets", folder.path("a.spc.secrets"), "--json")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(!run.messages.contains("abababab"))
    }

    @Test(arguments: [
        [String](), ["--application-secret", "00", "--dask", "00"], ["--application-secret", "00"],
        ["--dask", "zz"], ["--dask", "000102030405060708090a0b0c0d0e"],
    ])
    func needsOneSecretOf16Bytes(words: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: [
                "device", "make-spc", "--output", folder.path("a.spc"), "--certificate", fixture.fairPlay("bundle.bin"),
                "--asset-id", "movie-1",
            ] + words)
        #expect(run.status != 0)
        #expect(run.messages.contains("--application-secret") || run.messages.contains("--dask"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("a.spc")))
    }

    @Test(arguments: ["hex", "file", "at", "input", "bytes"])
    func takesTheSecretInEverySpelling(spelling: String) async throws {
        let digits = String(decoding: try folder.read("fairplay/application-secret.hex"), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try folder.write(try Hexadecimal.decode(digits), to: "secret.bin")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("secret.bin"))
        let values = [
            "hex": digits, "file": fixture.fairPlay("application-secret.hex"),
            "at": "@" + fixture.fairPlay("application-secret.hex"), "input": "-", "bytes": folder.path("secret.bin"),
        ]
        let run = try await LatchkeyProcess(
            arguments: [
                "device", "make-spc", "--output", folder.path("a.spc"), "--asset-id", "movie-1",
                "--certificate", fixture.fairPlay("certificate-1024.der"),
                "--application-secret", try #require(values[spelling]),
            ], input: spelling == "input" ? digits + "\n" : "")
        #expect(run.status == 0, "\(run.messages)")
        // The server opens it only if the secret was read right.
        _ = try fixture.answer(folder.read("a.spc"), contentKey: [UInt8](0..<16), iv: .zero)
        #expect(run.messages.contains("chmod") == (spelling == "bytes"), "\(run.messages)")
    }

    @Test func namesTheCertificateThatTheVersionNeeds() async throws {
        let run = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", folder.path("a.spc"), "--spc-version", "2"]
                + fixture.deviceArguments(certificate: "certificate-1024.der"))
        #expect(run.status == 1)
        #expect(run.messages.contains("2048"))
        let other = try await LatchkeyProcess(
            arguments: ["device", "make-spc", "--output", folder.path("a.spc")]
                + fixture.deviceArguments(certificate: "private-key-1024.pem"))
        #expect(other.status == 1)
        #expect(other.messages.contains("not a certificate"))
        #expect(other.messages.contains("PEM"))
    }
}
