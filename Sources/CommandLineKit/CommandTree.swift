/// A command and the commands that lead to it, for what is made from all of a program's commands.
struct CommandPlace {
    /// From the program to the command; at least one.
    let path: [Command]

    var command: Command { path[path.count - 1] }
    /// As it is typed: "latchkey keys create".
    var words: String { path.map(\.name).joined(separator: " ") }

    /// The commands of a group.
    var commands: [Command] {
        switch command.content {
        case .group(let commands): commands
        case .action: []
        }
    }

    var operands: [CommandOperand] {
        switch command.content {
        case .group: []
        case .action(let operands, _, _): operands
        }
    }

    /// With those that every program and every command has.
    var options: [CommandOption] {
        let own: [CommandOption] =
            switch command.content {
            case .group: []
            case .action(_, let options, _): options
            }
        return own + (path.count == 1 ? ProgramText.options : []) + [.help]
    }

    /// The program and all of its commands, in the order of its help.
    static func all(of root: Command) -> [CommandPlace] {
        all(from: [root])
    }

    private static func all(from path: [Command]) -> [CommandPlace] {
        let place = CommandPlace(path: path)
        return [place] + place.commands.flatMap { all(from: path + [$0]) }
    }
}

extension CommandOption {
    static let help = CommandOption("--help", .flag, help: "print this text")

    /// What help adds to the text of the option.
    var remarks: String {
        let other = variable.map { "or in \($0)" }
        let notes = [isRequired ? "required" : nil, other, repeats ? "may repeat" : nil].compactMap(\.self)
        return notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
    }

    /// Whether its value is the path of a file or a folder.
    var takesPath: Bool {
        switch form {
        case .flag, .flagOrWord: false
        case .value(let placeholder): ["FILE", "DIR"].contains { placeholder.hasSuffix($0) }
        case .secret: true
        }
    }

    /// Whether the next word is its value.
    var takesValue: Bool {
        switch form {
        case .flag, .flagOrWord: false
        case .value, .secret: true
        }
    }
}

extension CommandOperand {
    var isPath: Bool { ["FILE", "DIR"].contains { placeholder.hasSuffix($0) } }
}
