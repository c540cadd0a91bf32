import KeyCrypto
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The child process that loads an accelerator first. Shell scripts take its place; `test_accelerator.py` has the rest.
@Suite(.tags(.startsProcesses)) struct AcceleratorTrialTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
        try folder.write("libcrypto_mb.so", [], mode: 0o755)
    }

    private var library: String { folder.path + "/libcrypto_mb.so" }

    /// Runs a trial with a script, and returns why OpenSSL serves.
    private func refusal(_ script: String, within limit: Duration = .seconds(60)) throws -> AcceleratorRefusal? {
        try folder.write("trial", Array("#!/bin/sh\n\(script)\n".utf8), mode: 0o755)
        do throws(AcceleratorRefusal) {
            try AcceleratorTrial.run(path: library, program: folder.path + "/trial", within: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func passesIfTheChildDoes() throws {
        #expect(try refusal("[ $# -eq 2 ] && [ \"$2\" = \"\(library)\" ] && exit 13") == nil)
    }

    @Test(arguments: [
        ("kill -BUS $$", "was ended by SIGBUS"), ("kill -ILL $$", "was ended by SIGILL"),
        ("exit 1", "has ended with status 1"), ("exit 0", "has ended with status 0"),
    ])
    func saysHowTheChildEnded(script: String, end: String) throws {
        #expect(try refusal(script) == .trialFailed(end))
    }

    @Test func takesTheReasonOfTheChild() throws {
        #expect(try refusal("printf 'no function' >&3; exit 10") == .trialRefused("no function"))
        #expect(try refusal("exit 10") == .trialRefused("it did not say why"))
        #expect(try refusal("exit 11") == .processorUnsuited)
    }

    @Test func endsAChildThatHangs() throws {
        #expect(
            try refusal("exec sleep 600", within: .milliseconds(50)) == .trialFailed("has not ended within 0 s"))
    }

    @Test func startsNoChildWithoutALibrary() {
        #expect(throws: AcceleratorRefusal.notInstalled(path: "/nowhere/libcrypto_mb.so")) {
            try AcceleratorTrial.run(path: "/nowhere/libcrypto_mb.so", program: "/nowhere/latchkeyd")
        }
        #expect(throws: AcceleratorRefusal.self) {
            try AcceleratorTrial.run(path: library, program: "/nowhere/latchkeyd")
        }
    }

    @Test func isNoCommandForPeople() {
        #expect(AcceleratorTrial.runIfAsked(["latchkeyd", "--config", "latchkey.json5"]) == nil)
        #expect(AcceleratorTrial.runIfAsked(["latchkeyd", "--accelerator-trial"]) == nil)
    }
}
