import Testing

@testable import ServiceConfiguration

@Suite struct TLSWarningTests {
    @Test(
        arguments: [
            (1, 2, TLSWarning.begins(at: 1)),
            (100, Int64.max, .begins(at: 100)),
            (-1, 0, .ended(at: 0)),
            (Int64.min, Int64.min, .ended(at: .min)),
            (0, 1, .ends(days: 0)),
            (0, 2_592_000, .ends(days: 30)),
        ] as [(Int64, Int64, TLSWarning)])
    func saysWhyClientsRefuseACertificate(begin: Int64, end: Int64, warning: TLSWarning) {
        #expect(TLSWarning(begin: begin, end: end, now: 0) == warning)
    }

    @Test func isNotGivenWithoutCause() {
        #expect(TLSWarning(begin: 0, end: 2_592_001, now: 0) == nil)
    }

    @Test func namesTheBeginning() {
        #expect("\(TLSWarning.begins(at: 1_700_000_000))".contains("2023-11-14T22:13:20Z"))
    }
}
