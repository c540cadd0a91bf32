private import CEmbedded

/// A file that is part of the program (`Sources/CEmbedded`).
package struct EmbeddedFile: Sendable {
    package let name: String
    package let content: [UInt8]

    /// The files of the operator's page, sorted by their names.
    package static let page: [EmbeddedFile] = {
        // Safe: the files are constants of the program, and the function says how many there are.
        let files = unsafe UnsafeBufferPointer(start: latchkey_page_files(), count: latchkey_page_file_count())
        return unsafe files.map { unsafe EmbeddedFile($0) }
    }()

    /// `openapi.json`.
    package static let apiDescription = unsafe EmbeddedFile(latchkey_api_description().pointee)

    private init(_ file: latchkey_embedded_file) {
        // Safe: the name ends with a zero byte, and the content has this size. Both are copied.
        name = unsafe String(cString: file.name)
        content = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
    }
}
