//! Converts a row of a trace to a call: columns to arguments, and the event to a method.

use bbrlab_cc::fields::Field;
use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_cc::{
    AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, LostSkb, RateSample,
};

use super::draws::RecordedDraws;

/// The arguments of a call. As in the trace, an argument keeps its value for all later calls until
/// a row changes it.
#[derive(Default)]
pub(super) struct Call {
    event: i64,
    arg: i64,
    conn: Conn,
    rs: RateSample,
    skb: LostSkb,
    acked: AckSample,
    ca_ack: u32,
    ca_acked: u32,
}

impl Call {
    /// Creates default arguments, for a kernel with `hz` jiffies per second.
    pub(super) fn new(hz: u32) -> Self {
        Self { conn: Conn { hz, ..Conn::default() }, ..Self::default() }
    }

    /// Performs the call. Returns the call's return value (0 if it has none) and the connection's
    /// `Control` fields after the call.
    pub(super) fn perform<C: CongestionControl + Clone>(
        &self,
        cc: &mut C,
        fresh: &C,
        draw: &mut RecordedDraws,
    ) -> Result<(i64, Control), String> {
        let conn = &self.conn;
        let unchanged = conn.ctl;
        let arg = || u32::try_from(self.arg).map_err(|_| format!("arg {} is not valid", self.arg));
        let wrote = |ctl| Ok((0, ctl));
        let returned = |ret| Ok((i64::from(ret), unchanged));
        match self.event {
            1 => {
                *cc = fresh.clone();
                wrote(cc.init(conn, draw))
            }
            2 => wrote(cc.cwnd_event(conn, cwnd_event(self.arg)?, draw)),
            3 => wrote(cc.set_state(conn, ca_state(self.arg)?, draw)),
            4 => wrote(cc.skb_marked_lost(conn, &self.skb, draw)),
            5 => returned(cc.ssthresh(conn)),
            6 => returned(cc.undo_cwnd(conn)),
            7 => wrote(cc.cong_control(conn, &self.rs, draw)),
            8 => wrote(cc.cong_avoid(conn, self.ca_ack, self.ca_acked)),
            9 => wrote(Control { ssthresh: cc.pkts_acked(conn, &self.acked), ..unchanged }),
            10 => wrote(cc.in_ack_event(conn, arg()?)),
            11 => returned(cc.tso_segs(conn, arg()?)),
            12 => returned(cc.min_tso_segs(conn)),
            13 => returned(cc.sndbuf_expand(conn)),
            14 => Ok((cc.bw(conn).cast_signed(), unchanged)),
            15 => {
                *cc = fresh.clone();
                wrote(unchanged)
            }
            other => Err(format!("event {other} is not known")),
        }
    }
}

fn cwnd_event(arg: i64) -> Result<CwndEvent, String> {
    Ok(match arg {
        0 => CwndEvent::TxStart,
        1 => CwndEvent::CwndRestart,
        2 => CwndEvent::CompleteCwr,
        3 => CwndEvent::Loss,
        4 => CwndEvent::EcnNoCe,
        5 => CwndEvent::EcnIsCe,
        6 => CwndEvent::TlpRecovery,
        _ => return Err(format!("cwnd event {arg} is not known")),
    })
}

/// Converts a number in a trace to the state of loss recovery that it means.
pub(in crate::golden) fn ca_state(value: i64) -> Result<CaState, String> {
    CaState::from_number(value).ok_or_else(|| format!("loss-recovery state {value} is not known"))
}

/// The argument that an input column sets.
#[derive(Clone, Copy)]
pub(super) enum Input {
    Event,
    Arg,
    CaAck,
    CaAcked,
    Conn(&'static Field<Conn>),
    Control(&'static Field<Control>),
    RateSample(&'static Field<RateSample>),
    LostSkb(&'static Field<LostSkb>),
    AckSample(&'static Field<AckSample>),
}

impl Input {
    /// Returns the argument, or the field of an argument, that the column `name` sets; `None` if
    /// the column sets neither.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "event" => Self::Event,
            "arg" => Self::Arg,
            "ca_ack" => Self::CaAck,
            "ca_acked" => Self::CaAcked,
            _ => field(Conn::FIELDS, name)
                .map(Self::Conn)
                .or_else(|| field(Control::FIELDS, name).map(Self::Control))
                .or_else(|| field(RateSample::FIELDS, name).map(Self::RateSample))
                .or_else(|| field(LostSkb::FIELDS, name).map(Self::LostSkb))
                .or_else(|| field(AckSample::FIELDS, name).map(Self::AckSample))?,
        })
    }

    /// Stores a column's value in the call.
    pub(super) fn put(self, call: &mut Call, value: i64) -> Result<(), String> {
        match self {
            Self::Event => call.event = value,
            Self::Arg => call.arg = value,
            Self::CaAck => call.ca_ack = trunc_u32(value.cast_unsigned()),
            Self::CaAcked => call.ca_acked = trunc_u32(value.cast_unsigned()),
            Self::Conn(field) => return store(field, &mut call.conn, value),
            Self::Control(field) => return store(field, &mut call.conn.ctl, value),
            Self::RateSample(field) => return store(field, &mut call.rs, value),
            Self::LostSkb(field) => return store(field, &mut call.skb, value),
            Self::AckSample(field) => return store(field, &mut call.acked, value),
        }
        Ok(())
    }
}

/// Returns the field whose column is `column`.
fn field<R>(fields: &'static [Field<R>], column: &str) -> Option<&'static Field<R>> {
    fields.iter().find(|field| field.about.column == Some(column))
}

fn store<R>(field: &Field<R>, record: &mut R, value: i64) -> Result<(), String> {
    if (field.put)(record, value) {
        Ok(())
    } else {
        Err(format!("{} {value} is not known", field.about.name))
    }
}

/// Returns the field with which an output column is compared. `name` is the column's name without
/// `o_`.
pub(super) fn output(name: &str) -> Option<&'static Field<Control>> {
    field(Control::FIELDS, name)
}

#[cfg(test)]
mod tests {
    use super::{Input, output};
    use bbrlab_cc::{AckSample, Conn, Control, LostSkb, RateSample};

    #[test]
    fn every_column_of_the_table_is_read_and_what_may_be_written_is_compared() {
        let records =
            [Conn::rows(), Control::rows(), RateSample::rows(), LostSkb::rows(), AckSample::rows()];
        let mut seen = Vec::new();
        for field in records.iter().flat_map(|rows| &rows.fields) {
            let Some(column) = field.column else { continue };
            assert!(Input::of(column).is_some(), "{column}");
            assert_eq!(output(column).is_some(), field.writable.is_some(), "{column}");
            assert!(!seen.contains(&column), "{column} belongs to two fields");
            seen.push(column);
        }
        assert_eq!(seen.len(), 54);
    }
}
