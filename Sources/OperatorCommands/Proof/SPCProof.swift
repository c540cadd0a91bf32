import ByteCoding
import CommandSupport
import FairPlay
import KeyCrypto

/// What a library does with one SPC, compared with our own parse of it.
///
/// The library is asked in the way in which the daemon asks it. It is also asked directly about changed SPCs, which the
/// daemon would refuse itself.
struct SPCProof {
    let sample: ProofSample
    let envelope: SPCEnvelope
    /// The SPC as this server has opened it, with the library as its ladder.
    let spc: SPC
    let library: any LicenseLibrary
    let crypto: CryptoContext
    /// Says in words how the last worker was lost; nil if none was.
    let trouble: @Sendable () -> String?

    /// How the random key of a license is used.
    private static let use = ContentKeyUse(kind: .video, contentType: .sd, scheme: .cbcs)

    var findings: [DoctorFinding] {
        get async {
            let facts: LibraryAnswer
            do throws(LadderModuleError) {
                facts = try await library.answer(LibraryOrder(message: sample.message, license: nil))
            } catch {
                return [bad("facts", "get-client-info", error)]
            }
            var findings = [compared(facts), await repeated(facts.deviceID)]
            if spc.syncReport == nil {
                findings.append(await license(for: facts.deviceID))
                if let wish = sample.wish { findings += await own(wish, for: facts.deviceID) }
            } else {
                findings.append(.skipped(name("license"), "the SPC reports to the server, and gets no license"))
            }
            for change in changes { findings.append(await refused(change)) }
            return findings
        }
    }

    private func name(_ part: String) -> String { "\(sample.name).\(part)" }

    // MARK: Facts

    private func compared(_ facts: LibraryAnswer) -> DoctorFinding {
        guard facts.transactionID == spc.transactionID else {
            return .bad(
                name("facts"), "get-client-info has status 0, but another transaction id than our own parse",
                remedy: "the library reads SPCs in another way than this server: report it, and do not serve with it")
        }
        return .good(name("facts"), "get-client-info has status 0, and the transaction id of our own parse")
    }

    /// Asks again, as the daemon does for the report of a device.
    private func repeated(_ deviceID: DeviceID) async -> DoctorFinding {
        do throws(LadderError) {
            guard try await spc.verify(using: crypto) == deviceID else { return otherDevice("hu", "a second call") }
            return .good(name("hu"), "a second call has the same HU")
        } catch {
            return bad("hu", "a second call", error)
        }
    }

    private func otherDevice(_ part: String, _ call: String) -> DoctorFinding {
        .bad(
            name(part), "\(call) has another HU than the first one",
            remedy: "limits on devices do not hold with such a library: build it again from the delivery")
    }

    // MARK: Licenses

    /// Asks for a license with a random key, as the daemon does.
    private func license(for deviceID: DeviceID) async -> DoctorFinding {
        let call = "create-ckc with a random key"
        do throws(LadderError) {
            let prepared = try await prepare()
            guard case .finished(let license) = prepared else { return bad("license", call, .answerMalformed) }
            return judged(license, for: deviceID, "license", call)
        } catch {
            return bad("license", call, error)
        }
    }

    private func prepare() async throws(LadderError) -> PreparedLicense {
        let (key, iv): (SharedSecret, Bytes16)
        do throws(CryptoError) {
            (key, iv) = (SharedSecret(try crypto.randomSecret(count: 16)), try crypto.randomBytes16())
        } catch {
            throw .cryptography(error)
        }
        return try await spc.prepare(key.bytes, iv: iv, for: Self.use, under: LicenseTerms(), using: crypto)
    }

    /// Asks for what a test input asks for.
    private func own(_ wish: SDKTestInput.Wish, for deviceID: DeviceID) async -> [DoctorFinding] {
        let call = "create-ckc with the values of the file"
        switch wish {
        case .facts: return []
        case .otherLicense(let scheme):
            return [.skipped(name("input"), "this server never asks for the encryption scheme \(scheme)")]
        case .license(let license):
            do throws(LadderModuleError) {
                let answer = try await library.answer(LibraryOrder(message: sample.message, license: license))
                guard answer.transactionID == spc.transactionID, let ckc = answer.ckc,
                    let finished = FinishedLicense(ckc: ckc, deviceID: answer.deviceID, terms: license.terms)
                else { return [bad("input", call, .answerMalformed)] }
                return [judged(finished, for: deviceID, "input", call)]
            } catch {
                return [bad("input", call, error)]
            }
        }
    }

    private func judged(
        _ license: FinishedLicense, for deviceID: DeviceID, _ part: String, _ call: String
    ) -> DoctorFinding {
        guard license.deviceID == deviceID else { return otherDevice(part, call) }
        return .good(
            name(part),
            "\(call) has status 0, the same HU, and a whole CKC of version \(license.version) with "
                + "\(license.ckc.count) bytes")
    }

