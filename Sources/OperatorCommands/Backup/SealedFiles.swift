import ByteCoding
import CommandLineKit
import CommandSupport
import KeyCrypto
import ServiceConfiguration

/// The files that a configuration names, as a backup holds them for its recipients.
///
/// The message within CMS is one JSON object:
///
///     {"format": "latchkey-secrets-1", "files": [{"field": "ledger.key", "source": "secrets/ledger-key",
///         "isSecret": true, "contents": "Base64"}, …]}
struct SealedFiles {
    static let format = "latchkey-secrets-1"
    /// The most bytes of a message, sealed or not.
    private static let sizeMaximum = 64 << 20

    struct File {
        let field: String
        /// As the configuration had it when the backup was made.
        let source: String
        let isSecret: Bool
        let contents: SharedSecret
    }

    let files: [File]

    /// The contents by the fields that name them; several for a field with a list, in its order.
    var substitutes: [String: [SharedSecret]] {
        Dictionary(grouping: files, by: \.field).mapValues { $0.map(\.contents) }
    }

    /// Throws `failed` if a file cannot be read: what is sealed is everything that a new host needs.
    init(_ configured: ConfiguredFiles) throws(CommandError) {
        var files: [File] = []
        for file in configured.files {
            guard let contents = file.contents else {
                throw .failed(
                    "\(file.named.field): \(file.error?.description ?? "cannot be read"); a backup for a recipient "
                        + "has every file that the configuration names")
            }
            files.append(
                File(
                    field: file.named.field, source: file.named.source.description, isSecret: file.named.isSecret,
                    contents: contents))
        }
        self.files = files
    }

    /// The CMS message for the certificates in a file.
    func sealed(for certificates: [UInt8]) throws(CommandError) -> [UInt8] {
        let size = files.reduce(256) { $0 + $1.contents.bytes.count * 4 / 3 + $1.field.utf8.count + 5200 }
        // The text never grows beyond its first memory, so that no copy of it is left behind.
        var text = JSONWriter.object(expectedSize: size) { writer in
            writer.member("format", Self.format)
            writer.objects("files", files) { writer, file in
                writer.member("field", file.field)
                writer.member("source", file.source)
                writer.member("isSecret", file.isSecret)
                file.contents.bytes.withWipedArray { writer.member("contents", base64: $0) }
            }
        }
        defer { text.wipe() }
        do throws(CryptoError) {
            return try SealedMessage.seal(SecretBytes(copying: text), for: certificates)
        } catch .notACertificate {
            throw .failed("--recipient takes a file of certificates in PEM or DER, at most 16")
        } catch .notAKey(let reason) {
            throw .failed("--recipient: \(reason)")
        } catch {
            throw .failed("cannot seal for the recipient: \(error)")
        }
    }

    /// Opens what `sealed` gave.
    init(opening path: String, with key: borrowing SecretBytes, _ passphrase: SharedSecret?) throws(CommandError) {
        let sealed = try wrap(
            CommandError.file,
            try FileReading.read(path, sizeMaximum: Self.sizeMaximum, permissions: .any).revealed())
        let message: SecretBytes
        do throws(CryptoError) {
            message = try SealedMessage.open(sealed, with: key, passphrase: passphrase)
        } catch .notAKey {
            throw .failed("--recipient-key takes a file with a private key in PEM or DER")
        } catch .passphraseMissing {
            throw .failed("the private key of --recipient-key is encrypted: name its passphrase with --passphrase")
        } catch .passphraseWrong {
            throw .failed("the private key of --recipient-key does not open with the passphrase")
        } catch {
            throw .failed("\(path) does not open with the private key of --recipient-key: it is sealed for another one")
        }
        guard let files = Self.parse(message) else { throw .failed("\(path) holds no files of a configuration") }
        self.files = files
    }

    private static func parse(_ message: borrowing SecretBytes) -> [File]? {
        message.withWipedArray { bytes in
            guard let root = (try? JSONReader.parse(bytes, limits: JSONLimits(sizeMaximum: sizeMaximum)))?.object,
                root["format"]?.string == format, let list = root["files"]?.array
            else { return nil }
            let files = list.compactMap { $0.object.flatMap(File.init(reading:)) }
            return files.count == list.count ? files : nil
        }
    }
}

extension SealedFiles.File {
    fileprivate init?(reading object: JSONObject) {
        guard let field = object["field"]?.string, let source = object["source"]?.string,
            let isSecret = object["isSecret"]?.bool,
            var bytes = object["contents"]?.string.flatMap({ try? Base64.decode($0) }), !bytes.isEmpty
        else { return nil }
        self.init(
            field: field, source: source, isSecret: isSecret, contents: SharedSecret(SecretBytes(copying: bytes)))
        bytes.wipe()
    }
}
