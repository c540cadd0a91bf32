import EventLoops

/// The loop of the routines of one test.
final class UpkeepLoop: Sendable {
    private let group: EventLoopGroup

    var context: LoopContext { group.loops[0] }

    init() throws {
        group = try EventLoopGroup(count: 1, name: "upkeep")
    }

    deinit { group.stop(within: .seconds(10)) }
}
