//! The TCP and the queues that a run imitates.

/// The stack with whose behaviour a run starts. Keys of the scenario may change parts of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Linux 6.x.
    Linux,
    /// ns-3 3.44, whose results have the same digits as those of 3.43.
    Ns3,
    /// ns-3 3.40, and 3.37 to 3.39.
    Ns3V40,
    /// ns-3 3.27.
    Ns3V27,
    /// ns-3 3.27 as Lanigan 2020 ran it.
    Lanigan,
    /// ns-3 as Piotrowska 2024 ran it, as far as known.
    Piotrowska,
}

impl Profile {
    /// All profiles with the names that scenarios and results use.
    pub const NAMED: &[(&str, Self)] = &[
        ("linux", Self::Linux),
        ("ns3", Self::Ns3),
        ("ns3-3.40", Self::Ns3V40),
        ("ns3-3.27", Self::Ns3V27),
        ("lanigan", Self::Lanigan),
        ("piotrowska", Self::Piotrowska),
    ];

    /// Returns the profile's name in scenarios and results.
    ///
    /// # Panics
    /// Never, because each profile has a name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::NAMED.iter().find(|&&(_, profile)| profile == self);
        named.expect("each profile has a name").0
    }
}
