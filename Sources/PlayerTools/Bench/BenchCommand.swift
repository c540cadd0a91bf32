import ByteCoding
package import CommandLineKit
import CommandSupport
import FairPlay
import KeyCrypto

extension Command {
    /// `latchkey bench`
    package static let bench = Command(
        "bench",
        summary: "Load a license server that you operate, and measure its licenses",
        details: """
            Makes SPCs ahead, sends them over many connections, and counts every answer by status and code. It opens and checks a
            sample of the CKCs. Prints licenses per second and percentiles of the latency of licenses. Each SPC is sent once
            unless --repeat is given. With --keys, each request is Apple's JSON object with several SPCs, its latency is
            that of one answer, and each of its keys counts as a license or as refused.

            With --rate N the requests are due on a fixed schedule, and the latency of a request counts from the time at which
            it was due, also if no connection was free then. So a server that stalls cannot hide it (coordinated omission).
            Requests that were due and found no free connection before the end are counted as unsent, and their latency is
            missing: if there are any, the true percentiles are longer. Without --rate each connection asks again as soon as it
            has its answer (closed loop), and the latency counts from sending.

            The exit status is 1 if a checked CKC is wrong, if a request got no answer, or if there was no license. A refusal by
            the server is an answer. The report names the generator's own processor time: if it is near the measured time for
            each of --threads, the generator was the limit, and not the server.

            The load can stop a server for its viewers, so a server on another machine needs --i-operate-this-server. SPCs need
            the server's application secret. No proxy is used. Restart a server between runs that are compared, because it
            remembers the licenses of recent SPCs.
            """,
        examples: [
            "latchkey bench --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token",
            "latchkey bench --url http://127.0.0.1:8080 --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id movie-1 --token @token "
                + "--spc-version 1,2 --rate 500 --seconds 60 --report report.json",
            "latchkey bench --url https://127.0.0.1:8443 --ca authority.pem --certificate development/fairplay/bundle.bin "
                + "--application-secret development/fairplay/application-secret.hex --asset-id @asset-ids "
                + "--token @tokens --http2 --connections 8 --streams 16 --max-p99 50",
        ],
        options: BenchArguments.options,
        run: { arguments, context throws(CommandError) in try BenchCommand(arguments, context).run() })
}

struct BenchCommand {
    private let arguments: Arguments
    private let context: CommandContext
    private let settings: BenchSettings
    private let tokens: [String]
    private let maker: BenchRequestMaker

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        let settings = try BenchSettings(arguments)
        self.settings = settings
        tokens = try BenchArguments.tokens(arguments, context)
        let path = try arguments.required(DeviceArguments.certificate)
        let certificates = try CommandFile.read(path).revealed()
        maker = BenchRequestMaker(
            versions: try settings.versions.map { (version) throws(CommandError) in
                (version, try CertificateFile.certificate(for: version, in: certificates, path))
            },
            assetIDs: try BenchArguments.assetIDs(arguments, context),
            ladder: try DeviceArguments.ladder(arguments, context), now: context.now, keyCount: settings.keyCount)
    }

    func run() throws(CommandError) {
        let requests = try BenchRequests.make(settings.count, checkEvery: settings.checkEvery, by: maker, context)
        context.note(
            "made \(settings.count.counted("request")), \(requests.size / settings.count) bytes of memory each")
        let result = try BenchRun(settings: settings, requests: requests, tokens: tokens).run(context)
        let report = BenchReport(settings: settings, result: result)
        if let path = arguments.value(BenchArguments.report) {
            try CommandFile.write(
                JSONWriter.object { report.write(to: &$0) } + [UInt8(ascii: "\n")], to: path, isSecret: false)
        }
        try context.printResult(report.lines.joined(separator: "\n"), or: { report.write(to: &$0) }, arguments)
        guard !report.faults.isEmpty else { return }
        for fault in report.faults { context.note("bench: \(fault)") }
        throw .told(.failure)
    }
}
