import ByteCoding
import DeviceSimulation
import FairPlay
import Glibc
import KeyCrypto
import TestSupport
import Testing

/// Licenses from a running daemon whose credential has no application secret, but a module in worker processes.
@Suite(.tags(.startsProcesses), .serialized) struct ModuleDaemonTests {
    private func fixture(
        workers: Int = 1, _ adjust: (inout StandInOptions) -> Void = { _ in }
    ) throws -> DaemonFixture {
        try DaemonFixture { folder in
            var options = StandInOptions(.applicationSecret(try folder.applicationSecret()))
            adjust(&options)
            let data = folder.files.path("module-data")
            try folder.files.write(options.data.bytes.revealed(), to: "module-data")
            // Safe: the path stays valid during the call.
            #expect(unsafe chmod(data, 0o600) == 0)
            try folder.configure(
                replacing: #"applicationSecret: "fairplay/application-secret.hex","#,
                with: """
                    module: { library: "\(try StandInModule.build())", data: "module-data", workers: \(workers), \
                    callDeadline: "500ms" },
                    """)
        }
    }

    private func license(_ fixture: DaemonFixture, _ version: SPCVersion = .v1) throws -> (Int, Bool) {
        let request = try fixture.deviceRequest(version)
        let response = try fixture.daemon.connect().license(request.message, token: fixture.token())
        return (response.status, response.status == 200 ? try fixture.isRight(response.body, request) : false)
    }

    private func workers(_ fixture: DaemonFixture) -> [Int32] {
        fixture.daemon.log.filter { $0["event"]?.string == "ladder_worker_ready" }
            .compactMap { $0["pid"]?.number?.signed.map { Int32($0) } }
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func theModuleOpensWhatDevicesSend(version: SPCVersion) throws {
        let fixture = try fixture()
        #expect(try license(fixture, version) == (200, true))
        let metrics = try fixture.metrics()
        #expect(metrics["latchkey_module_answers_total{credential=\"development\"}"] == 1)
        #expect(metrics["latchkey_module_workers{credential=\"development\"}"] == 1)
    }

    /// A request that arrives after a worker's death waits for the next worker, and is answered.
    @Test func replacesAWorkerThatIsKilled() throws {
        let fixture = try fixture()
        let worker = try #require(workers(fixture).first)
        #expect(kill(worker, SIGKILL) == 0)
        #expect(fixture.daemon.line(event: "ladder_worker_ended") != nil)
        #expect(try license(fixture) == (200, true))
        #expect(Set(workers(fixture)).count == 2)
    }

    /// A call that never returns fails only its own request. The daemon serves on, and reports which part is degraded.
    @Test func aHangCostsItsRequestAlone() throws {
        let fixture = try fixture { $0.fault = .hang }
        let request = try fixture.deviceRequest(.v1)
        let response = try fixture.daemon.connect().license(request.message, token: fixture.token())
        #expect(response.status == 503)
        #expect(response.code == "module_unavailable")
        #expect(try fixture.daemon.connect().request("GET", "/readyz").status == 200)
        #expect(try fixture.metrics()["latchkey_module_losses_total{credential=\"development\"}"] == 1)
    }

    /// An SPC that the module refuses gets the same answer as every SPC that cannot be opened.
    @Test func aRefusalIsTheUniformOne() throws {
        let fixture = try fixture()
        let request = try fixture.deviceRequest(.v1, with: .payload(.wrongIntegrity))
        let response = try fixture.daemon.connect().license(request.message, token: fixture.token())
        #expect(response.status == 422 && response.code == "spc_rejected")
        let other = try fixture.deviceRequest(.v1, with: .payload(.corruptedSessionKeyBlock))
        let same = try fixture.daemon.connect().license(other.message, token: fixture.token())
        #expect(same.status == 422 && same.body.count == response.body.count)
    }

    /// The workers end with the daemon, however the daemon ends.
    @Test func noWorkerOutlivesTheDaemon() throws {
        let fixture = try fixture(workers: 2)
        let started = workers(fixture)
        #expect(!started.isEmpty)
        fixture.daemon.process.signal(SIGKILL)
        _ = fixture.daemon.process.waitForExit()
        for worker in started { #expect(Self.ends(worker)) }
    }

    /// Waits for the end of a process that is not a child of this one. The process that inherits it need not have
    /// noticed the end.
    private static func ends(_ process: Int32) -> Bool {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            guard let text = try? TextFile.read("/proc/\(process)/stat") else { return true }
            // The state follows the name, which is in parentheses.
            if let state = text.split(separator: ")").last?.dropFirst().first, "ZX".contains(state) { return true }
            sched_yield()
        }
        return false
    }
}
