import Testing

@testable import CommandLineKit

@Suite struct ArgumentParserTests {
    private static let config = CommandOption("--config", .value("FILE"), help: "the file", isRequired: true)
    private static let key = CommandOption("--key", .secret("HEX"), help: "the key")
    private static let iv = CommandOption("--iv", .secret("HEX"), help: "the vector")
    private static let alias = CommandOption("--alias", .value("TEXT"), help: "a name", repeats: true)
    private static let check = CommandOption("--check", .flagOrWord("full"), help: "look first")
    private static let options = [config, key, iv, alias, check, .json]

    private static let tool = Command(
        "tool", summary: "A tool", examples: ["tool keys import x"],
        commands: [
            Command(
                "keys", summary: "Keys", examples: ["tool keys list"],
                commands: [
                    Command(
                        "import", summary: "Import a key", details: "More words.", examples: ["tool keys import x"],
                        operands: [CommandOperand("FILE", help: "a file")], options: options, run: { _, _ in }),
                    Command("list", summary: "List", examples: ["tool keys list"], run: { _, _ in }),
                    Command(
                        "show", summary: "Show keys", examples: ["tool keys show"],
                        operands: [
                            CommandOperand("KEY", help: "a key"),
                            CommandOperand("NAME", help: "a part of it", isOptional: true, repeats: true),
                        ], options: [.json], run: { _, _ in }),
                ]),
            Command("init", summary: "Begin", examples: ["tool init"], run: { _, _ in }),
        ])

    private func arguments(_ words: [String]) throws -> Arguments {
        let invocation = try ArgumentParser(Self.tool).parse(words)
        guard case .run(let path, _, let arguments) = invocation else {
            throw UsageError(path: "not a run", .commandMissing)
        }
        #expect(path == "tool keys import")
        return arguments
    }

    private func text(_ words: String...) throws -> String {
        guard case .text(let text) = try ArgumentParser(Self.tool, version: "7.8.9").parse(words) else { return "" }
        return text
    }

    private static let minimum = ["keys", "import", "a.bin", "--config", "c"]

    @Test func readsOptionsAndOperandsInAnyOrder() throws {
        let orders = [
            ["keys", "import", "a.bin", "--config", "c", "--json"],
            ["keys", "import", "--json", "--config=c", "a.bin"],
            ["keys", "import", "--config", "c", "--json", "--", "a.bin"],
        ]
        for words in orders {
            let arguments = try arguments(words)
            #expect(try arguments.operand(0) == "a.bin")
            #expect(try arguments.required(Self.config) == "c")
            #expect(arguments.isSet(.json))
            #expect(!arguments.isSet(Self.key))
            #expect(arguments.value(Self.key) == nil)
        }
    }

    @Test func readsAFlagThatMayHaveAWord() throws {
        let plain = try arguments(Self.minimum + ["--check"])
        #expect(plain.isSet(Self.check) && plain.value(Self.check) == "")
        let full = try arguments(Self.minimum + ["--check=full"])
        #expect(full.value(Self.check) == "full")
        // The next word is not read as the option's value.
        #expect(throws: UsageError.self) { try arguments(Self.minimum + ["--check", "full"]) }
    }

    @Test(arguments: [
        (["--alias=--x"], "--x"), (["--alias", "-x"], "-x"), (["--alias="], ""), (["--alias", "-"], "-"),
        (["--alias", "a=b"], "a=b"), (["--alias=a=b"], "a=b"),
    ])
    func takesValuesThatLookOdd(words: [String], value: String) throws {
        #expect(try arguments(Self.minimum + words).value(Self.alias) == value)
    }

    @Test func keepsRepeatedValuesInOrder() throws {
        #expect(try arguments(Self.minimum + ["--alias", "b", "--alias=a"]).values(Self.alias) == ["b", "a"])
    }

    @Test func takesWhatFollowsTwoHyphensAsOperands() throws {
        #expect(try arguments(["keys", "import", "--config", "c", "--", "--json"]).operands == ["--json"])
    }

