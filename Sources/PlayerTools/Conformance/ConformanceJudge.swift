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
        let secret = answer.shownSecret(question.kind)
        switch (answer.content, test.outcome) {
        case (.none(let reason), _): (verdict, found) = (.failed, "no answer: \(reason)")
        case _ where secret != nil: (verdict, found) = (.failed, "the answer shows the \(secret ?? "")")
        case (.refusal, _) where !answer.isRefusal:
            (verdict, found) = (.failed, "no refusal and no license: neither a status of failure nor an error in JSON")
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
        if let level = license.terms.securityLevel, let stated = question.options.statedLevel, level > stated {
            return "a license that this device cannot play: it demands the level \(level), and the device has \(stated)"
        }
        return question.kind.hdcp.map { $0 == license.terms.hdcp } ?? true ? nil : "HDCP Type 1 is missing"
    }
}

extension DeviceOptions {
    /// The security level that the SPC states; nil for none, or one that a server cannot read.
    fileprivate var statedLevel: SecurityLevel? {
        if case .report(let report) = securityLevel { return SecurityLevel(reported: report.rawLevel) }
        guard let capabilities else { return nil }
        if capabilities.contains(.securityLevelMain) { return .main }
        return capabilities.contains(.securityLevelBaseline) ? .baseline : nil
    }
}

extension ConformanceCase {
    /// The license of a protected key must tell the device the level, also where the server does not look at it.
    fileprivate func tolerates(_ terms: LicenseTerms) -> Bool {
        toleratedTerms.contains(terms.validity.withoutIDs)
            && (kind != .protected || terms.securityLevel.map { $0 >= .baseline } ?? false)
    }
}

extension ConformanceAnswer {
    /// The status of HTTP, or the number of a refusal.
    var code: String? {
        if case .refusal(let code, _) = content { return code }
        return status.map { "\($0)" }
    }

    /// Whether an answer without a license is a refusal: by its status, or by an error in JSON.
    fileprivate var isRefusal: Bool {
        guard case .refusal(_, let body) = content, let status, status < 400 else { return true }
        return (try? JSONReader.parse(body)).map(ConformanceServer.tellsError) ?? false
    }

    /// The name of a secret that the header fields or the body show. A CKC in the body shows none, as it is encrypted.
    fileprivate func shownSecret(_ kind: ConformanceKind) -> String? {
        let sent = if case .refusal(_, let refusal) = content { refusal } else { body }
        let text = ShownText(fields.flatMap { Array("\($0.name): \($0.value)\n".utf8) } + sent)
        if text.shows(kind.contentKey) { return "content key" }
        return text.shows(ConformanceCredential.applicationSecret) ? "application secret" : nil
    }
}

/// The text of an answer, in which secrets are looked for.
private struct ShownText {
    private let bytes: [UInt8]
    /// The hexadecimal digits alone.
    private let digits: [UInt8]
    /// Without white space and what JSON escapes, and in the usual letters of Base64.
    private let base64: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let text = String(decoding: bytes, as: UTF8.self)
        digits = text.lowercased().replacing("0x", with: "").utf8.filter { Character(Unicode.Scalar($0)).isHexDigit }
        base64 = text.utf8.filter { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "\\") }.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
    }

    /// Whether a secret is there as it is, in hexadecimal digits with or without separators, or within Base64.
    func shows(_ secret: [UInt8]) -> Bool {
        if bytes.contains(sequence: secret) || digits.contains(sequence: Array(Hexadecimal.encode(secret).utf8)) {
            return true
        }
        // Base64 has six bits in a digit. Other bytes may be before and after the secret.
        return (0..<3).contains { before in
            let encoded = Array(Base64.encode([UInt8](repeating: 0, count: before) + secret).utf8)
            let end = (before + secret.count) * 8 / 6
            return base64.contains(sequence: Array(encoded[(before * 8 + 5) / 6..<end]))
        }
    }
}

extension [UInt8] {
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        guard count >= sequence.count else { return false }
        return (0...count - sequence.count).contains { self[$0] == sequence[0] && self[$0...].starts(with: sequence) }
    }
}
