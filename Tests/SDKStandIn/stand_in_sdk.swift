// The C boundary as the Swift flavour has it: sizes of 32 bits, JSON by Foundation, and a size of the answer that
// counts characters in place of bytes.
//
// A stand-in for tests, on the same core as stand_in_sdk.c. Tests/SDKStandIn/build builds it.
import Foundation

/// A value of the request. JSON5 is allowed because requests may have a comma before a closing bracket.
private enum Value: Decodable {
    case nothing
    case flag(Bool)
    case number(String)
    case text(String)
    case list([Value])
    case object([String: Value])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .nothing
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(String(number))
        } else if let number = try? container.decode(UInt64.self) {
            self = .number(String(number))
        } else if let number = try? container.decode(Double.self) {
            self = .number(String(number))
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Value].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Value].self))
        }
    }

    var members: [String: Value] {
        if case .object(let members) = self { members } else { [:] }
    }

    var elements: [Value] {
        if case .list(let elements) = self { elements } else { [] }
    }
}

// --- The request -----------------------------------------------------------------------------------------------------

private let keySize = 16

/// Stops the process for a key that is too long or not hexadecimal, as this flavour does.
private func trapUnlessKey(_ text: String) {
    let digits = Array(text.hasPrefix("0x") ? text.dropFirst(2) : text[...])
    var key = [UInt8](repeating: 0, count: keySize)
    for (index, digit) in digits.enumerated() {
        key[index / 2] = key[index / 2] << 4 | UInt8(digit.hexDigitValue!)
    }
}

private func take(_ operation: OpaquePointer, _ name: String, _ kind: fps_kind, _ text: String) {
    var copy = text
    copy.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { fps_take(operation, name, kind, $0.baseAddress, $0.count) }
    }
}

private func take(_ operation: OpaquePointer, membersOf members: [String: Value]) {
    for (name, value) in members {
        switch value {
        case .nothing: take(operation, name, FPS_OTHER, "")
        case .flag(let flag): take(operation, name, flag ? FPS_TRUE : FPS_FALSE, "")
        case .number(let text): take(operation, name, FPS_NUMBER, text)
        case .text(let text):
            if name == "content-key" || name == "content-iv" { trapUnlessKey(text) }
            take(operation, name, FPS_TEXT, text)
        case .list(let elements):
            guard name == "asset-info" else { continue }
            for element in elements {
                if case .object(let inner) = element {
                    take(operation, name, FPS_OBJECT, "")
                    take(operation, membersOf: inner)
                }
            }
        case .object(let inner):
            take(operation, name, FPS_OBJECT, "")
            if name == "offline-hls" { take(operation, membersOf: inner) }
        }
    }
}

// --- The answer ------------------------------------------------------------------------------------------------------

private func text(of fact: fps_fact) -> String {
    let bytes = UnsafeRawBufferPointer(start: fact.text, count: fact.size)
    return String(decoding: bytes, as: UTF8.self)
}

private func json(_ fact: fps_fact) -> Any {
    switch fact.kind {
    case FPS_TRUE: true
    case FPS_FALSE: false
    case FPS_NUMBER: NSDecimalNumber(string: text(of: fact))
    case FPS_LIST: text(of: fact).split(separator: " ").map(String.init)
    default: text(of: fact)
    }
}

private func insert(_ value: Any, at path: ArraySlice<Substring>, into object: inout [String: Any]) {
    guard let name = path.first.map(String.init) else { return }
    guard path.count > 1 else {
        object[name] = value
        return
    }
    var inner = object[name] as? [String: Any] ?? [:]
    insert(value, at: path.dropFirst(), into: &inner)
    object[name] = inner
}

private func item(_ operation: OpaquePointer) -> [String: Any] {
    var item: [String: Any] = [:]
    for index in 0..<fps_fact_count(operation) {
        guard let fact = fps_fact_at(operation, index)?.pointee else { continue }
        insert(json(fact), at: String(cString: fact.path).split(separator: "/")[...], into: &item)
    }
    return item
}

private struct Response {
    var name = "create-ckc"
    var items: [[String: Any]] = []

    static func failure(_ status: Int32) -> Response { Response(items: [["id": 0, "status": Int(status)]]) }

    var text: String {
        let object = ["fairplay-streaming-response": [name: items]]
        guard let data = try? JSONSerialization.data(withJSONObject: object) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

private func respond(to request: Value, in call: OpaquePointer) -> Response {
    let body = request.members["fairplay-streaming-request"]?.members ?? [:]
    let name = body["create-ckc"] == nil ? "get-client-info" : "create-ckc"
    var response = Response(name: name)
    let operations = body[name]?.elements ?? []
    guard !operations.isEmpty else { return .failure(FPS_PARAMETER.rawValue) }
    for members in operations.map(\.members) {
        guard let operation = fps_call_add(call, name == "create-ckc" ? 1 : 0) else { continue }
        take(operation, membersOf: members)
        let status = fps_check(operation)
        precondition(status != FPS_PANIC.rawValue, "an identifier is not hexadecimal")
        guard status == FPS_OK.rawValue else { return .failure(status) }
        precondition(fps_run(operation) == FPS_OK.rawValue, "a panic was requested")
        response.items += Array(repeating: item(operation), count: Int(fps_item_count(operation)))
    }
    return response
}

// --- The boundary ----------------------------------------------------------------------------------------------------

@_cdecl("fpsProcessOperations")
public func processOperations(
    _ input: UnsafePointer<CChar>, _ inputSize: UInt32, _ output: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ outputSize: UnsafeMutablePointer<UInt32>
) -> Int32 {
    _ = fps_load_certificates()
    guard let call = fps_call_begin(FPS_SWIFT_FLAVOUR, input, Int(inputSize)) else { return FPS_MEMORY.rawValue }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let request = try? decoder.decode(Value.self, from: Data(bytes: input, count: Int(inputSize)))
    let response = request.map { respond(to: $0, in: call) } ?? .failure(FPS_INTERNAL.rawValue)
    var text = response.text
    let count = text.count
    var answer = fps_answer()
    text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            fps_call_finish(call, $0.baseAddress, $0.count, count + 1, &answer)
        }
    }
    output.pointee = answer.text
    outputSize.pointee = UInt32(answer.size)
    return answer.call_status
}

@_cdecl("fpsDisposeResponse")
public func disposeResponse(_ output: UnsafeMutablePointer<CChar>?, _ outputSize: UInt32) -> Int32 {
    fps_dispose(output)
    return FPS_OK.rawValue
}

#if !WITHOUT_VERSION
    @_cdecl("fpsGetVersion")
    public func getVersion(_ output: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        output.pointee = strdup(FPS_VERSION_TEXT)
        return FPS_OK.rawValue
    }

    @_cdecl("fpsDisposeVersion")
    public func disposeVersion(_ version: UnsafeMutablePointer<CChar>?) -> Int32 {
        free(version)
        return FPS_OK.rawValue
    }
#endif
