/// Where log lines go.
package protocol LogSink: Sendable {
    /// Takes one whole line, its line feed included; never blocks for longer than a copy takes.
    ///
    /// A line that is `precious` has room of its own, which other lines cannot fill.
    func append(_ line: [UInt8], isPrecious: Bool)

    /// How many lines have been lost so far.
    var droppedLineCount: UInt64 { get }

    /// Waits until every line taken so far has left the process, at most so long; false if the time was up.
    @discardableResult
    func flush(timeout: Duration) -> Bool
}
