/// Where log lines go.
package protocol LogSink: Sendable {
    /// Takes one whole line, its line feed included; never blocks for longer than a copy takes.
    func append(_ line: [UInt8])

    /// Waits until every line taken so far has left the process, at most so long; false if the time was up.
    @discardableResult
    func flush(timeout: Duration) -> Bool
}
