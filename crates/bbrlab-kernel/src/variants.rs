//! Changes a kernel's sources after the patch for BBRv3 or BBRv2 has been applied. The patches do
//! not contain these changes.
//!
//! The BBRv3 patch replaces version 1 by version 3 under the name `bbr`; this file adds version 1
//! again, from the unpatched tree, under the name `bbr1`. The BBRv2 patch adds `bbr2`, and expects
//! a kernel with IPv6, which the built kernel does not have; this file changes the patched source
//! accordingly.

use std::fs;
use std::path::Path;

use crate::error::KernelError;

/// The path of BBR's source in the kernel's tree.
pub(crate) const BBR: &str = "net/ipv4/tcp_bbr.c";

const BBR2: &str = "net/ipv4/tcp_bbr2.c";

/// Prepares a patched tree. `v1` is the text of BBR's source before the patches. Returns additional
/// lines for the kernel's configuration.
///
/// # Errors
/// Fails if a patched file is not as expected, or cannot be written.
pub(crate) fn prepare(src: &Path, v1: &str) -> Result<&'static str, KernelError> {
    let header = read(src, "include/net/tcp.h")?;
    if header.contains("(*tso_segs)(struct sock *sk") && !v1.is_empty() {
        keep_version_1(src, v1)?;
    }
    if src.join(BBR2).is_file() {
        mend_version_2(src)?;
        return Ok("CONFIG_TCP_CONG_BBR2=y\n");
    }
    Ok("")
}

/// A function for `bbr1` that computes the size of a burst from version 1's lower bound, as the
/// unpatched kernel does. The function is needed because the BBRv3 patch replaces the callback for
/// the lower bound (`min_tso_segs`) by a callback for the size (`tso_segs`).
const TSO_SEGS: &str = "\
static u32 bbr1_tso_segs(struct sock *sk, unsigned int mss_now)
{
	unsigned long bytes = READ_ONCE(sk->sk_pacing_rate) >> READ_ONCE(sk->sk_pacing_shift);
	u32 r = tcp_min_rtt(tcp_sk(sk)) >> READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_tso_rtt_log);

	if (r < BITS_PER_TYPE(sk->sk_gso_max_size))
		bytes += sk->sk_gso_max_size >> r;
	bytes = min_t(unsigned long, bytes, sk->sk_gso_max_size);
	return max_t(u32, bytes / mss_now, bbr_min_tso_segs(sk));
}

static struct tcp_congestion_ops tcp_bbr_cong_ops";

fn keep_version_1(src: &Path, v1: &str) -> Result<(), KernelError> {
    let mut text = v1.to_owned();
    for (from, to) in [
        ("static struct tcp_congestion_ops tcp_bbr_cong_ops", TSO_SEGS),
        ("= \"bbr\",", "= \"bbr1\","),
        (".min_tso_segs\t= bbr_min_tso_segs,", ".tso_segs\t= bbr1_tso_segs,"),
    ] {
        text = replaced(&text, BBR, from, to)?;
    }
    write(src, "net/ipv4/tcp_bbr1.c", &text)?;
    let makefile = "net/ipv4/Makefile";
    let line = "obj-$(CONFIG_TCP_CONG_BBR) += tcp_bbr.o";
    let text = replaced(&read(src, makefile)?, makefile, line, &format!("{line} tcp_bbr1.o"))?;
    write(src, makefile, &text)
}

/// Adapts BBRv2 to a kernel without IPv6, and to later kernels of the series for which the BBRv2
/// patch was made. BBRv2 prints a socket's IPv6 address in a message, and calls a function that
/// later kernels have made private.
fn mend_version_2(src: &Path) -> Result<(), KernelError> {
    const DECLARED: &str =
        "void tcp_enter_quickack_mode(struct sock *sk, unsigned int max_quickacks);\n";
    let text =
        read(src, BBR2)?.replace("&sk->sk_v6_daddr, dport", "&inet_sk(sk)->inet_daddr, dport");
    let include = "#include <net/tcp.h>\n";
    let text = text.replacen(include, &format!("{include}{DECLARED}"), 1);
    write(src, BBR2, &text)?;
    let input = "net/ipv4/tcp_input.c";
    let function = "static void tcp_enter_quickack_mode(";
    let text = read(src, input)?;
    let text = text.replace(function, &format!("{DECLARED}void tcp_enter_quickack_mode("));
    write(src, input, &text)
}

fn replaced(text: &str, file: &str, from: &str, to: &str) -> Result<String, KernelError> {
    if text.matches(from).count() == 1 {
        return Ok(text.replace(from, to));
    }
    Err(KernelError::Failed(format!("{file}: expected {from:?} once after the patches")))
}

fn read(src: &Path, file: &str) -> Result<String, KernelError> {
    let path = src.join(file);
    fs::read_to_string(&path).map_err(|error| KernelError::io("read", &path, &error))
}

fn write(src: &Path, file: &str, text: &str) -> Result<(), KernelError> {
    let path = src.join(file);
    fs::write(&path, text).map_err(|error| KernelError::io("write", &path, &error))
}
