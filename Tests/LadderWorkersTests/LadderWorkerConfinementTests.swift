import FairPlay
import Glibc
import LadderWorkers
import POSIXSockets
import TestSupport
import Testing

extension LadderWorkerTests {
    /// Actions that the confinement forbids to a module, each tried from inside the stand-in module.
    @Suite struct Confinement {
        struct Probe: Sendable {
            let fault: StandInFault
            let finding: Int32
        }

        static let probes: [Probe] = [
            Probe(fault: .probeSocket, finding: EPERM),
            Probe(fault: .probeSocketPair, finding: EPERM),
            Probe(fault: .probeRing, finding: EPERM),
            Probe(fault: .probeExec, finding: EPERM),
            Probe(fault: .probeFork, finding: EPERM),
            Probe(fault: .probeSignalParent, finding: EPERM),
            Probe(fault: .probeTraceParent, finding: EPERM),
            Probe(fault: .probeReadParent, finding: EPERM),
            Probe(fault: .probeLimitParent, finding: EPERM),
            Probe(fault: .probeCreateFile, finding: EPERM),
            Probe(fault: .probeRemoveFile, finding: EPERM),
            Probe(fault: .probeWriteFile, finding: EPERM),
            Probe(fault: .probeMapFile, finding: EPERM),
            Probe(fault: .probeLaterCall, finding: ENOSYS),
            Probe(fault: .probeOwnByParent, finding: EPERM),
            Probe(fault: .probeDumpableChange, finding: EPERM),
            Probe(fault: .probeWatch, finding: EPERM),
            Probe(fault: .probeWatchFolder, finding: EPERM),
            Probe(fault: .probeLease, finding: EPERM),
            // The finding is 1000 plus the number of variables, descriptors, …
            Probe(fault: .probeEnvironment, finding: 1000),
            Probe(fault: .probeDescriptors, finding: 1004),
            Probe(fault: .probeDumpable, finding: 1000),
            Probe(fault: .probePrivileges, finding: 1001),
            Probe(fault: .probeCapabilities, finding: 1000),
            Probe(fault: .probeCoreLimit, finding: 1000),
            // An action that is allowed.
            Probe(fault: .probeThread, finding: 1000),
        ]

        @Test func keepsModulesFromEverythingButComputing() async throws {
            let folder = try TemporaryDirectory()
            try folder.write([0], to: "file")
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.file = folder.path("file")
            let fixture = try PoolFixture(options: options)
            for probe in Self.probes {
                let outcome = await fixture.outcome(of: try TestCall(fault: probe.fault))
                #expect(outcome == .failed(status: probe.finding), "\(probe.fault)")
            }
            #expect(try folder.names() == ["file"])
            #expect(try folder.read("file") == [0])
            #expect(fixture.pool.statistics.deathCount == 0)
        }

        /// A module cannot open the daemon's own files, even if it runs as root or as the daemon's user.
        @Test(.enabled(if: FileConfinement.isAvailable, "the kernel has no Landlock"))
        func readsNoFileButLibraries() async throws {
            let folder = try TemporaryDirectory()
            try folder.write([0], to: "secret")
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.file = folder.path("secret")
            let fixture = try PoolFixture(options: options)
            for fault in [StandInFault.probeReadFile, .probeReadFolder] {
                let outcome = await fixture.outcome(of: try TestCall(fault: fault))
                #expect(outcome == .failed(status: EACCES), "\(fault)")
            }
        }

        /// The network's state and the mounts are not about the module's own process, but its memory map is.
        @Test(.enabled(if: FileConfinement.isAvailable, "the kernel has no Landlock"))
        func readsNoFactsAboutOthers() async throws {
            let fixture = try PoolFixture()
            for fault in [StandInFault.probeReadNetwork, .probeReadMounts] {
                let outcome = await fixture.outcome(of: try TestCall(fault: fault))
                #expect(outcome == .failed(status: EACCES), "\(fault)")
            }
            #expect(await fixture.outcome(of: try TestCall(fault: .probeReadMaps)) == .failed(status: -1))
        }

        /// Without Landlock, the permissions of files decide, and root has lost its extra rights.
        @Test func readsFilesOfItsUserWithoutLandlock() async throws {
            let folder = try TemporaryDirectory()
            try folder.write([0], to: "secret")
            // Safe: the path stays valid during the call.
            #expect(unsafe chmod(folder.path("secret"), 0o600) == 0)
            var options = StandInOptions(.applicationSecret(TestCall.applicationSecret))
            options.file = folder.path("secret")
            let program = try StandInModule.buildWithoutLandlock(program: BuiltProgram.path("latchkeyd"))
            let fixture = try PoolFixture(options: options) { $0.programPath = program }
            let call = try TestCall(fault: .probeReadFile)
            #expect(await fixture.outcome(of: call) == .failed(status: -1))
            guard getuid() == 0 else { return }
            let other = try PoolFixture(options: options) {
                $0.programPath = program
                $0.user = SystemUser(named: "nobody")
            }
            #expect(await other.outcome(of: call) == .failed(status: EACCES))
        }

        /// The threat model warns of this: a daemon that runs as root, without another user for the module, cannot
        /// limit threads.
        @Test(.enabled(if: getuid() == 0, "only root has no limit"))
        func threadsOfRootAreNotLimited() async throws {
            let fixture = try PoolFixture()
            let outcome = await fixture.outcome(of: try TestCall(fault: .probeThreads))
            #expect(outcome == .failed(status: 1500), "the probe starts 500 at most")
        }

        /// The kernel has no such limit for root, so the workers of this test become another user if they can. The
        /// limit is what the user has at present and 64 more, so no other test has processes of this user that end.
        @Test func startsABoundedNumberOfThreads() async throws {
            let fixture = try PoolFixture { if getuid() == 0 { $0.user = SystemUser(named: "games") } }
            guard case .failed(let status) = await fixture.outcome(of: try TestCall(fault: .probeThreads)) else {
                Issue.record("the probe gave no count")
                return
            }
            #expect((1000...1064).contains(status))
        }

        @Test(.enabled(if: getuid() == 0, "only root can become another user"))
        func becomesTheUserThatIsAskedFor() async throws {
            let user = try #require(SystemUser(named: "nobody"))
            let fixture = try PoolFixture { $0.user = user }
            let outcome = await fixture.outcome(of: try TestCall(fault: .probeUser))
            #expect(outcome == .failed(status: 1000 + Int32(user.userID)))
        }

        @Test(.enabled(if: getuid() != 0, "root can become any user"))
        func saysThatItCannotBecomeAnotherUser() async throws {
            let fixture = try PoolFixture { $0.user = SystemUser(userID: 0, groupID: 0) }
            #expect(
                await fixture.events.startFailures(1)
                    == [.module(.notConfined(step: "setresuid", errno: EPERM))])
        }
    }
}
