import ContentKeys
import Foundation
import Testing

@testable import StorageSQLite

@Suite struct DiskSpaceTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func measuresTheFilesAndTheRoomThatIsLeft() throws {
        try Data(count: 5000).write(to: URL(filePath: folder.database))
        #expect(try DiskSpace.measure(folder.database).log == 0)
        try Data(count: 700).write(to: URL(filePath: folder.database + "-wal"))
        let space = try DiskSpace.measure(folder.database)
        #expect(space.database == 5000 && space.log == 700)
        #expect(space.free > 0)
    }

    @Test func saysNothingOfAFileThatIsNotThere() {
        #expect(throws: StoreError.unavailable(.inputOutput)) { try DiskSpace.measure(folder.database) }
    }

    @Test(arguments: [(DiskSpace.least - 1, true), (DiskSpace.least, false)])
    func knowsWhenTheRoomIsLow(free: Int64, isLow: Bool) {
        #expect(DiskSpace(database: 1, log: 1, free: free).isLow == isLow)
    }
}
