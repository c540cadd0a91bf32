import CLinux
import Glibc

/// The confinement of a process that will load foreign code. The process can never undo it.
package struct ProcessConfinement: Equatable, Sendable {
    /// The number of additional threads that the user may start after a process is confined.
    static let threadsMaximum = 64

    /// The user that the process becomes, which only a process of root can. With nil, the user does not change.
    package var user: SystemUser?
    /// The most bytes of address space, including shared libraries.
    package var memoryMaximum: UInt64
    /// The most open descriptors.
    package var descriptorMaximum: UInt64

    package init(user: SystemUser?, memoryMaximum: UInt64, descriptorMaximum: UInt64) {
        self.user = user
        self.memoryMaximum = memoryMaximum
        self.descriptorMaximum = descriptorMaximum
    }

    /// Confines the calling process, which must have a single thread.
    ///
    /// After that:
    ///
    /// - The process ends when the thread that started it ends.
    /// - It has no environment and no capabilities, even if it runs as root. Its working folder is `/`.
    /// - It cannot get new privileges, cannot write to files, and leaves no core file. Its own user cannot trace it.
    /// - The filter of system calls refuses sockets, programs, processes, watching files, and changes of files and of
    ///   the system (CLinux).
    /// - If the kernel has Landlock, it can read only `library`, shared libraries in the same folder, those of the
    ///   system, and facts about itself and the processor. It can still ask for the size, the times and the existence
    ///   of any file whose folder its user may search, because Landlock limits only opening files.
    /// - Its user can have at most 64 threads more than at present. For root, the kernel has no such limit.
    ///
    /// Throws `failed` with the step that failed. The process must then end.
    package func apply(library: String) throws(SocketError) {
        // The threads are counted first, because the confined process cannot see other processes.
        let taskMaximum = UserTasks.count(of: user?.userID ?? getuid()) + Self.threadsMaximum
        latchkey_clear_environment()
        // Safe: the path is a literal.
        try unsafe check(.changeFolder, chdir("/"))
        if let user { try check(.becomeUser, latchkey_become_user(user.userID, user.groupID)) }
        try check(.dropCapabilities, latchkey_drop_capabilities())
        // These steps come after the change of user, which would undo them.
        try check(.processControl, latchkey_die_with_parent())
        try check(.processControl, latchkey_forbid_dumps())
        try check(.processControl, latchkey_forbid_new_privileges())
        try check(.limit, latchkey_limit_cores(0))
        try check(.limit, latchkey_limit_files(0))
        try FileConfinement.apply(library: library)
        try check(.limit, latchkey_limit_tasks(UInt64(taskMaximum)))
        try check(.limit, latchkey_limit_descriptors(descriptorMaximum))
        try check(.limit, latchkey_limit_memory(memoryMaximum))
        try check(.filter, latchkey_filter_system_calls())
    }

    private func check(_ call: SystemCall, _ result: Int32) throws(SocketError) {
        guard result == 0 else { throw .failed(call, errno: errno) }
    }
}

/// A user and a group of this machine, by number.
package struct SystemUser: Equatable, Sendable {
    package let userID: UInt32
    package let groupID: UInt32

    package init(userID: UInt32, groupID: UInt32) {
        self.userID = userID
        self.groupID = groupID
    }

    /// Looks a user up by name, with the user's own group; nil if there is no such user.
    package init?(named name: String) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16 * 1024)
        // Safe: the entry and its texts are local, and the numbers are copied out of them.
        guard unsafe getpwnam_r(name, &entry, &texts, texts.count, &found) == 0, unsafe found != nil else { return nil }
        self.init(userID: unsafe entry.pw_uid, groupID: unsafe entry.pw_gid)
    }
}

/// A group of the operating system.
package struct UserGroup: Equatable, Sendable {
    package let number: UInt32

    /// Looks a group up by name; nil if there is no such group.
    package init?(named name: String) {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        // Room for the names of many members.
        var texts = [CChar](repeating: 0, count: 256 * 1024)
        // Safe: the entry and its texts are local, and the number is copied out of them.
        guard unsafe getgrnam_r(name, &entry, &texts, texts.count, &found) == 0, unsafe found != nil else { return nil }
        number = unsafe entry.gr_gid
    }
}

/// Protects the memory of this process.
package enum ProcessProtection {
    /// Forbids core files, and forbids other processes of the same user to trace this process or to read its memory
    /// (`PR_SET_DUMPABLE` 0).
    ///
    /// If an administrator forces a core file nevertheless, it contains no memory. This matters because OpenSSL's
    /// contexts keep keys outside of the secure heap too.
    package static func forbidDumpsAndTracing() throws(SocketError) {
        // This comes first, because afterwards the file belongs to root.
        leaveMemoryOutOfCores()
        guard latchkey_forbid_dumps() == 0 else { throw .failed(.processControl, errno: errno) }
    }

    /// Leaves all mappings out of core files (core(5)). It may fail: kernels that are built without core files do not
    /// have the file.
    private static func leaveMemoryOutOfCores() {
        let descriptor = unsafe open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // Safe: the call reads one digit of a literal.
        _ = unsafe write(descriptor, "0", 1)
        close(descriptor)
    }
}
