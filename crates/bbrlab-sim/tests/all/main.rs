//! All integration tests of this crate in one program, so that the crate and its dependencies are
//! linked once.

mod acks_at_one_instant;
mod active_times;
mod answers;
mod applications;
mod arrivals;
mod clock_step;
mod closed_form;
mod conservation;
mod datagrams;
mod disturbed_acks;
mod draft_cases;
mod draws;
mod each_key_acts;
mod ecn;
mod ended_flows;
mod engine_modes;
mod fairness;
mod keys;
mod known_differences;
mod laws;
mod linux_points;
mod networks;
mod ns3_packets;
mod ns3_recovery;
mod ns3_sockets;
mod packet_rtt;
mod plugged;
mod queues;
mod requests;
mod scenario_text;
mod waits;
mod watched;