    /// The last operand of a command may come any number of times, or not at all.
    @Test(arguments: [["k"], ["k", "a"], ["k", "a", "b", "c"]])
    func takesAnOperandThatRepeats(operands: [String]) throws {
        let invocation = try ArgumentParser(Self.tool).parse(["keys", "show"] + operands + ["--json"])
        guard case .run(_, _, let arguments) = invocation else {
            Issue.record("not a run: \(invocation)")
            return
        }
        #expect(arguments.operands == operands)
        #expect(arguments.isSet(.json))
        #expect(try text("keys", "show", "--help").contains("Usage: tool keys show KEY [NAME ...] [OPTIONS]"))
        #expect(throws: UsageError(path: "tool keys show", .operandMissing("KEY"))) {
            try ArgumentParser(Self.tool).parse(["keys", "show"])
        }
    }

    @Test(arguments: [
        ([], "tool", UsageProblem.commandMissing),
        (["keys"], "tool keys", .commandMissing),
        (["kyes"], "tool", .unknownCommand("kyes", nearest: "keys")),
        (["zzzzzz"], "tool", .unknownCommand("zzzzzz", nearest: nil)),
        (["keys", "improt"], "tool keys", .unknownCommand("improt", nearest: "import")),
        (["--jsno", "keys"], "tool", .unknownOption("--jsno", nearest: nil)),
        (minimum + ["--jsno"], "tool keys import", .unknownOption("--jsno", nearest: "--json")),
        (minimum + ["--kye=secret"], "tool keys import", .unknownOption("--kye", nearest: "--key")),
        (minimum + ["-j"], "tool keys import", .unknownOption("-j", nearest: nil)),
        (minimum + ["--key"], "tool keys import", .valueMissing("--key HEX|@FILE|-")),
        (minimum + ["--key", "--json"], "tool keys import", .valueMissing("--key HEX|@FILE|-")),
        (minimum + ["--json=yes"], "tool keys import", .valueUnexpected("--json")),
        (minimum + ["--check=half"], "tool keys import", .valueUnknown("--check[=full]")),
        (minimum + ["--check="], "tool keys import", .valueUnknown("--check[=full]")),
        (minimum + ["--check", "--check=full"], "tool keys import", .givenTwice("--check")),
        (minimum + ["--json", "--json"], "tool keys import", .givenTwice("--json")),
        (minimum + ["--config", "d"], "tool keys import", .givenTwice("--config")),
        (
            ["keys", "import", "a.bin"], "tool keys import",
            .optionMissing("--config FILE", variable: "LATCHKEY_CONFIG")
        ),
        (["keys", "import", "--config", "c"], "tool keys import", .operandMissing("FILE")),
        (minimum + ["b.bin"], "tool keys import", .unexpectedArgument(position: 2)),
        (["init", "here"], "tool init", .unexpectedArgument(position: 1)),
        (
            ["keys", "import", "a.bin", "latchkey.json5"], "tool keys import",
            .unexpectedArgument(position: 2, missing: "--config FILE")
        ),
        (minimum + ["--key", "-", "--iv", "-"], "tool keys import", .inputTakenTwice("--key", "--iv")),
    ])
    func refuses(words: [String], path: String, problem: UsageProblem) {
        #expect(throws: UsageError(path: path, problem)) { try ArgumentParser(Self.tool).parse(words) }
    }

    /// The command line counts before the environment, and an empty variable is none.
    @Test(arguments: [
        (["--config", "c"], "other", "c"), ([], "other", "other"), ([], "", nil), ([], nil, nil),
    ])
    func takesTheConfigurationFromTheEnvironment(words: [String], variable: String?, value: String?) throws {
        let environment = variable.map { ["LATCHKEY_CONFIG": $0] } ?? [:]
        let parser = ArgumentParser(Self.tool, environment: environment.merging(["--key": "k"]) { $1 })
        let all = ["keys", "import", "a.bin"] + words
        guard let value else {
            #expect(throws: UsageError.self) { try parser.parse(all) }
            return
        }
        guard case .run(_, _, let arguments) = try parser.parse(all) else {
            throw UsageError(path: "", .commandMissing)
        }
        #expect(arguments.value(Self.config) == value)
        #expect(!arguments.isSet(Self.key))
    }

    @Test(arguments: [
        ("300", 300), ("5m", 300), ("300s", 300), ("1h", 3600), ("59s", nil), ("300000ms", nil), ("5min", nil),
        ("-5m", nil),
        ("", nil), ("2d", nil),
    ])
    func readsADuration(text: String, seconds: Int64?) throws {
        let option = CommandOption("--alias", .value("DURATION"), help: "how long")
        let arguments = try arguments(Self.minimum + ["--alias=\(text)"])
        guard let seconds else {
            let error = #expect(throws: CommandError.self) { try arguments.seconds(option, in: 60...86_400) }
            #expect(try #require(error).text.contains("from 1m to 1d"))
            return
        }
        #expect(try arguments.seconds(option, in: 60...86_400) == seconds)
    }

    @Test func helpIsACommandToo() throws {
        #expect(try text("help", "keys", "import") == text("keys", "import", "--help"))
        #expect(try text("help", "keys") == text("keys", "--help"))
        #expect(try text("help") == text("--help"))
        #expect(try text("--help").contains("help  "))
        #expect(throws: UsageError(path: "tool", .unknownCommand("kyes", nearest: "keys"))) {
            try ArgumentParser(Self.tool).parse(["help", "kyes"])
        }
        #expect(throws: UsageError(path: "tool", .unknownCommand("hepl", nearest: "help"))) {
            try ArgumentParser(Self.tool).parse(["hepl"])
        }
    }

    @Test func repeatsNoValueInAMessage() {
        let secret = "0123456789abcdef0123456789abcdef"
        let lines = [
            ["--kye=\(secret)"], ["--json=\(secret)"], [secret], ["--key", "--iv=\(secret)"],
            ["--key=\(secret)", "--key=\(secret)"],
        ]
        for words in lines {
            do throws(UsageError) {
                _ = try ArgumentParser(Self.tool).parse(Self.minimum + words)
                Issue.record("accepted \(words)")
            } catch {
                #expect(!error.problem.description.contains(secret))
            }
        }
    }

    @Test func helpsWhereverItIsAsked() throws {
        for word in ["--help", "-h"] {
            #expect(try text(word).contains("keys"))
            #expect(try text("keys", word).contains("import"))
            let help = try text("keys", "import", "--nonsense", word)
            for part in [
                "Import a key.", "More words.", "tool keys import FILE", "--alias TEXT", "Examples:",
                "(required; or in LATCHKEY_CONFIG)",
            ] {
                #expect(help.contains(part), "\(part) is missing in:\n\(help)")
            }
        }
    }

    @Test func tellsItsVersionAtTheRootAlone() throws {
        #expect(try text("--version") == "7.8.9\n")
        #expect(throws: UsageError.self) { try text("keys", "--version") }
        let single = Command("daemon", summary: "Serve", examples: ["daemon"], options: [Self.config], run: { _, _ in })
        guard case .text(let version) = try ArgumentParser(single, version: "1.2").parse(["--version"]) else {
            Issue.record("no version")
            return
        }
        #expect(version == "1.2\n")
    }

    @Test(arguments: [("0", Int64?.none), ("1", 1), ("60", 60), ("61", nil), ("-1", nil), ("1.0", nil), ("", nil)])
    func readsSecondsWithinTheRange(text: String, seconds: Int64?) throws {
        let arguments = try arguments(Self.minimum + ["--alias=\(text)"])
        if let seconds {
            #expect(try arguments.seconds(Self.alias, in: 1...60) == seconds)
        } else {
            #expect(throws: CommandError.self) { try arguments.seconds(Self.alias, in: 1...60) }
        }
    }
}
