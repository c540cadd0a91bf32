/// How much a log line matters; names and order are those of swift-log.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Every step, for those who change the code.
    case trace
    /// What helps to find a fault, too much for every day.
    case debug
    /// What operators want to be able to look up, such as a decision.
    case info
    /// Not a fault, yet worth noticing, such as a start, a stop, a reload.
    case notice
    /// Something that becomes a fault if it is not mended.
    case warning
    /// Something failed that should not.
    case error
    /// The service as a whole is in danger.
    case critical

    /// Orders levels from trace to critical.
    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rank < right.rank
    }

    /// The place in the order, from 0.
    var rank: UInt8 {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }
}
