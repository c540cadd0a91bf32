import HTTPMessages
import TestSupport
import Testing

@testable import HTTPServing

/// The memory that an HTTP/2 session reports, and how the session releases it.
@Suite struct HTTP2MemoryTests {
    private static let flags = HTTP2Frame.endHeaders

    @Test func holdsHeadsAndBodiesUntilTheirRequestIsComplete() {
        let script = HTTP2Script()
        let empty = script.session.heldMemory
        #expect(empty == HeldMemory(connection: HeldMemory.http2Size))
        script.send(.request(1, "POST", flags: Self.flags), .data(1, [UInt8](repeating: 1, count: 1000), flags: 0))
        #expect(script.session.heldMemory.bodies == 1000)
        #expect(script.session.heldMemory.heads > HeldMemory.streamSize)
        #expect(!script.session.isIdle)
        script.send(.data(1, [1], flags: HTTP2Frame.endStream))
        #expect(script.session.heldMemory == empty)
        script.respond(HTTPResponse(status: .ok, body: [1, 2, 3]), to: 1)
        #expect(script.session.heldMemory.outbound == 3)
        _ = script.output()
        #expect(script.session.heldMemory == empty)
        #expect(script.session.isIdle)
    }

    @Test func refusesTheNewestRequestThatIsArriving() {
        let script = HTTP2Script()
        for id: UInt32 in [1, 3, 5] { script.send(.request(id, "POST", flags: Self.flags)) }
        script.send(.request(7, path: "/whole"))
        _ = script.events()
        #expect(script.session.makeRoom(now: script.now) == .request)
        #expect(script.events() == [.refuse(5, .overloaded)])
        #expect(script.session.makeRoom(now: script.now) == .request)
        #expect(script.session.makeRoom(now: script.now) == .request)
        #expect(script.events() == [.refuse(3, .overloaded), .refuse(1, .overloaded)])
        // The complete request is being answered, and is not affected.
        #expect(script.session.makeRoom(now: script.now) == .none)
        #expect(script.session.heldMemory == HeldMemory(connection: HeldMemory.http2Size))
    }

    /// If a client continues after a refusal by its head, its stream holds memory, but its answer holds none. Such
    /// streams are ended first.
    @Test func endsStreamsThatAreAnsweredFirst() {
        let script = HTTP2Script()
        let empty = script.session.heldMemory
        script.decision = .refuse(HTTPResponse(status: .unauthorized, body: [1, 2, 3]))
        script.send(.request(1, "POST", flags: Self.flags), .request(3, "POST", flags: Self.flags))
        _ = script.events()
        #expect(script.session.heldMemory.outbound == 6)
        _ = script.output()
        #expect(script.session.heldMemory.outbound == 0)
        #expect(script.session.heldMemory.heads == 2 * HeldMemory.streamSize)
        script.decision = .keep
        script.send(.request(5, "POST", flags: Self.flags))
        _ = script.events()
        #expect(script.session.makeRoom(now: script.now) == .answered)
        #expect(script.events() == [])
        #expect(script.output().filter { $0.type == 3 }.map(\.streamID).sorted() == [1, 3])
        #expect(script.session.heldMemory.heads > HeldMemory.streamSize)
        #expect(script.session.makeRoom(now: script.now) == .request)
        #expect(script.events() == [.refuse(5, .overloaded)])
        #expect(script.session.heldMemory == empty)
    }
}
