import CommandLineKit
import CommandSupport
import FairPlay
import Foundation
import KeyCrypto

/// An SPC from a file, with which a library is tried.
struct ProofSample {
    /// The name of the file.
    let name: String
    let message: [UInt8]
    /// What the file asks for; nil for an SPC of a device.
    let wish: SDKTestInput.Wish?

    /// A file with the request of an SPC, or the finding that it has none.
    enum File {
        case sample(ProofSample)
        case unusable(DoctorFinding)
    }

    /// Reads the test inputs in a folder, in the order of their names. Throws if there are none.
    static func testInputs(in folder: String) throws(CommandError) -> [File] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
        } catch {
            throw .failed("the folder \(folder) cannot be read")
        }
        guard !names.isEmpty else { throw .failed("the folder \(folder) has no file *.json") }
        var files: [File] = []
        for name in names.sorted() { files.append(try testInput(at: "\(folder)/\(name)", name)) }
        return files
    }

    private static func testInput(at path: String, _ name: String) throws(CommandError) -> File {
        let text = try CommandFile.read(path).revealed()
        do throws(SDKTestInputFault) {
            let input = try SDKTestInput(parsing: text)
            return .sample(ProofSample(name: name, message: input.message, wish: input.wish))
        } catch {
            return .unusable(
                .bad(
                    "\(name).read", "the test input cannot be read: \(error)",
                    remedy: "take the file from the delivery again, and leave only test inputs in the folder"))
        }
    }

    /// Reads the SPC of a device.
    static func deviceSPC(at path: String) throws(CommandError) -> File {
        let message = try CommandFile.read(path, sizeMaximum: SPCEnvelope.sizeMaximum).revealed()
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return .sample(ProofSample(name: name, message: message, wish: nil))
    }
}
