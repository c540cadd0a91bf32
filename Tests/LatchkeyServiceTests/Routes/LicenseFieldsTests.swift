import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Header fields that tell an app about its license, because FairPlay tells the app nothing.
@Suite struct LicenseFieldsTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    private func fields(_ right: Right) async throws -> HTTPFields {
        let request = try fixture.deviceRequest(.v1) {
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        }
        return await fixture.license(request.message, token: try fixture.token([right])).fields
    }

    @Test func sayWhenALeaseIsToBeRenewed() async throws {
        let fields = try await fields(Right(.content("movie-1"), lease: 300))
        let issued = try #require(fields["X-License-Issued"].flatMap { Int64($0) })
        #expect(issued == fixture.clock.wallTime.seconds)
        #expect(fields["X-License-Type"] == "lease")
        #expect(fields["X-License-Expires"] == String(issued + 300))
        let renewal = try #require(fields["X-License-Renew-After"].flatMap { Int64($0) })
        #expect((issued + 170...issued + 200).contains(renewal))
    }

    @Test func sayNothingOfAnEndThatIsNot() async throws {
        let fields = try await fields(Right(.content("movie-1")))
        #expect(fields["X-License-Type"] == "session")
        #expect(fields["X-License-Expires"] == nil && fields["X-License-Renew-After"] == nil)
    }

    @Test func nameEachLicense() async throws {
        let first = try await fields(Right(.content("movie-1")))["X-License-Id"]
        let second = try await fields(Right(.content("movie-1")))["X-License-Id"]
        #expect(first?.utf8.count == 32 && second?.utf8.count == 32)
        #expect(first != second)
    }
}
