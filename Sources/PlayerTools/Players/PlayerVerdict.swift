import DeviceSimulation
import FairPlay

/// Whether a player would play after an answer, and if not, why.
enum PlayerVerdict: Equatable, Sendable {
    case plays
    /// The device would play, but may not store the key that the player wants to store.
    case notKept
    /// The status does not mean a license. `code` and `advice` are the server's.
    case refused(status: Int, code: String?, advice: String)
    /// The status means a license, but a result within the answer is a refusal.
    case keyDenied(String)
    /// The player cannot find a CKC in the answer. The text ends a sentence that begins with "the player".
    case notUnderstood(String)
    /// The device refuses the CKC.
    case notOpened(String)
    case noAnswer(String)
    case noCertificate(String)
    /// This player's request could not be made from the arguments.
    case notAsked(String)

    /// Whether this player would show the film.
    var isGood: Bool { self == .plays }

    /// The word in JSON.
    var word: String {
        switch self {
        case .plays: "plays"
        case .notKept: "not_kept"
        case .refused: "refused"
        case .keyDenied: "key_denied"
        case .notUnderstood: "not_understood"
        case .notOpened: "not_opened"
        case .noAnswer: "no_answer"
        case .noCertificate: "no_certificate"
        case .notAsked: "not_asked"
        }
    }

    var text: String {
        switch self {
        case .plays: "plays"
        case .notKept: "plays, but the device may not store the key"
        case .refused(let status, nil, let advice): Self.joined("refused with status \(status)", advice)
        case .refused(_, .some(let code), let advice): Self.joined("refused: \(code)", advice)
        case .keyDenied(let what): "refused within the answer: \(what)"
        case .notUnderstood(let why): "the player would not understand this answer: it \(why)"
        case .notOpened(let why): "the device would refuse this CKC: \(why)"
        case .noAnswer(let why): "no answer: \(why)"
        case .noCertificate(let why): "the player gets no certificate: \(why)"
        case .notAsked(let why): "not tried: \(why)"
        }
    }

    private static func joined(_ text: String, _ advice: String) -> String {
        advice.isEmpty ? text : "\(text). \(advice)"
    }
}

/// Judges the answer to one request as a player and its device would.
///
/// Texts from the server are in a verdict without control characters.
struct PlayerJudge {
    let profile: PlayerProfile
    /// Whether the player wants to store the keys.
    let isOffline: Bool
    /// Opens the CKC for the SPC with this index in the request.
    let open: (_ ckc: [UInt8], _ index: Int) throws(CKCFault) -> LicenseTerms

    /// Returns the verdict, and the terms of the CKCs that could be opened. `labels` are the labels of the request's
    /// keys.
    func judge(_ answer: ReceivedLicense, labels: [String]) -> (verdict: PlayerVerdict, terms: [LicenseTerms]) {
        // Even a player that ignores the status shows no film after an error, or a redirect that was not followed.
        guard profile.statuses.contains(answer.status), answer.status < 300 else {
            let problem = LicenseProblem(answer)
            return (.refused(status: answer.status, code: problem.code, advice: problem.advice), [])
        }
        let results: [KeyAnswer]
        do throws(AnswerNotUnderstood) {
            results = try profile.answer.read(answer.body, labels: labels, isOffline: isOffline)
        } catch {
            let kind = FileKind(answer.body).name
            return (.notUnderstood(LicenseProblem.printable("\(error.reason); the answer is \(kind)")), [])
        }
        var verdict = PlayerVerdict.plays
        var terms: [LicenseTerms] = []
        for (index, result) in results.enumerated() {
            let (own, opened) = judge(result, at: index, of: results.count)
            if verdict.isGood { verdict = own }
            if let opened { terms.append(opened) }
        }
        return (verdict, terms)
    }

    private func judge(
        _ result: KeyAnswer, at index: Int, of count: Int
    ) -> (verdict: PlayerVerdict, terms: LicenseTerms?) {
        let key = count == 1 ? "" : "key \(index + 1) of \(count): "
        switch result {
        case .denied(let what): return (.keyDenied(key + LicenseProblem.printable(what)), nil)
        case .ckc(let bytes):
            do throws(CKCFault) {
                let terms = try open(bytes, index)
                return (isOffline && !terms.isPersistent ? .notKept : .plays, terms)
            } catch {
                return (.notOpened(key + LicenseProblem.printable(error.explanation(of: FileKind(bytes)))), nil)
            }
        }
    }
}
