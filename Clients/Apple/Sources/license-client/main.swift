// Posts SPCs over one URLSession and writes their licenses. The tests of the server run it in the place of an app.
//
//   license-client URL TOKEN PURPOSE TYPE SPC CKC [SPC CKC ...]
//
// PURPOSE is streaming, renewal, offline or report. TYPE is a content type, or "none" for the default of URLSession.
// SPC and CKC are files. Each answer is a line of JSON on standard output.
import Foundation
import LatchkeyLicenses

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Line: Encodable {
    var id: String?
    var type: String?
    var life: Double?
    var renewalDelay: Double?
    var sessionToken: String?
    var expiresInSeconds: Int?
    var challengeAccepted: Bool?
    var status: Int?
    var code: String?
    var advice: String?

    init(_ license: License) {
        (id, type, life, renewalDelay) = (license.id, license.type, license.life, license.renewalDelay)
        sessionToken = license.sessionToken
    }

    init(_ report: KeyReport) {
        (expiresInSeconds, challengeAccepted) = (report.expiresInSeconds, report.challengeAccepted)
    }

    init(_ failure: LicenseFailure) {
        advice = "\(failure.advice)"
        if case .refused(let problem) = failure { (status, code) = (problem.status, problem.code) }
    }
}

func line(for body: Data, _ response: URLResponse, _ purpose: LicensePurpose, ckc file: String) throws -> Line {
    do {
        if purpose == .report { return try Line(KeyReport(body, response)) }
        let license = try License(body, response)
        try license.ckc.write(to: URL(fileURLWithPath: file))
        return Line(license)
    } catch let failure as LicenseFailure {
        return Line(failure)
    }
}

let purposes: [String: LicensePurpose] = [
    "streaming": .streaming, "renewal": .renewal, "offline": .offline, "report": .report,
]
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 6, arguments.count % 2 == 0, let base = URL(string: arguments[0]),
    let purpose = purposes[arguments[2]]
else {
    let usage = "usage: license-client URL TOKEN streaming|renewal|offline|report TYPE SPC CKC [SPC CKC ...]\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}
let server = LicenseServer(base: base)
let session = URLSession(configuration: .ephemeral)
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys]
for index in stride(from: 4, to: arguments.count, by: 2) {
    let spc = try Data(contentsOf: URL(fileURLWithPath: arguments[index]))
    var request = server.licenseRequest(spc, for: purpose, token: arguments[1])
    request.setValue(arguments[3] == "none" ? nil : arguments[3], forHTTPHeaderField: "Content-Type")
    let (body, response) = try await session.data(for: request)
    let line = try line(for: body, response, purpose, ckc: arguments[index + 1])
    FileHandle.standardOutput.write(try encoder.encode(line) + Data("\n".utf8))
}
