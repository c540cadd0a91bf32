import Records

extension PostgreSQLURLError {
    /// Says what is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .otherScheme: "it must begin with postgresql://"
        case .passwordInURL: "a URL must not have a password; name the password's file in storage.password"
        case .userMissing: "it names no user; write postgresql://USER@HOST/DATABASE"
        case .hostMalformed:
            "a host is a name, an address (IPv6 in brackets) or the folder of a unix socket with %2F for each slash; the most hosts are "
                + "\(PostgreSQLURL.hostsMaximum)"
        case .portMalformed: "a port must be a number from 1 to 65535"
        case .databaseMissing: "it names no database; write postgresql://USER@HOST/DATABASE"
        case .escapeMalformed: "write two hexadecimal digits after each %; the decoded text must be UTF-8"
        case .optionUnknown(let name):
            "the option \"\(name)\" is not known; the options are sslmode, sslrootcert and schema"
        case .optionRepeated(let name): "the option \"\(name)\" is repeated"
        case .optionMalformed("sslmode"): "sslmode must be disable, require, verify-ca or verify-full"
        case .optionMalformed("sslrootcert"): "sslrootcert must be the absolute path of a file"
        case .optionMalformed("schema"):
            "the name of a schema must have 1 to 63 of a-z, 0-9 and _, and must not begin with a digit"
        case .optionMalformed: "write NAME=VALUE after the ?, and & between two options"
        }
    }
}

extension PostgreSQLOpeningError {
    /// Says what is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .serverTooOld(let version):
            "the server is PostgreSQL \(version / 10_000); Latchkey needs version 13 or newer"
        case .foreignSchema(let name):
            "the schema \(name) has tables of another program; name another schema with ?schema= in storage.url"
        case .retiredSchema(let name):
            "a version of Latchkey before the first release made the schema \(name), and this version cannot read it: export its keys "
                + "with that version (latchkey keys export), name another schema with ?schema= in storage.url, and import them there"
        case .schemaTooNew(let found, let supported):
            "a newer version of Latchkey made the schema (\(found); this version knows \(supported)); use the newer one"
        case .settingsNotKept:
            "a connection pooler, such as pgbouncer, drops the settings of the session: connect to PostgreSQL itself, because Latchkey "
                + "keeps a few connections of its own and needs no pooler"
        case .keyEncryptionKeyDiffers:
            "its keys were sealed under another key-encryption key; configure that one in keys.keyEncryptionKey"
        case .keyEncryptionKeyMissing(let version):
            "some of its keys are sealed under version \(version) of the key-encryption key; name that key in "
                + "keys.olderKeyEncryptionKeys until latchkey keys rewrap has run"
        case .secretDiffers(.masterSecret):
            "keys.masterSecret is not the secret that its nodes use under this version; restore the right file, because with another one "
                + "this node would make other keys for the same names. A secret that replaces it on purpose has a higher "
                + "keys.masterSecretVersion, and makes other keys for those that are lost"
        case .secretDiffers(let name):
            "\(name.rawValue) is not the key that its nodes use; configure their key, because with another one revocations, "
                + "uses and session tokens of the other nodes would not hold here"
        case .failed(let failure): failure.explanation
        case .recordMalformed: "the database has a value that this version never writes; is it damaged?"
        case .cryptographyFailed: "a cryptographic operation failed; is the installation of OpenSSL complete?"
        case .threadsNotStarted: "the system started no thread for the connections; raise the limit of tasks"
        }
    }
}

extension PostgreSQLFailure {
    /// Says what is wrong and what to do about it.
    package var explanation: String {
        switch self {
        case .notConnected(let message): "no connection: \(message)"
        case .connectionRefused(let state, let message): state.explanation ?? "the connection was refused: \(message)"
        case .unusable: "the database must be changed before it can serve as a store"
        case .connectionLost: "the server closed the connection; see its log"
        case .timedOut: "the server did not answer in time"
        case .silent: "the server accepts connections but sends no answers"
        case .queueFull: "too many calls wait for the server"
        case .recordMalformed: PostgreSQLOpeningError.recordMalformed.explanation
        case .notRun: "an earlier statement of the transaction failed"
        case .refused(let state):
            state.explanation ?? "the server refused a statement with SQLSTATE \(state); see its log"
        }
    }
}

extension SQLState {
    /// Says what is wrong and what to do about it. Nil for codes that name no change of the database or the URL.
    fileprivate var explanation: String? {
        switch description {
        case "3D000":
            "the server has no database of this name (SQLSTATE 3D000); make it with createdb, or correct storage.url"
        case "28000":
            "the server has no role of this name, or its pg_hba.conf does not let the role connect from here (SQLSTATE 28000); make the role "
                + "with createuser, or correct storage.url"
        case "28P01":
            "the server refuses the role's password, or asks for one (SQLSTATE 28P01); correct storage.password"
        case "42501":
            "the role lacks a right (SQLSTATE 42501); let it create schemas in the database, or make it the owner of the schema and its tables"
        case "53300": "the server accepts no more connections (SQLSTATE 53300); raise its max_connections"
        case "42P05", "26000", "08P01":
            "a connection pooler, such as pgbouncer, does not pass on to the server what Latchkey asks for (SQLSTATE "
                + "\(self)); connect to PostgreSQL itself"
        default: nil
        }
    }
}
