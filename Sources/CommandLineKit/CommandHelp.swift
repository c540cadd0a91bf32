/// The text that `--help` prints for a command.
struct CommandHelp {
    private static let lineLength = 100

    private let path: [Command]

    /// The commands from the program down to the one that the help is about; at least one.
    init(_ path: [Command]) {
        precondition(!path.isEmpty, "help is about a command")
        self.path = path
    }

    /// The help text; it ends with a line feed.
    var text: String {
        guard let command = path.last else { return "" }
        var sections = [command.summary + ".", usage(of: command)]
        sections += paragraphs(of: command)
        switch command.content {
        case .group(let commands):
            let help =
                path.count == 1
                ? [(Command.helpWord, "Print the help of a command: \(command.name) help COMMAND ...")] : []
            sections.append(Self.table("Commands", commands.map { ($0.name, $0.summary) } + help))
            if path.count == 1 { sections.append(Self.table("Options", rows(of: []))) }
        case .action(let operands, let options, _):
            sections.append(Self.table("Arguments", operands.map { ($0.placeholder, $0.help) }))
            sections.append(Self.table("Options", rows(of: options)))
        }
        sections.append("Examples:\n" + command.examples.map { "  " + $0 }.joined(separator: "\n"))
        return sections.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    /// The details, with their lines wrapped again. An empty line separates paragraphs.
    private func paragraphs(of command: Command) -> [String] {
        command.details.split(separator: "\n\n").map { paragraph in
            Self.wrap(paragraph.replacing("\n", with: " "), indentation: 0)
        }
    }

    private func usage(of command: Command) -> String {
        var words = path.map(\.name)
        switch command.content {
        case .group: words += ["COMMAND", "..."]
        case .action(let operands, let options, _):
            words += operands.map(\.usage)
            words += options.filter(\.isRequired).map { "\($0.usage)" }
            if options.contains(where: { !$0.isRequired }) { words.append("[OPTIONS]") }
        }
        return Self.wrap("Usage: " + words.joined(separator: " "), indentation: 7)
    }

    private func rows(of options: [CommandOption]) -> [(String, String)] {
        options.map { option in
            (
                option.usage,
                option.help + option.remarks
            )
        } + ((path.count == 1 ? ProgramText.options : []) + [.help]).map { ($0.usage, $0.help) }
    }

    private static func table(_ title: String, _ rows: [(name: String, help: String)]) -> String {
        guard !rows.isEmpty else { return "" }
        let width = rows.map(\.name.count).max() ?? 0
        // A long name gets a line of its own, because it would move the texts of all other rows far to the right.
        let column = min(width, 30) + 4
        let lines = rows.map { row in
            let name = "  " + row.name
            let lead =
                name.count + 2 <= column
                ? name + String(repeating: " ", count: column - name.count)
                : name + "\n" + String(repeating: " ", count: column)
            return lead + wrap(row.help, indentation: column, startsAt: column).drop { $0 == " " }
        }
        return "\(title):\n" + lines.joined(separator: "\n")
    }

    /// Wraps a line at its spaces and indents all lines but the first.
    private static func wrap(_ line: some StringProtocol, indentation: Int, startsAt start: Int = 0) -> String {
        var text = ""
        var column = start
        for word in line.split(separator: " ") {
            if !text.isEmpty, column + 1 + word.count > lineLength {
                text += "\n" + String(repeating: " ", count: indentation)
                column = indentation
            } else if !text.isEmpty {
                text += " "
                column += 1
            }
            text += word
            column += word.count
        }
        return text
    }
}
