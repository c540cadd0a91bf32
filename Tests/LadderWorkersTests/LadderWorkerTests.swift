import TestSupport
import Testing

/// All tests that start worker processes. They run one at a time, so that processes and descriptors can be counted.
@Suite(.tags(.startsProcesses), .serialized) struct LadderWorkerTests {}
