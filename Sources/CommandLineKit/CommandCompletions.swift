/// A script with which bash completes the command lines of a program, from the same commands as its parser.
///
/// It first finds the command that the words before the cursor name. Then it offers the commands of a group, the
/// options of a command, and files for what is the path of one.
struct CommandCompletions {
    private let name: String
    private let places: [CommandPlace]

    init(_ root: Command) {
        name = root.name
        places = CommandPlace.all(of: root)
    }

    /// Ends with a line feed.
    var script: String {
        let function = "_" + name.replacing("-", with: "_")
        var lines = [
            "# Completes command lines of \(name) in bash. Made by `\(name) --completions`.",
            "\(function)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} place=\(name) index words= files=",
            // Only words at the beginning name commands.
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case \"$place ${COMP_WORDS[index]}\" in",
        ]
        let commands = places.dropFirst().map { Self.quote($0.words) }
        if !commands.isEmpty {
            // `help` stands before the name of a command, so the words behind it complete as without it.
            lines.append("        \(Self.quote("\(name) \(Command.helpWord)"))) ;;")
            lines.append("        \(commands.joined(separator: " | "))) place+=\" ${COMP_WORDS[index]}\" ;;")
        }
        lines += ["        *) break ;;", "        esac", "    done", "    case \"$place|$previous\" in"]
        for place in places {
            for option in place.options where option.takesValue {
                let pattern = Self.quote("\(place.words)|\(option.name)")
                lines.append("    \(pattern)) files=\(option.takesPath ? "yes" : "no") ;;")
            }
        }
        lines += ["    esac", "    if [[ -z $files ]]; then", "        case $place in"]
        for place in places {
            let help = place.path.count == 1 && !place.commands.isEmpty ? [Command.helpWord] : []
            let words = place.commands.map(\.name) + help + place.options.map(\.name)
            let files = place.operands.contains(where: \.isPath) ? " files=yes" : ""
            lines.append(
                "        \(Self.quote(place.words))) words=\(Self.quote(words.joined(separator: " ")))\(files) ;;")
        }
        lines += [
            "        esac", "    fi", "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
            "    [[ $files != yes || $word == -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")",
            "}", "complete -o filenames -F \(function) \(name)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// A word in single quotes, as bash reads it unchanged.
    private static func quote(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
