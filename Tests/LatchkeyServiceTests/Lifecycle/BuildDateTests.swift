import POSIXSockets
import Telemetry
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct BuildDateTests {
    /// The build date counts from a day earlier, because its time zone is not known.
    @Test(arguments: [
        ("Jan 31 2026", 1_769_817_600 - 86_400), ("Feb  1 2026", 1_769_904_000 - 86_400),
        ("Dec 31 1999", 946_598_400 - 86_400),
    ])
    func readsTheCompilersDate(date: String, expected: Int64) {
        #expect(BuildDate.earliest(date) == expected)
    }

    @Test(arguments: ["", "Foo 1 2026", "Jan 2026", "Jan 32 2026", "Jan x 2026"])
    func isNilForWhatIsNoDate(date: String) {
        #expect(BuildDate.earliest(date) == nil)
    }

    @Test func thisProgramWasBuiltBeforeNow() throws {
        let built = try #require(BuildDate.earliest())
        #expect(built <= SystemWallClock().wallTime.seconds)
        #expect(built > 1_700_000_000)
    }

    @Test func theErrorSaysWhatToDo() {
        let text = DaemonError.clockBeforeBuild(now: 978_307_200, built: 1_769_817_600).description
        #expect(text.contains("2001-01-01T00:00:00Z") && text.contains("2026-01-31T00:00:00Z"))
        #expect(text.contains("timedatectl"))
    }
}
