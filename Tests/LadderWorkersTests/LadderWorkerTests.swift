import TestSupport
import Testing

/// All that starts worker processes: one test at a time, so that processes and descriptors can be counted.
@Suite(.tags(.startsProcesses), .serialized) struct LadderWorkerTests {}
