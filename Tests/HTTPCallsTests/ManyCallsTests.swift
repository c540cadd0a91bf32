import EventLoops
import Foundation
import Testing

@testable import HTTPCalls

/// Many calls at the same time: no call waits for another, connections are reused, and calls and connections are
/// limited.
@Suite struct ManyCallsTests {
    private static func caller(
        _ server: GatedServer, callMaximum: Int, waitingMaximum: Int = 1000
    ) throws -> HTTPCaller {
        var settings = HTTPCallSettings(url: "http://127.0.0.1:\(server.port)/entitle", reach: .loopback)
        settings.timeout = .seconds(30)
        settings.callMaximum = callMaximum
        settings.waitingMaximum = waitingMaximum
        return try HTTPCaller(settings)
    }

    private static func post(_ caller: HTTPCaller) async -> Result<[UInt8], HTTPCallError> {
        do throws(HTTPCallError) {
            return .success(try await caller.post(Array("{}".utf8), fields: []))
        } catch {
            return .failure(error)
        }
    }

    private static func posts(_ caller: HTTPCaller, _ count: Int) async -> [Result<[UInt8], HTTPCallError>] {
        await withTaskGroup { group in
            for _ in 0..<count { group.addTask { await post(caller) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The service answers no call before all calls have arrived.
    @Test func asManyCallsAreUnderWayAsMayBe() async throws {
        let server = try GatedServer(gathered: 64)
        let caller = try Self.caller(server, callMaximum: 64)
        let answers = await Self.posts(caller, 64)
        #expect(answers.allSatisfy { $0 == .success(Array("{}".utf8)) } && answers.count == 64)
        #expect(server.requestCount == 64 && server.connectionCount == 64)
        caller.stop()
    }

    @Test func keepsItsConnectionsForTheNextCalls() async throws {
        let server = try GatedServer(gathered: 1)
        let caller = try Self.caller(server, callMaximum: 8)
        for _ in 0..<5 {
            let answers = await Self.posts(caller, 200)
            #expect(answers.allSatisfy { $0 == .success(Array("{}".utf8)) })
        }
        #expect(server.requestCount == 1000 && server.connectionCount <= 8)
        caller.stop()
    }

    @Test func refusesWhatIsTooMuch() async throws {
        let server = try GatedServer(gathered: .max)
        let caller = try Self.caller(server, callMaximum: 2, waitingMaximum: 3)
        let answers = await withTaskGroup { group in
            for _ in 0..<6 { group.addTask { await Self.post(caller) } }
            // Only a refusal can arrive before the gate opens.
            let first = await group.next()
            server.open()
            return await group.reduce(into: [first].compactMap(\.self)) { $0.append($1) }
        }
        #expect(answers.first == .failure(.busy))
        #expect(answers.dropFirst().allSatisfy { $0 == .success(Array("{}".utf8)) } && answers.count == 6)
        #expect(server.connectionCount <= 2)
        caller.stop()
    }

    @Test func refusesCallsAfterItHasStopped() async throws {
        let server = try GatedServer(gathered: 1)
        let caller = try Self.caller(server, callMaximum: 2)
        #expect(await Self.post(caller) == .success(Array("{}".utf8)))
        caller.stop()
        caller.stop()
        #expect(await Self.post(caller) == .failure(.stopped))
    }
}
