/// The identity block of newer devices.
///
///     offset  size  field
///          0     4  version
///          4     4  device class
///          8     8  hash of the vendor
///         16     8  hash of the product
///         24     4  version of FairPlay in the operating system
///         28     4  version of FairPlay in the trusted environment
///         32     4  operating system: 0, major, minor, patch
package struct DeviceIdentity: Sendable, Equatable {
    package static let size = 36

    package let version: UInt32
    package let deviceClass: DeviceClass
    package let vendorHash: UInt64
    package let productHash: UInt64
    package let systemFairPlayVersion: UInt32
    package let trustedFairPlayVersion: UInt32
    package let operatingSystem: OperatingSystemVersion

    package init(
        version: UInt32, deviceClass: DeviceClass, vendorHash: UInt64, productHash: UInt64,
        systemFairPlayVersion: UInt32, trustedFairPlayVersion: UInt32, operatingSystem: OperatingSystemVersion
    ) {
        self.version = version
        self.deviceClass = deviceClass
        self.vendorHash = vendorHash
        self.productHash = productHash
        self.systemFairPlayVersion = systemFairPlayVersion
        self.trustedFairPlayVersion = trustedFairPlayVersion
        self.operatingSystem = operatingSystem
    }
}

/// The device info block of older devices.
///
///     offset  size  field
///          0     8  type
///          8     4  operating system: 0, major, minor, patch
///         12     4  version, 1
package struct DeviceInfo: Sendable, Equatable {
    package static let size = 16

    /// The type as a number. `DeviceType` has the known types.
    package let rawType: UInt64
    package let operatingSystem: OperatingSystemVersion

    package init(rawType: UInt64, operatingSystem: OperatingSystemVersion) {
        self.rawType = rawType
        self.operatingSystem = operatingSystem
    }

    package var type: DeviceType? { DeviceType(rawValue: rawType) }
}

/// The device info types (protocol, section 4.6).
package enum DeviceType: UInt64, Sendable, CaseIterable {
    case mac = 0x358c_41b1_ec78_f599
    case television = 0xc150_0767_c86c_1fae
    case mobile = 0x8551_fd5e_31f4_79b3
    case watch = 0x5da8_6ac0_c571_55dc

    /// The class that newer devices of this type state.
    package var deviceClass: DeviceClass {
        switch self {
        case .mac: .appleDesktop
        case .television: .appleLivingRoom
        case .mobile: .appleMobile
        case .watch: .appleWearable
        }
    }
}

/// The device classes (protocol, section 4.6).
package enum DeviceClass: Sendable, Equatable {
    case unknown
    case appleLivingRoom
    case appleMobile
    case appleDesktop
    case appleSpatial
    case appleWearable
    case appleUnknown
    case partnerLivingRoom
    case partnerUnknown
    /// A number that is not known.
    case other(UInt32)

    package init(_ number: UInt32) {
        self =
            switch number {
            case 0: .unknown
            case 1: .appleLivingRoom
            case 2: .appleMobile
            case 3: .appleDesktop
            case 4: .appleSpatial
            case 5: .appleWearable
            case 127: .appleUnknown
            case 128: .partnerLivingRoom
            case 255: .partnerUnknown
            case let number: .other(number)
            }
    }

    /// The number of the class in an SPC.
    package var number: UInt32 {
        switch self {
        case .unknown: 0
        case .appleLivingRoom: 1
        case .appleMobile: 2
        case .appleDesktop: 3
        case .appleSpatial: 4
        case .appleWearable: 5
        case .appleUnknown: 127
        case .partnerLivingRoom: 128
        case .partnerUnknown: 255
        case .other(let number): number
        }
    }
}

/// The version of an operating system: three bytes for major, minor and patch.
package struct OperatingSystemVersion: Sendable, Equatable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package var description: String {
        "\(rawValue >> 16 & 0xFF).\(rawValue >> 8 & 0xFF).\(rawValue & 0xFF)"
    }
}

/// The virtual machine info of a device: seven words, 28 bytes.
package struct VirtualMachineInfo: Sendable, Equatable {
    package static let size = 28
    /// The versions that are read. Version 0 means that the device is not a virtual machine.
    package static let versions: ClosedRange<UInt32> = 0...1

    /// The host or the guest.
    package struct Side: Sendable, Equatable {
        package let deviceClass: DeviceClass
        package let operatingSystem: OperatingSystemVersion
        package let protocolVersion: UInt32

        package init(deviceClass: DeviceClass, operatingSystem: OperatingSystemVersion, protocolVersion: UInt32) {
            self.deviceClass = deviceClass
            self.operatingSystem = operatingSystem
            self.protocolVersion = protocolVersion
        }
    }

    /// The version of the block; 0 if the device is not a virtual machine.
    package let version: UInt32
    package let host: Side
    package let guest: Side

    package init(version: UInt32, host: Side, guest: Side) {
        self.version = version
        self.host = host
        self.guest = guest
    }

    package var isVirtual: Bool { version != 0 }
}
