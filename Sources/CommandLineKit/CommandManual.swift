/// The manual page of a program, from the same commands as its help (man(7)).
struct CommandManual {
    private let root: Command
    private let version: String

    init(_ root: Command, version: String) {
        self.root = root
        self.version = version
    }

    /// In roff; ends with a line feed.
    var text: String {
        let name = root.name
        var lines = [
            ".\\\" Made by \(name) --man.", ".TH \(name.uppercased()) 1 \"\" \"Latchkey \(version)\" \"Latchkey\"",
            ".SH NAME", "\(name) \\- \(Self.escape(root.summary))", ".SH SYNOPSIS",
        ]
        let places = CommandPlace.all(of: root)
        lines += places.filter(\.commands.isEmpty).flatMap { [".B " + Self.escape(Self.usage(of: $0)), ".br"] }
        lines.append(".SH DESCRIPTION")
        lines += Self.paragraphs(root.details)
        if places.count == 1 {
            lines += [".SH OPTIONS"] + Self.entries(of: places[0])
        } else {
            lines += [".SH OPTIONS"] + (ProgramText.options + [.help]).flatMap(Self.entry)
            lines.append(".SH COMMANDS")
            for place in places.dropFirst() {
                lines.append(".SS \(Self.escape(place.words))")
                lines.append(Self.escape(place.command.summary) + ".")
                lines += Self.paragraphs(place.command.details).isEmpty ? [] : [".PP"]
                lines += Self.paragraphs(place.command.details)
                if place.commands.isEmpty { lines += Self.entries(of: place) }
            }
        }
        lines += [".SH EXAMPLES", ".nf"] + places.flatMap(\.command.examples).map(Self.escape) + [".fi"]
        lines += [
            ".SH EXIT STATUS", "0 if the work was done, 1 if it failed, 2 if the command line means nothing.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usage(of place: CommandPlace) -> String {
        let required = place.options.filter(\.isRequired).map(\.usage)
        return ([place.words] + place.operands.map(\.usage) + required + ["[OPTIONS]"]).joined(separator: " ")
    }

    private static func entries(of place: CommandPlace) -> [String] {
        place.operands.flatMap { [".TP", ".I " + escape($0.placeholder), sentence($0.help)] }
            + place.options.flatMap(entry)
    }

    private static func entry(_ option: CommandOption) -> [String] {
        return [".TP", ".B " + escape(option.usage), sentence(option.help + option.remarks)]
    }

    /// A help text, which begins a line.
    private static func sentence(_ text: String) -> String { escape(text) }

    private static func paragraphs(_ text: String) -> [String] {
        let paragraphs = text.split(separator: "\n\n").map { escape($0.replacing("\n", with: " ")) }
        return Array(paragraphs.map { [$0] }.joined(separator: [".PP"]))
    }

    /// A text of one line as roff prints it unchanged: a period or an apostrophe at its beginning would be a request.
    private static func escape(_ text: some StringProtocol) -> String {
        var result = text.first.map { $0 == "." || $0 == "'" } == true ? "\\&" : ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\u{2026}": result += "..."
            default: result.append(character)
            }
        }
        return result
    }
}
