import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto

/// Tries a library with the test inputs of an SDK, which a licensee has on disk.
///
/// Their devices have secrets that only Apple's library opens, so key and terms cannot be compared.
struct ConformanceInputs {
    let library: ConformanceLibrary

    /// Tries every `*.json` in a folder, in the order of the names.
    func results(in folder: String) async throws(CommandError) -> [ConformanceResult] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasSuffix(".json") }.sorted()
        guard !names.isEmpty else { throw .failed("the folder \(folder) cannot be read, or has no file *.json") }
        var results: [ConformanceResult] = []
        for name in names {
            let text = try CommandFile.read("\(folder)/\(name)").revealed()
            do throws(SDKTestInputFault) {
                results += await self.results(name, try SDKTestInput(parsing: text))
            } catch {
                results.append(result(name, .failed, "the test input cannot be read: \(error)"))
            }
        }
        return results
    }

    private func results(_ name: String, _ input: SDKTestInput) async -> [ConformanceResult] {
        let license: LibraryLicense?
        switch input.wish {
        case .license(let asked): license = asked
        case .facts: license = nil
        case .otherLicense(let scheme): return [result(name, .notRun, "Latchkey never asks for the scheme \(scheme)")]
        }
        let first = await library.answer(input.message, license)
        guard case .ckc(let ckc) = first.content else {
            return [result(name, .failed, "no license: \(first.code ?? "no answer")")]
        }
        let second = await library.answer(input.message, nil)
        var changed = input.message
        // This is inside the wrapped key of every version (protocol, section 1).
        if changed.count > 88 { changed[88] ^= 1 }
        let forged = await library.answer(changed, license)
        let isWhole = license == nil || (try? CKCEnvelope(parsing: ckc)) != nil
        let isRefused = if case .refusal = forged.content { true } else { false }
        return [
            result(name, isWhole ? .passed : .failed, isWhole ? "a whole CKC" : "the CKC is not whole"),
            result(
                "\(name), the same HU in two calls", second.deviceID == first.deviceID ? .passed : .failed,
                second.deviceID == first.deviceID ? "the same" : "another HU"),
            result(
                "\(name), one bit of the wrapped key changed", isRefused ? .passed : .failed,
                isRefused ? "refused with \(forged.code ?? "")" : "not refused"),
        ]
    }

    private func result(_ name: String, _ verdict: ConformanceVerdict, _ found: String) -> ConformanceResult {
        ConformanceResult(family: .inputs, name: name, rule: "SDK 26, 6", verdict: verdict, found: found)
    }
}
