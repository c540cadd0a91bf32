import ContentKeys
import HTTPServing
import POSIXSockets
import StorageSQLite
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct DaemonErrorTests {
    private static let openingErrors: [StorageOpeningError] = [
        .permissionsTooWide(path: "/x/latchkey.db", mode: 0o666), .notAFile(path: "/x/latchkey.db"),
        .fileNotUsable(path: "/x/latchkey.db", errno: 13), .foreignDatabase(path: "/x/latchkey.db"),
        .retiredSchema(path: "/x/latchkey.db"), .schemaTooNew(found: 9, supported: 1), .keyEncryptionKeyDiffers,
        .store(.unavailable(.diskFull)),
    ]

    /// The message is a sentence that says what to do. It never contains the name of an enum case.
    @Test(arguments: openingErrors)
    func explainsADatabaseThatDoesNotOpen(error: StorageOpeningError) {
        let text = DaemonError.store(path: "/x/latchkey.db", error).description
        #expect(text.hasPrefix("cannot open the database /x/latchkey.db: "))
        #expect(text.contains(" ") && !text.contains("(") || text.contains("schema"))
        for name in ["keyEncryptionKeyDiffers", "foreignDatabase", "retiredSchema", "unavailable", "notAFile"] {
            #expect(!text.contains(name))
        }
    }

    @Test func namesAMissingFolderAndHowItIsMade() {
        let folder = "/no-such-folder-of-latchkey/data"
        let error = StorageOpeningError.fileNotUsable(path: "\(folder)/latchkey.db", errno: 2)
        let text = DaemonError.store(path: "\(folder)/latchkey.db", error).description
        #expect(text.hasPrefix("cannot open the database \(folder)/latchkey.db: its folder \(folder) is missing; "))
        #expect(text.contains("StateDirectory=NAME") && text.hasSuffix(": mkdir -p -m 700 \(folder)"))
        // The folder is there, so the file itself is missing.
        let file = StorageOpeningError.fileNotUsable(path: "/no-such-file-of-latchkey", errno: 2)
        #expect(!DaemonError.store(path: "/", file).description.contains("folder"))
    }

    @Test func namesTheListenerAndItsAddress() {
        let text = DaemonError.listener(
            name: "public", address: "127.0.0.1:80", .socket(.failed(.bind, errno: 98))
        ).description
        #expect(text.contains("public listener on 127.0.0.1:80"))
    }
}
