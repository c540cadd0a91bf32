import TestSupport
import Testing

@testable import CommandLineKit

/// What programs print of themselves for manuals and shells, from the commands of their parser.
@Suite(.tags(.startsProcesses)) struct ProgramTextTests {
    private static let tool = Command(
        "tool", summary: "A tool with 3 commands", examples: ["tool keys list"],
        commands: [
            Command(
                "keys", summary: "Keys: a group", examples: ["tool keys list"],
                commands: [
                    Command(
                        "import", summary: "Import a key",
                        details: ".hidden begins a line.\n\nIt's a second paragraph with \\ in it.",
                        examples: ["tool keys import x --config c"],
                        operands: [CommandOperand("FILE", help: "a file")],
                        options: [
                            CommandOption("--config", .value("FILE"), help: "the file", isRequired: true),
                            CommandOption("--alias", .value("TEXT"), help: "a name [or two]", repeats: true),
                            CommandOption("--check", .flagOrWord("full"), help: "look first"),
                            .json,
                        ], run: { _, _ in }),
                    Command("list", summary: "List", examples: ["tool keys list"], run: { _, _ in }),
                ]),
            Command("init", summary: "Begin", examples: ["tool init"], run: { _, _ in }),
        ])

    private func text(_ words: String..., of command: Command = tool) throws -> String {
        guard case .text(let text) = try ArgumentParser(command, version: "7.8.9").parse(words) else { return "" }
        return text
    }

    // MARK: Manual

    @Test func itsManualHasEveryCommandAndOption() throws {
        let manual = try text("--man")
        let lines = manual.split(separator: "\n").map(String.init)
        #expect(lines.contains(".TH TOOL 1 \"\" \"Latchkey 7.8.9\" \"Latchkey\""))
        for place in CommandPlace.all(of: Self.tool).dropFirst() { #expect(lines.contains(".SS \(place.words)")) }
        for line in [
            ".B \\-\\-config FILE", ".B \\-\\-check[=full]", ".I FILE", "the file (required; or in LATCHKEY_CONFIG)",
        ] {
            #expect(lines.contains(line), "\(line) in:\n\(manual)")
        }
        #expect(lines.contains("\\&.hidden begins a line."))
        #expect(lines.contains("It\\(aqs a second paragraph with \\e in it."))
        // Whatever begins with a period is a request, and of those there are few.
        let requests = Set(lines.filter { $0.hasPrefix(".") }.map { String($0.prefix { $0 != " " }) })
        #expect(requests == [".\\\"", ".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".br", ".nf", ".fi"])
    }

    // MARK: Completions

    /// What bash offers for a command line whose last word is begun.
    private func completions(_ words: [String]) throws -> Set<String> {
        let folder = try TemporaryDirectory()
        try folder.write(try text("--completions").utf8, to: "tool.bash")
        try folder.write([1], to: "a-file")
        let script = """
            cd "$1"; source ./tool.bash; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _tool
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let process = try ChildProcess(
            program: "/bin/bash", arguments: ["-c", script, "complete", folder.path] + words)
        #expect(process.waitForExit() == 0)
        #expect(process.messages.text.isEmpty, "\(process.messages.text)")
        return Set(process.output.text.split(separator: "\n").map(String.init))
    }

    private static let lines: [([String], Set<String>)] = [
        (["tool", ""], ["keys", "init", "help", "--version", "--man", "--completions", "--help"]),
        (["tool", "k"], ["keys"]),
        (["tool", "help", "keys", "i"], ["import"]),
        (["tool", "keys", ""], ["import", "list", "--help"]),
        (["tool", "keys", "import", "--"], ["--config", "--alias", "--check", "--json", "--help"]),
        (["tool", "keys", "import", "a"], ["a-file"]),
        (["tool", "keys", "import", "--json", "--con"], ["--config"]),
        (["tool", "keys", "import", "--config", ""], ["a-file", "tool.bash"]),
        // What is no file is not guessed.
        (["tool", "keys", "import", "--alias", ""], []),
        (["tool", "keys", "list", "--con"], []),
        // An operand that has the name of a command is none.
        (["tool", "keys", "import", "list", "--c"], ["--config", "--check"]),
    ]

    @Test(arguments: lines)
    func bashOffersWhatTheParserTakes(words: [String], offered: Set<String>) throws {
        #expect(try completions(words) == offered)
    }

    @Test func itsScriptKnowsEveryCommandAndOption() throws {
        let script = try text("--completions")
        for place in CommandPlace.all(of: Self.tool) {
            #expect(script.contains("'\(place.words)'"), "\(place.words)")
            for option in place.options { #expect(script.contains(option.name)) }
        }
    }

    @Test func refusesThemBehindACommandAndWithAValue() throws {
        #expect(throws: UsageError.self) { try text("--completions=bash") }
        #expect(throws: UsageError.self) { try text("keys", "--man") }
    }

    /// A program without commands has them among its options.
    @Test func aProgramOfOneCommandHasThemToo() throws {
        let daemon = Command(
            "daemon", summary: "Serve", examples: ["daemon"],
            options: [CommandOption("--config", .value("FILE"), help: "the file", isRequired: true)], run: { _, _ in })
        #expect(try text("--man", of: daemon).contains(".SH OPTIONS\n.TP\n.B \\-\\-config FILE\n"))
        #expect(try text("--completions", of: daemon).contains("'daemon|--config') files=yes"))
        #expect(try text("--help", of: daemon).contains("--completions"))
    }
}
