import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// What came out of a case.
enum ConformanceVerdict: String, CaseIterable, Sendable {
    case passed
    /// The server does otherwise than Latchkey, and may.
    case differs
    case failed
    case notRun = "not run"
}

struct ConformanceResult: Sendable {
    let family: ConformanceCase.Family
    let name: String
    /// Nil if the result is not about one SPC.
    var version: SPCVersion?
    let rule: String
    let verdict: ConformanceVerdict
    /// What was found, or why the case was not run. It has no key and no secret.
    let found: String
    /// The status or number of the answer.
    var code: String?
    var milliseconds: Double?
    /// What a device accepts and Latchkey never sends.
    var remarks: [CKCRemark] = []
}

/// Compares answers with what the cases expect.
struct ConformanceJudge {
    let crypto: CryptoContext

    func judge(
        _ test: ConformanceCase, _ question: ConformanceQuestion, _ answer: ConformanceAnswer
    ) -> ConformanceResult {
        var remarks: [CKCRemark] = []
        let (verdict, found): (ConformanceVerdict, String)
        switch (answer.content, test.outcome) {
        case (.none(let reason), _): (verdict, found) = (.failed, "no answer: \(reason)")
        case (.refusal(_, let body), _) where Self.shows(question.kind.contentKey, in: body):
            (verdict, found) = (.failed, "the refusal shows the content key")
        case (.refusal, .refusal) where answer.status.map { $0 >= 500 } ?? false:
            (verdict, found) = (.differs, "refused as a fault of the server, though the device made it")
        case (.refusal, .refusal): (verdict, found) = (.passed, "refused")
        case (.refusal, .license):
            (verdict, found) = test.tolerance.map { (.differs, "refused: \($0)") } ?? (.failed, "refused")
        case (.ckc(let ckc), .refusal):
            // The answer to a malformed SPC is not opened: it is wrong already, or nothing follows from it.
            let opened = test.fault == nil ? open(ckc, question) : (license: nil, fault: nil)
            if let fault = opened.fault {
                (verdict, found) = (.failed, "a license that this device cannot use: \(fault)")
            } else if let terms = opened.license?.terms, !test.tolerates(terms) {
                (verdict, found) = (.failed, "a license, and no refusal: \(terms.summary)")
            } else {
                (verdict, found) =
                    test.tolerance.map { (.differs, "a license: \($0)") } ?? (.failed, "a license, and no refusal")
            }
        case (.ckc(let ckc), .license):
            let opened = open(ckc, question)
            remarks = opened.license?.remarks ?? []
            let fault =
                fault(of: answer, to: question) ?? opened.fault ?? opened.license.flatMap { keyFault($0, question) }
            if let fault {
                (verdict, found) = (.failed, fault)
            } else if let terms = opened.license.flatMap({ termsFault($0, question) }) {
                let isTolerated = opened.license.map { test.tolerates($0.terms) } ?? false
                (verdict, found) =
                    isTolerated ? (.differs, "\(terms): \(test.tolerance ?? "")") : (.failed, terms)
            } else {
                (verdict, found) = (.passed, "license")
            }
        }
        return ConformanceResult(
            family: test.family, name: test.name, version: test.version, rule: test.rule, verdict: verdict,
            found: found, code: answer.code, milliseconds: answer.milliseconds, remarks: remarks)
    }

    /// Returns what is wrong with the answer around the CKC.
    private func fault(of answer: ConformanceAnswer, to question: ConformanceQuestion) -> String? {
        if let status = answer.status, !(200..<300).contains(status) { return "a CKC with the status \(status)" }
        if let deviceID = answer.deviceID, deviceID != question.request.secrets.deviceID { return "HU is another one" }
        if let id = answer.transactionID, id != question.options.transactionID {
            return "the transaction id is another"
        }
        return nil
    }

    /// Opens a CKC as the device does. Returns the license, or why the device refuses it.
    private func open(_ ckc: [UInt8], _ question: ConformanceQuestion) -> (license: OpenedLicense?, fault: String?) {
        do throws(CKCFault) {
            return (try CKCOpener(secrets: question.request.secrets, using: crypto).open(ckc), nil)
        } catch {
            return (nil, error.explanation(of: FileKind(ckc)))
        }
    }

    private func keyFault(_ license: OpenedLicense, _ question: ConformanceQuestion) -> String? {
        guard license.contentKey.bytes.isEqual(to: SecretBytes(copying: question.kind.contentKey)) else {
            return "the content key is another one"
        }
        return license.contentIV.bytes == question.kind.contentIV ? nil : "the initialization vector is another one"
    }

    private func termsFault(_ license: OpenedLicense, _ question: ConformanceQuestion) -> String? {
        guard license.terms.validity.withoutIDs == question.kind.validity(for: question.options.capabilities) else {
            return "other terms (\(license.terms.summary))"
        }
        return question.kind.hdcp.map { $0 == license.terms.hdcp } ?? true ? nil : "HDCP Type 1 is missing"
    }

    /// Whether a text or other bytes have a secret: as it is, in hexadecimal digits, or in Base64.
    private static func shows(_ secret: [UInt8], in body: [UInt8]) -> Bool {
        let text = String(decoding: body, as: UTF8.self)
        return body.contains(sequence: secret) || text.lowercased().contains(Hexadecimal.encode(secret))
            || text.contains(Base64.encode(secret).prefix(21))
    }
}

extension ConformanceCase {
    fileprivate func tolerates(_ terms: LicenseTerms) -> Bool { toleratedTerms.contains(terms.validity.withoutIDs) }
}

extension ConformanceAnswer {
    /// The status of HTTP, or the number of a refusal.
    var code: String? {
        if case .refusal(let code, _) = content { return code }
        return status.map { "\($0)" }
    }
}

extension [UInt8] {
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        guard count >= sequence.count else { return false }
        return (0...count - sequence.count).contains { self[$0...].starts(with: sequence) }
    }
}
