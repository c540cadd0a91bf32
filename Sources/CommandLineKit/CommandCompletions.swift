/// Scripts that complete the command lines of a program, from the same commands as its parser.
///
/// Each script first finds the command that the words before the cursor name. Then it offers the commands of a group,
/// the options of a command, and files for what is the path of one.
struct CommandCompletions {
    private let name: String
    private let places: [CommandPlace]

    init(_ root: Command) {
        name = root.name
        places = CommandPlace.all(of: root)
    }

    /// Ends with a line feed.
    func script(for shell: CompletionShell) -> String {
        let lines =
            switch shell {
            case .bash: bash
            case .zsh: zsh
            case .fish: fish
            }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The commands below the program, as the scripts compare them.
    private var commandPatterns: [String] { places.dropFirst().map { Self.quote($0.words) } }

    /// A word in single quotes, as all three shells read it unchanged. None of the texts has a backslash.
    private static func quote(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    // MARK: bash

    private var bash: [String] {
        let function = "_" + name.replacing("-", with: "_")
        var lines = [
            "# Completes command lines of \(name) in bash. Made by `\(name) --completions bash`.",
            "\(function)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} place=\(name) index words= files=",
            // Only words at the beginning name commands.
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case \"$place ${COMP_WORDS[index]}\" in",
        ]
        if !commandPatterns.isEmpty {
            lines.append("        \(commandPatterns.joined(separator: " | "))) place+=\" ${COMP_WORDS[index]}\" ;;")
        }
        lines += ["        *) break ;;", "        esac", "    done", "    case \"$place|$previous\" in"]
        for place in places {
            for option in place.options where option.takesValue {
                let pattern = Self.quote("\(place.words)|\(option.name)")
                lines.append(
                    "    \(pattern)) words=\(Self.quote(values(of: option))) files=\(option.takesPath ? "yes" : "no") ;;"
                )
            }
        }
        lines += ["    esac", "    if [[ -z $files ]]; then", "        case $place in"]
        for place in places {
            let words = place.commands.map(\.name) + place.options.map(\.name)
            let files = place.operands.contains(where: \.isPath) ? " files=yes" : ""
            lines.append(
                "        \(Self.quote(place.words))) words=\(Self.quote(words.joined(separator: " ")))\(files) ;;")
        }
        lines += [
            "        esac", "    fi", "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
            "    [[ $files != yes || $word == -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")",
            "}", "complete -o filenames -F \(function) \(name)",
        ]
        return lines
    }

    /// Words that may be an option's value, if they are few.
    private func values(of option: CommandOption) -> String {
        option == .completions ? CompletionShell.allCases.map(\.rawValue).joined(separator: " ") : ""
    }

    // MARK: zsh

    private var zsh: [String] {
        let function = "_" + name.replacing("-", with: "_")
        var lines = [
            "#compdef \(name)", "# Completes command lines of \(name) in zsh. Made by `\(name) --completions zsh`.",
            "\(function)() {", "    local place=\(name)", "    integer index=2", "    local -a commands",
            "    while (( index < CURRENT )); do", "        case \"$place $words[index]\" in",
        ]
        if !commandPatterns.isEmpty {
            lines.append("        (\(commandPatterns.joined(separator: "|"))) place+=\" $words[index]\" ;;")
        }
        lines += [
            "        (*) break ;;", "        esac", "        (( index++ ))", "    done",
            // What follows sees the command's last word as the program.
            "    shift $(( index - 2 )) words", "    (( CURRENT -= index - 2 ))", "    case $place in",
        ]
        for place in places {
            lines.append("    (\(Self.quote(place.words)))")
            if place.commands.isEmpty {
                lines.append("        _arguments -s : \\")
            } else {
                let commands = place.commands.map { Self.quote("\($0.name):\(Self.escapeColons($0.summary))") }
                lines.append("        commands=(\(commands.joined(separator: " ")))")
                lines.append("        _describe -t commands command commands")
                lines.append("        _arguments : \\")
            }
            let rows = place.options.map(zshOption) + place.operands.enumerated().map(zshOperand)
            lines += rows.map { "            \($0) \\" }
            lines += ["            && return 0", "        ;;"]
        }
        lines += ["    esac", "}", "\(function) \"$@\""]
        return lines
    }

    private func zshOption(_ option: CommandOption) -> String {
        let repetition = option.repeats ? "*" : ""
        let help = "[\(Self.escapeBrackets(option.help))]"
        switch option.form {
        case .flag: return Self.quote("\(repetition)\(option.name)\(help)")
        case .flagOrWord(let word): return Self.quote("\(repetition)\(option.name)=-\(help)::\(word):(\(word))")
        case .value(let placeholder), .secret(let placeholder):
            let words = values(of: option)
            let action = option.takesPath ? "_files" : words.isEmpty ? " " : "(\(words))"
            return Self.quote("\(repetition)\(option.name)=\(help):\(placeholder):\(action)")
        }
    }

    private func zshOperand(_ index: Int, _ operand: CommandOperand) -> String {
        Self.quote("\(index + 1):\(operand.placeholder):\(operand.isPath ? "_files" : " ")")
    }

    private static func escapeColons(_ text: String) -> String { text.replacing(":", with: "\\:") }

    private static func escapeBrackets(_ text: String) -> String {
        String(text.flatMap { "[]:".contains($0) ? ["\\", $0] : [$0] })
    }

    // MARK: fish

    private var fish: [String] {
        let function = "__" + name.replacing("-", with: "_") + "_is_at"
        var lines = [
            "# Completes command lines of \(name) in fish. Made by `\(name) --completions fish`.",
            "function \(function)", "    set -l place \(name)", "    for word in (commandline -opc)[2..]",
            "        switch \"$place $word\"",
        ]
        if !commandPatterns.isEmpty {
            lines.append("            case \(commandPatterns.joined(separator: " "))")
            lines.append("                set place \"$place $word\"")
        }
        lines += [
            "            case '*'", "                break", "        end", "    end",
            "    test \"$place\" = \"$argv[1]\"",
            "end", "complete -c \(name) -f",
        ]
        for place in places {
            let condition = "complete -c \(name) -n \(Self.fishQuote("\(function) '\(place.words)'"))"
            for command in place.commands {
                lines.append("\(condition) -a \(command.name) -d \(Self.fishQuote(command.summary))")
            }
            if place.operands.contains(where: \.isPath) { lines.append("\(condition) -F") }
            lines += place.options.map { "\(condition) \(fishOption($0))" }
        }
        return lines
    }

    private func fishOption(_ option: CommandOption) -> String {
        let values = values(of: option)
        let argument =
            if !option.takesValue {
                ""
            } else if option.takesPath {
                " -r -F"
            } else {
                values.isEmpty ? " -x" : " -x -a \(Self.fishQuote(values))"
            }
        return "-l \(option.name.dropFirst(2))\(argument) -d \(Self.fishQuote(option.help))"
    }

    /// Single quotes of fish know two escapes.
    private static func fishQuote(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
