import Foundation

/// How many inputs the tests with random or many inputs take.
///
/// `Scripts/test` and CI take the short form. `Scripts/test --long` takes the long form, as does each run with the
/// variable LATCHKEY_TEST_LONG.
package enum TestLength {
    private static let isLong = ProcessInfo.processInfo.environment["LATCHKEY_TEST_LONG"] != nil

    package static func inputs(short: Int, long: Int) -> Int { isLong ? long : short }
}
