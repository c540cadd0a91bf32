import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto

/// The files for the tester of a server: the credential, the keys, and the SPCs of a fixed seed with what must come of
/// them.
enum ConformanceVectors {
    /// The seed of the published SPCs, and the time that they state.
    static let seed = [UInt8](repeating: 0, count: 16)
    static let now: UInt32 = 1_700_000_000

    /// The files by name. They are always the same.
    static func files() throws(CryptoError) -> [(name: String, contents: [UInt8])] {
        let credential = ConformanceCredential.self
        return [
            ("certificate-1024.der", credential.certificate1024), ("certificate-2048.der", credential.certificate2048),
            ("bundle.bin", credential.certificate1024 + credential.certificate2048),
            ("private-key-1024.pem", credential.pem(credential.privateKey1024)),
            ("private-key-2048.pem", credential.pem(credential.privateKey2048)),
            ("application-secret.hex", Array((Hexadecimal.encode(credential.applicationSecret) + "\n").utf8)),
            ("certificates.json", certificates), ("keys.jsonl", keys), ("cases.json", try cases()),
        ]
    }

    /// Writes the files to a new or an empty folder, all or none. No file is overwritten.
    static func write(to folder: String) throws(CommandError) {
        let files = try wrap(CommandError.cryptography, try files())
        let manager = FileManager.default
        let isNew = !manager.fileExists(atPath: folder)
        guard isNew || (try? manager.contentsOfDirectory(atPath: folder))?.isEmpty ?? false else {
            throw .failed("\(folder) has files, or is no folder that can be read; name a new folder")
        }
        let part = "\(folder)/.\(UInt32.random(in: .min ... .max)).part"
        var moved: [String] = []
        do {
            try manager.createDirectory(atPath: part, withIntermediateDirectories: true)
            for (name, contents) in files {
                // A server refuses secrets that all users can read, also these.
                let isSecret =
                    name.hasPrefix("private-key") || name.hasPrefix("application") || name == "certificates.json"
                try NewFile.write(contents, to: "\(part)/\(name)", mode: isSecret ? 0o600 : 0o644)
            }
            for (name, _) in files {
                // This fails if there is a file of that name by now.
                try manager.moveItem(atPath: "\(part)/\(name)", toPath: "\(folder)/\(name)")
                moved.append(name)
            }
            try manager.removeItem(atPath: part)
        } catch {
            for name in moved { try? manager.removeItem(atPath: "\(folder)/\(name)") }
            try? manager.removeItem(atPath: isNew ? folder : part)
            throw .failed("cannot write to the folder \(folder)")
        }
    }

    /// The credential in the older form of an SDK's file (SDK 26, section 2), which serves SPCs of version 1.
    private static var certificates: [UInt8] {
        JSONWriter.object { writer in
            writer.array("certificates") { writer in
                writer.object { writer in
                    writer.member("certificate", "certificate-1024.der")
                    writer.member("1024-private-key", "private-key-1024.pem")
                    writer.member("ask", Hexadecimal.encode(ConformanceCredential.applicationSecret))
                }
            }
        } + [UInt8(ascii: "\n")]
    }

    /// The content keys, as `latchkey keys import --file` reads them, with a line for each further asset id of a key.
    private static var keys: [UInt8] {
        ConformanceKind.allCases.flatMap { kind in
            let aliases: [[UInt8]?] = kind.aliases.isEmpty ? [nil] : kind.aliases
            return aliases.flatMap { alias in line(kind, alias) + [UInt8(ascii: "\n")] }
        }
    }

    private static func line(_ kind: ConformanceKind, _ alias: [UInt8]?) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("kid", Hexadecimal.encode(kind.keyID))
            writer.member("content", text(kind.assetID))
            writer.member("key", Hexadecimal.encode(kind.contentKey))
            writer.member("iv", Hexadecimal.encode(kind.contentIV))
            if kind == .protected {
                writer.member("hdcp", "type1")
                writer.member("securityLevel", "baseline")
            }
            if let alias { writer.member("alias", text(alias)) }
        }
    }

    private static func text(_ assetID: [UInt8]) -> String {
        String(validating: assetID, as: UTF8.self) ?? "hex:" + Hexadecimal.encode(assetID)
    }

    /// All cases, one in a line.
    private static func cases() throws(CryptoError) -> [UInt8] {
        let crypto = try CryptoContext()
        let lines = try ConformanceCase.all.map { (test) throws(CryptoError) in
            let question = try test.question(seed: seed, now: now, using: crypto)
            return JSONWriter.object { write(test, question, to: &$0) }
        }
        return Array("[\n".utf8) + lines.joined(separator: ",\n".utf8) + Array("\n]\n".utf8)
    }

    private static func write(_ test: ConformanceCase, _ question: ConformanceQuestion, to writer: inout JSONWriter) {
        writer.member("family", test.family.rawValue)
        writer.member("name", test.name)
        writer.member("rule", "protocol, section \(test.rule)")
        writer.member("kind", test.kind.rawValue)
        writer.member("outcome", test.outcome.rawValue)
        if let tolerance = test.tolerance { writer.member("tolerance", tolerance) }
        if test.outcome == .license {
            let (options, secrets) = (question.options, question.request.secrets)
            writer.object("facts") { writer in
                writer.member("assetID", Hexadecimal.encode(options.assetID))
                writer.member("deviceID", Hexadecimal.encode(secrets.deviceID.bytes))
                writer.member("transactionID", hexadecimal: options.transactionID ?? 0)
                writer.member("r1", Hexadecimal.encode(secrets.r1))
                writer.member("antiReplaySeed", Hexadecimal.encode(secrets.antiReplaySeed.bytes))
                writer.member("returned", secrets.expectedEchoes.map { Hexadecimal.encode(Array($0.prefix(8))) })
            }
            let validity = test.kind.validity(for: options.capabilities)
            writer.member("terms", LicenseTerms(validity: validity, hdcp: test.kind.hdcp).summary)
        }
        writer.member("spc", base64: question.request.message)
    }
}
