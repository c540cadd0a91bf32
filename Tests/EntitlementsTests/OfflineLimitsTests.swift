import Testing

@testable import Entitlements

@Suite struct OfflineLimitsTests {
    private static func dual(_ storage: UInt32?, _ playback: UInt32) -> OfflineLimits {
        .dualExpiry(OfflineLimits.DualExpiry(storage: storage, playback: playback))
    }

    @Test(
        arguments: [
            (.unlimited, nil), (.singleExpiry(seconds: 1), 1), (.singleExpiry(seconds: 0xFFFF_FFFE), 0xFFFF_FFFE),
            (dual(7, 5), 5), (dual(5, 7), 5), (dual(nil, 7), 7),
        ] as [(OfflineLimits, UInt32?)])
    func oneExpiryKeepsBoth(limits: OfflineLimits, seconds: UInt32?) {
        #expect(limits.asSingleExpiry == seconds)
    }

    @Test(arguments: [
        (UInt32(2), UInt32(1), UInt32(1)), (3, 2, 1), (100, 50, 50), (0xFFFF_FFFE, 0x7FFF_FFFF, 0x7FFF_FFFF),
    ])
    func twoExpiriesShareWhatOneHas(seconds: UInt32, storage: UInt32, playback: UInt32) {
        #expect(
            OfflineLimits.singleExpiry(seconds: seconds).asDualExpiry
                == OfflineLimits.DualExpiry(storage: storage, playback: playback))
    }

    @Test func aSecondCannotBeShared() {
        #expect(OfflineLimits.singleExpiry(seconds: 1).asDualExpiry == nil)
        #expect(OfflineLimits.unlimited.asDualExpiry == nil)
    }
}
