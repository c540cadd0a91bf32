import Glibc

/// The user that runs this process.
package enum OperatingSystemUser {
    /// The size of the buffer for a record of the user database, in bytes.
    private static let recordSizeMaximum = 16_384
    /// The same for a record of a group, which has the names of its members.
    private static let groupSizeMaximum = 262_144

    /// The name of the process's real user; its number if the system has no name for it.
    package static var name: String {
        let user = getuid()
        return name(of: user) ?? String(user)
    }

    /// The user in the form in which a ledger names an actor.
    package static var actor: String { "user:" + name }

    /// Returns the name of a user; nil if the system has no name for the number.
    static func name(of user: uid_t) -> String? {
        var record = unsafe passwd()
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: recordSizeMaximum) { buffer -> String? in
            guard let start = buffer.baseAddress else { return nil }
            var found: UnsafeMutablePointer<passwd>?
            // Safe: the record's texts are in `buffer`, and are copied while it exists.
            guard unsafe getpwuid_r(user, &record, start, buffer.count, &found) == 0,
                let entry = unsafe found, let name = unsafe entry.pointee.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }

    /// Returns the name of a group; nil if the system has no name for the number.
    static func groupName(of number: gid_t) -> String? {
        var record = unsafe group()
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: groupSizeMaximum) { buffer -> String? in
            guard let start = buffer.baseAddress else { return nil }
            var found: UnsafeMutablePointer<group>?
            // Safe: the record's texts are in `buffer`, and are copied while it exists.
            guard unsafe getgrgid_r(number, &record, start, buffer.count, &found) == 0,
                let entry = unsafe found, let name = unsafe entry.pointee.gr_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }
}
