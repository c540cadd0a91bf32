import Records

extension PostgreSQLURLError {
    /// What is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .otherScheme: "it begins with postgresql://"
        case .passwordInURL: "URLs are seen by too many for a password; name a file of it in storage.password"
        case .userMissing: "it names no user; write postgresql://USER@HOST/DATABASE"
        case .hostMalformed:
            "a host is a name, an address (IPv6 in brackets) or the folder of a unix socket with %2F for each slash, and there are at most "
                + "\(PostgreSQLURL.hostsMaximum)"
        case .portMalformed: "a port is a number from 1 to 65535"
        case .databaseMissing: "it names no database; write postgresql://USER@HOST/DATABASE"
        case .escapeMalformed: "% stands before two hexadecimal digits, and what they spell is UTF-8"
        case .optionUnknown(let name): "there is no option \"\(name)\"; there are sslmode, sslrootcert and schema"
        case .optionRepeated(let name): "the option \"\(name)\" stands there twice"
        case .optionMalformed("sslmode"): "sslmode is disable, require, verify-ca or verify-full"
        case .optionMalformed("sslrootcert"): "sslrootcert is the absolute path of a file"
        case .optionMalformed("schema"): "a schema has 1 to 63 of a-z, 0-9 and _, with no digit first"
        case .optionMalformed: "behind the ? stands NAME=VALUE, and & before each further one"
        }
    }
}

extension PostgreSQLOpeningError {
    /// What is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .serverTooOld(let version):
            "the server is PostgreSQL \(version / 10_000), and 13 is the oldest that will do"
        case .foreignSchema(let name):
            "the schema \(name) holds tables of another program; name another one with ?schema= in storage.url"
        case .schemaTooNew(let found, let supported):
            "a newer version of Latchkey made the schema (\(found); this one knows \(supported)); use that version"
        case .settingsNotKept:
            "a connection pooler, such as pgbouncer, drops the settings of the session: connect to PostgreSQL itself, because Latchkey "
                + "keeps a few connections of its own and needs no pooler"
        case .keyEncryptionKeyDiffers:
            "its keys were sealed under another key-encryption key; configure that one in keys.keyEncryptionKey"
        case .keyEncryptionKeyMissing(let version):
            "some of its keys are sealed under version \(version) of the key-encryption key; name that in "
                + "keys.olderKeyEncryptionKeys until latchkey keys rewrap has run"
        case .secretDiffers(let name):
            "\(name.rawValue) is not the key that its nodes use; with another key revocations, uses or session tokens of the other nodes "
                + "would not hold here; configure the key that they have"
        case .failed(let failure): failure.explanation
        case .recordMalformed: "the database holds something that this version never writes; is it damaged?"
        case .cryptographyFailed: "a cryptographic operation failed; is the installation of OpenSSL complete?"
        case .threadsNotStarted: "the system gave no thread for the connections; raise the limit of tasks"
        }
    }
}

extension PostgreSQLFailure {
    /// What is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .notConnected(let message): "no connection: \(message)"
        case .connectionRefused(let state, let message): state.explanation ?? "the connection was refused: \(message)"
        case .unusable: "the database cannot serve as a store as it is"
        case .connectionLost: "the server closed the connection; see its log"
        case .timedOut: "the server did not answer in time"
        case .silent: "the server takes connections and answers nothing"
        case .queueFull: "too many calls wait for the server"
        case .notRun: "the server ended the transaction before"
        case .refused(let state):
            state.explanation ?? "the server refused a statement with SQLSTATE \(state); see its log"
        }
    }
}

extension SQLState {
    /// What is wrong and what to do about it, for codes that say how the database or the URL must be changed.
    fileprivate var explanation: String? {
        switch description {
        case "3D000":
            "there is no database of this name (SQLSTATE 3D000); make it with createdb, or correct storage.url"
        case "28000":
            "the server knows no role of this name, or its pg_hba.conf lets the role not connect from here (SQLSTATE 28000); make the role "
                + "with createuser, or correct storage.url"
        case "28P01":
            "the server refuses the role's password, or asks for one (SQLSTATE 28P01); correct storage.password"
        case "42501":
            "the role lacks a right (SQLSTATE 42501); let it create schemas in the database, or make the schema and its tables its own"
        case "53300": "the server has as many connections as it may have (SQLSTATE 53300); raise its max_connections"
        case "42P05", "26000", "08P01":
            "a connection pooler, such as pgbouncer, stands before the server and does not pass on what Latchkey asks for (SQLSTATE "
                + "\(self)); connect to PostgreSQL itself"
        default: nil
        }
    }
}
