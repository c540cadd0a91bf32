import ByteCoding
import Records
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import RouteKit

/// What devices have stated in the last hour.
@Suite struct DeviceHistoryTests {
    private let clock = ManualClock(wallTime: WallTime(seconds: 1_000_000))
    private let tally = DeviceTally(in: MetricsRegistry())
    private let history: DeviceHistory

    init() {
        history = DeviceHistory(tally, wallClock: clock, clock: clock)
    }

    private func device(_ number: UInt32, major: UInt32 = 17) -> DeviceSummary {
        var device = DeviceSummary(versions: .init(used: 1, newest: 1))
        (device.deviceClass, device.operatingSystem) = (number, major << 16)
        return device
    }

    private struct Answer: Equatable {
        var since: Int64 = 0
        /// Value, licenses and refusals of each class.
        var classes: [String] = []
    }

    private func answer() throws -> Answer {
        let object = try #require(JSONReader.parse(JSONWriter.object { history.write(to: &$0) }).object)
        let classes = try #require(object["device_class"]?.array).compactMap(\.object)
        return Answer(
            since: try #require(object["since"]?.number?.signed),
            classes: classes.map { one in
                "\(one["value"]?.string ?? "") \(one["licenses"]?.number?.signed ?? -1) \(one["refusals"]?.number?.signed ?? -1)"
            })
    }

    @Test func countsSinceTheStart() throws {
        #expect(try answer() == Answer(since: 1_000_000))
        tally.noteLicense(device(2))
        tally.noteLicense(device(2))
        tally.noteRefusal(device(3))
        #expect(try answer() == Answer(since: 1_000_000, classes: ["mobile 2 0", "desktop 0 1"]))
    }

    @Test func forgetsWhatIsOlderThanAnHour() throws {
        tally.noteLicense(device(2))
        for minute in 1...90 {
            clock.advance(by: .seconds(60))
            if minute == 20 { tally.noteRefusal(device(1)) }
            if minute == 80 { tally.noteRefusal(device(2)) }
            // Looks between two samples take none.
            history.look()
            history.look()
        }
        #expect(try answer() == Answer(since: 1_000_000 + 31 * 60, classes: ["mobile 0 1"]))
    }
}
