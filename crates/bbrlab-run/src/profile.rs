//! Profiles: the TCP implementations and queues that a run can imitate.

/// The TCP stack that a run imitates. Keys of the scenario may change parts of the stack's
/// behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Linux 6.x, on a host whose socket buffers grow to 64 MiB.
    Linux,
    /// Linux 6.12 with the default settings in its source code.
    LinuxStock,
    /// ns-3 3.44, which gives the same results as ns-3 3.43.
    Ns3,
    /// ns-3 3.40. The profile also imitates ns-3 3.37 to 3.39.
    Ns3V40,
    /// ns-3 3.27.
    Ns3V27,
    /// ns-3 3.27 with the settings of Lanigan 2020.
    Lanigan,
    /// ns-3 with the settings of Piotrowska 2024, as far as they are published.
    Piotrowska,
}

impl Profile {
    /// All profiles with the names that scenarios and results use.
    pub const NAMED: &[(&str, Self)] = &[
        ("linux", Self::Linux),
        ("linux-stock", Self::LinuxStock),
        ("ns3", Self::Ns3),
        ("ns3-3.40", Self::Ns3V40),
        ("ns3-3.27", Self::Ns3V27),
        ("lanigan", Self::Lanigan),
        ("piotrowska", Self::Piotrowska),
    ];

    /// Whether the profile imitates Linux. All profiles except `linux` and `linux-stock` imitate
    /// ns-3.
    #[must_use]
    pub fn is_linux(self) -> bool {
        matches!(self, Self::Linux | Self::LinuxStock)
    }

    /// Returns the profile's name in scenarios and results.
    ///
    /// # Panics
    /// Naming a profile never panics, because each profile has a name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::NAMED.iter().find(|&&(_, profile)| profile == self);
        named.expect("each profile has a name").0
    }
}