    // MARK: Changed SPCs

    /// An SPC in which one bit was changed.
    private struct Change {
        let part: String
        let words: String
        let message: [UInt8]
    }

    private var changes: [Change] {
        var changes = [change("wrapped-key", "the wrapped key", at: envelope.wrappedKey.lowerBound + 64)]
        if let block = spc.blocks.first(where: { $0.tag == TLLVTag.sessionKeyBlock }) {
            // This changes the last 32 bytes of the value alone, among them the integrity bytes.
            let offset = block.value.upperBound - 32
            changes.append(change("session-key-block", "SK..R1", at: envelope.payload.lowerBound + offset))
        }
        return changes
    }

    private func change(_ part: String, _ words: String, at offset: Int) -> Change {
        var message = sample.message
        message[offset] ^= 1
        return Change(part: part, words: words, message: message)
    }

    /// Checks that the library gives neither facts nor a license for a changed SPC.
    private func refused(_ change: Change) async -> DoctorFinding {
        let words = "one bit changed in \(change.words)"
        var statuses: [Int32] = []
        do throws(CryptoError) {
            let terms = LibraryTerms(contentType: .sd, scheme: .cbcs, hdcp: .type0, validity: .session)
            let license = LibraryLicense(
                key: SharedSecret(try crypto.randomSecret(count: 16)), iv: try crypto.randomBytes16(), terms: terms)
            for wish in [nil, license] {
                switch await status(LibraryOrder(message: change.message, license: wish)) {
                case .success(let status): statuses.append(status)
                case .failure(let fault): return fault.finding(words, name(change.part), self)
                }
            }
        } catch {
            return bad(change.part, words, .cryptography(error))
        }
        return .good(name(change.part), "\(words): refused with the statuses \(statuses[0]) and \(statuses[1])")
    }

    /// Returns the status with which the library refuses.
    private func status(_ order: LibraryOrder) async -> Result<Int32, ChangeFault> {
        do throws(LadderModuleError) {
            _ = try await library.answer(order)
            return .failure(.accepted)
        } catch {
            switch error {
            case .refused(let status), .failed(let status), .deviceRefused(let status): return .success(status)
            case .answerMalformed, .workerLost, .unavailable, .overloaded: return .failure(.noAnswer(error))
            }
        }
    }

    /// Why a changed SPC was not refused.
    private enum ChangeFault: Error {
        case accepted
        case noAnswer(LadderModuleError)

        func finding(_ words: String, _ check: String, _ proof: SPCProof) -> DoctorFinding {
            switch self {
            case .accepted:
                .bad(
                    check, "\(words): accepted with status 0",
                    remedy: "the library checks no integrity, so anyone can forge a device: do not serve with it")
            case .noAnswer(let error): proof.bad(check: check, words, error)
            }
        }
    }

    // MARK: Failures

    private func bad(_ part: String, _ call: String, _ error: LadderError) -> DoctorFinding {
        switch error {
        case .module(let error): bad(part, call, error)
        case .inexpressible(let term):
            .bad(name(part), "\(call): the library cannot be told \(term)", remedy: "report it: this is our own fault")
        case .cryptography(let error):
            .bad(name(part), "\(call): OpenSSL failed (\(error))", remedy: "is the installation of OpenSSL complete?")
        }
    }

    private func bad(_ part: String, _ call: String, _ error: LadderModuleError) -> DoctorFinding {
        bad(check: name(part), call, error)
    }

    private func bad(check: String, _ call: String, _ error: LadderModuleError) -> DoctorFinding {
        .bad(check, "\(call): \(words(error))", remedy: error.remedy)
    }

    private func words(_ error: LadderModuleError) -> String {
        switch error {
        case .refused(let status): "the library refuses the SPC with status \(status)"
        case .failed(let status): "the library fails with status \(status)"
        case .deviceRefused(let status): "the library refuses the security of the device with status \(status)"
        case .answerMalformed: "the library's answer is incomplete, is about another SPC, or has no whole CKC"
        case .workerLost, .unavailable, .overloaded: "no answer" + (trouble().map { ": \($0)" } ?? "")
        }
    }
}

extension LadderModuleError {
    /// What the licensee can do about it.
    fileprivate var remedy: String {
        switch self {
        case .refused: "is the file whole, and were library and credentials delivered together?"
        case .failed: "look up the status in the SDK's documents, and build the library again from the delivery"
        case .deviceRefused: "try an SPC of another device, or look at the rules that the library was built with"
        case .answerMalformed: "build the library again from an unchanged delivery of SDK 26"
        case .workerLost, .unavailable, .overloaded:
            "build the library again, with its own libraries beside it; if it is only slow, raise sdk.callDeadline"
        }
    }
}
