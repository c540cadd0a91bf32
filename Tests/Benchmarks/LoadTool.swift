import Foundation

/// Outside load generators: `wrk` for HTTP/1.1, `h2load` for HTTP/2.
enum LoadTool {
    /// Runs a tool, and returns the words of its output.
    private static func run(_ arguments: [String]) throws -> [Substring] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(arguments[0]) failed: \(text)") }
        return text.split(whereSeparator: { " ,\n".contains($0) })
    }

    /// Runs `wrk`. Returns the requests per second, and the number of answers. Throws if a request failed.
    ///
    /// A Lua script may choose the requests. If a core is given, the tool runs only on this core.
    static func wrk(
        _ url: String, script: URL? = nil, connections: Int, seconds: Int, core: Int? = nil
    ) throws -> (rate: Double, count: Int) {
        let options = script.map { ["-s", $0.path] } ?? []
        let place = core.map { ["taskset", "-c", "\($0)"] } ?? []
        let words = try run(place + ["wrk", "-t1", "-c\(connections)", "-d\(seconds)s"] + options + [url])
        // "12345 requests in 1.10s, 1.20MB read", "Requests/sec: 11222.33"; lines about errors only if there were
        // some.
        guard let rate = words.firstIndex(of: "Requests/sec:").flatMap({ Double(words[$0 + 1]) }),
            let count = words.firstIndex(of: "requests").flatMap({ Int(words[$0 - 1]) }), count > 0,
            !words.contains("Non-2xx"), !words.contains("Socket")
        else { throw BenchmarkError("wrk failed: \(words.joined(separator: " "))") }
        return (rate, count)
    }

    /// Runs `h2load` with these options. Returns the same figures as `wrk`.
    static func h2load(_ url: String, _ options: [String], seconds: Int) throws -> (rate: Double, count: Int) {
        let words = try run(["h2load"] + options + ["-D", "\(seconds)", url])
        // "finished in 1.00s, 12345.67 req/s, ...", "requests: 100 total, ..., 100 succeeded, 0 failed, 0 errored, ..."
        guard let rate = words.firstIndex(of: "req/s").flatMap({ Double(words[$0 - 1]) }),
            let count = words.firstIndex(of: "succeeded").flatMap({ Int(words[$0 - 1]) }), count > 0,
            words.firstIndex(of: "failed").flatMap({ Int(words[$0 - 1]) }) == 0
        else { throw BenchmarkError("h2load failed: \(words.joined(separator: " "))") }
        return (rate, count)
    }
}
