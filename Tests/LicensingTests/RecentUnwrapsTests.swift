import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Records
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// Copies of an SPC cost one RSA operation.
@Suite struct RecentUnwrapsTests {
    private static func digest(_ number: UInt8) throws -> Pseudonym {
        try #require(Pseudonym([UInt8](repeating: number, count: Pseudonym.size)))
    }

    private static func job() throws -> RSAUnwrapJob {
        RSAUnwrapJob(
            key: try RSAPrivateKey.generate(bits: 1024), padding: .sha1, message: [], range: 0..<0,
            decoy: try SecretBytes.random(count: RSAUnwrapJob.sessionKeySize))
    }

    private let start = ManualClock().monotonicTime

    /// Returns nil for a new SPC.
    private func job(_ start: RecentUnwraps.Start) throws -> RSAUnwrapJob? {
        switch start {
        case .known(let job): return job
        case .isNew: return nil
        case .failed: throw LicenseError.overloaded
        }
    }

    @Test func remembersForItsLife() async throws {
        let recent = RecentUnwraps(life: .seconds(10))
        let digest = try Self.digest(1)
        let job = try Self.job()
        #expect(try await self.job(recent.begin(digest, at: start)) == nil)
        #expect(recent.end(digest, at: start, with: job))
        #expect(try await self.job(recent.begin(digest, at: start + .seconds(9))) === job)
        #expect(recent.reusedCount == 1)
        #expect(try await self.job(recent.begin(digest, at: start + .seconds(10))) == nil)
        #expect(!recent.end(digest, at: start + .seconds(10), with: nil))
        #expect(try await self.job(recent.begin(Self.digest(2), at: start)) == nil)
        _ = recent.end(try Self.digest(2), at: start, with: nil)
    }

    @Test func forgetsWithoutRequests() async throws {
        let recent = RecentUnwraps(life: .seconds(10))
        for number in UInt8(1)...3 {
            #expect(try await self.job(recent.begin(Self.digest(number), at: start)) == nil)
            // Only one loop at a time is told to sweep.
            let mustSweep = recent.end(try Self.digest(number), at: start + .seconds(Int(number)), with: try Self.job())
            #expect(mustSweep == (number == 1))
        }
        #expect(recent.sweep(at: start + .seconds(11)))
        #expect(recent.count == 2)
        #expect(!recent.sweep(at: start + .seconds(13)))
        #expect(recent.count == 0)
        #expect(try await self.job(recent.begin(Self.digest(4), at: start + .seconds(20))) == nil)
        #expect(recent.end(try Self.digest(4), at: start + .seconds(20), with: try Self.job()))
    }

    @Test func isBounded() async throws {
        let recent = RecentUnwraps(life: .seconds(10), halfCapacity: 4)
        let job = try Self.job()
        for number in UInt8(0)..<100 {
            #expect(try await self.job(recent.begin(Self.digest(number), at: start)) == nil)
            _ = recent.end(try Self.digest(number), at: start, with: job)
            #expect(recent.count <= 8)
        }
        #expect(try await self.job(recent.begin(Self.digest(99), at: start)) === job)
        #expect(try await self.job(recent.begin(Self.digest(0), at: start)) == nil)
        _ = recent.end(try Self.digest(0), at: start, with: nil)
    }

    @Test func remembersNothingWithoutLife() async throws {
        let recent = RecentUnwraps(life: .zero)
        #expect(try await self.job(recent.begin(Self.digest(1), at: start)) == nil)
        #expect(!recent.end(try Self.digest(1), at: start, with: try Self.job()))
        #expect(recent.count == 0)
    }

    /// Eight copies of an SPC that is being opened wait for its outcome, and all get that outcome.
    @Test(arguments: [false, true])
    func copiesWaitForTheFirst(firstFails: Bool) async throws {
        let recent = RecentUnwraps(life: .seconds(10))
        let digest = try Self.digest(1)
        let job = try Self.job()
        let start = start
        #expect(try await self.job(recent.begin(digest, at: start)) == nil)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    switch await recent.begin(digest, at: start) {
                    case .known(let found): return found === job
                    case .isNew:
                        // This copy came after the first one had failed, so it is a first one itself.
                        _ = recent.end(digest, at: start, with: nil)
                        return firstFails
                    case .failed: return firstFails
                    }
                }
            }
            _ = recent.end(digest, at: start, with: firstFails ? nil : job)
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == [Bool](repeating: true, count: 8))
        #expect(recent.reusedCount == (firstFails ? 0 : 8))
    }

    /// Nine concurrent copies on three loops cost one operation, one row and one license.
    @Test func aBurstCostsOneOperation() async throws {
        let store = RecordingStore()
        let fixture = try LicensingFixture(loopCount: 3, recorder: try store.recorder())
        let token = try fixture.token(subject: "viewer")
        let message = try fixture.deviceRequest(.v2).message
        let licenses = await withTaskGroup(of: LicenseID?.self) { group in
            for index in 0..<9 {
                group.addTask { try? await fixture.issue(message, token: token, loopIndex: index % 3).get().id }
            }
            return await group.reduce(into: Set<LicenseID?>()) { $0.insert($1) }
        }
        #expect(licenses.count == 1 && !licenses.contains(nil))
        #expect(fixture.operations.value == 1)
        #expect(fixture.shared.copyCount == 8)
        #expect(store.decisions.count == 1)
    }

    /// A copy of an SPC that cannot be opened is refused as the first one was, and without RSA too. Its time therefore
    /// reveals nothing.
    @Test func aBurstOfBadSPCsCostsOneOperation() async throws {
        let fixture = try LicensingFixture()
        let token = try fixture.token()
        var message = try fixture.deviceRequest(.v1).message
        message[100] ^= 1
        for _ in 0..<3 {
            guard case .failure(.spc(.rejected)) = await fixture.issue(message, token: token) else {
                Issue.record("the SPC was not rejected")
                return
            }
        }
        #expect(fixture.operations.value == 1)
    }

    /// A copy with another token is verified and judged separately.
    @Test func aCopyIsJudgedAnew() async throws {
        let fixture = try LicensingFixture()
        let message = try fixture.deviceRequest(.v1).message
        await #expect(throws: Never.self) { try await fixture.issue(message, token: try fixture.token()).get() }
        let other = try fixture.token([Right(.content("movie-2"))])
        await #expect(throws: LicenseError.entitlement(.contentNotCovered)) {
            try await fixture.issue(message, token: other).get()
        }
        #expect(fixture.operations.value == 1)
    }
}
