//! Exports of runs and scenarios for other programs.

mod header;
mod mininet;
mod parts;
mod pcap;
mod qlog;
mod replay;
mod script;
mod stack;
mod testbed;

pub use mininet::mininet_text;
pub use pcap::export_pcap;
pub use qlog::export_qlog;
pub use script::script_text;
