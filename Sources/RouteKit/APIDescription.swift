import ByteCoding
package import HTTPMessages
package import HTTPServing

/// The description of the routes in OpenAPI 3.1, as JSON (Documentation/reference/openapi.md).
///
/// It is the same in every installation: what is configured does not show. Its source is `openapi.json` in `CEmbedded`.
package enum APIDescription {
    /// Whose routes are described.
    package enum Scope: Sendable {
        /// What strangers can reach. Nothing of admin listeners shows.
        case publicListener
        /// The routes of both listeners, for operators.
        case allListeners
    }

    package static let path = "/openapi.json"

    /// The texts, made once. All answers share the bytes of their body.
    static let bodies = Bodies(of: EmbeddedFile.apiDescription.content)

    struct Bodies: Sendable {
        let publicListener: [UInt8]
        let allListeners: [UInt8]

        /// Takes the blanks out of a description, and for strangers all that only operators need.
        init(of source: [UInt8]) {
            let limits = JSONLimits(sizeMaximum: source.count, depthMaximum: 64)
            guard let document = try? JSONReader.parse(source, limits: limits) else {
                preconditionFailure("the description of the API is no JSON")
            }
            allListeners = JSONWriter.text(expectedSize: source.count) { $0.node(document) }
            publicListener = JSONWriter.text(expectedSize: source.count) { writer in
                PartsForStrangers(of: document).write(to: &writer)
            }
        }
    }

    package static func response(_ scope: Scope, _ id: RequestID) -> HTTPResponse {
        let body =
            switch scope {
            case .publicListener: bodies.publicListener
            case .allListeners: bodies.allListeners
            }
        return HTTPResponse(status: .ok, fields: .answer("application/json", id), body: body)
    }
}

/// The parts of a description that strangers may know: the paths of the public listener, the tags that their operations
/// have, and the components that they name. A path says by `x-listeners` which listeners have it.
private struct PartsForStrangers {
    private let document: JSONNode
    private let paths: [JSONMember]
    private let tags: Set<String>
    /// The names of the security schemes.
    private let schemes: Set<String>
    /// Every `$ref` in the paths, and in the components that they lead to.
    private var references: Set<String> = []

    init(of document: JSONNode) {
        self.document = document
        paths = (document.object?["paths"]?.object?.members ?? []).filter { path in
            path.node.object?["x-listeners"]?.array?.contains { $0.string == "public" } ?? false
        }
        let operations = paths.flatMap { $0.node.object?.members ?? [] }.compactMap(\.node.object)
        tags = Set(operations.flatMap { $0["tags"]?.array ?? [] }.compactMap(\.string))
        let needs = operations.flatMap { $0["security"]?.array ?? [] }.compactMap(\.object)
        schemes = Set(needs.flatMap(\.members).map(\.name))
        for path in paths { follow(path.node) }
    }

    private mutating func follow(_ node: JSONNode) {
        for element in node.array ?? [] { follow(element) }
        guard let object = node.object else { return }
        for member in object.members { follow(member.node) }
        guard let reference = object["$ref"]?.string, references.insert(reference).inserted else { return }
        let place = reference.split(separator: "/").dropFirst().reduce(document as JSONNode?) { part, name in
            part?.object?[String(name)]
        }
        if let place { follow(place) }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for member in document.object?.members ?? [] {
                writer.name(member.name)
                switch member.name {
                case "paths": writer.members(paths)
                case "tags": writer.array { for tag in tags(in: member.node) { $0.node(tag) } }
                case "components": writeComponents(member.node, to: &writer)
                default: writer.node(member.node)
                }
            }
        }
    }

    private func tags(in list: JSONNode) -> [JSONNode] {
        (list.array ?? []).filter { tag in tags.contains(tag.object?["name"]?.string ?? "") }
    }

    private func writeComponents(_ components: JSONNode, to writer: inout JSONWriter) {
        writer.object { writer in
            for kind in components.object?.members ?? [] {
                let needed = (kind.node.object?.members ?? []).filter { part in
                    kind.name == "securitySchemes"
                        ? schemes.contains(part.name) : references.contains("#/components/\(kind.name)/\(part.name)")
                }
                guard !needed.isEmpty else { continue }
                writer.name(kind.name)
                writer.members(needed)
            }
        }
    }
}

extension JSONWriter {
    /// The text of one value, of about this many bytes.
    fileprivate static func text(expectedSize: Int, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(expectedSize: expectedSize)
        write(&writer)
        return writer.bytes
    }

    fileprivate mutating func members(_ members: [JSONMember]) {
        object { writer in
            for member in members {
                writer.name(member.name)
                writer.node(member.node)
            }
        }
    }
}
