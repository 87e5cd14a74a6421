//! The header `bbrlab.h`, written from the tables of this crate.

use std::fmt::Write as _;

use crate::constants::{Group, VERSION, groups};
use crate::{
    Ack, AckSample, Action, Answer, Conn, Control, Host, Info, Layout, LostSkb, Note, Packet,
    Param, Parameter, Plugin, RateSample, Segment, SenderSetup, SenderStatus, Setup, Socket,
};

/// The widest line of the header.
const WIDTH: usize = 100;

/// The functions of `bbrlab-ffi`, with their comments.
const FUNCTIONS: &str = include_str!("functions.h");

/// The text of the header before its constants.
const TOP: &str = "\
/* bbrlab.h: congestion controls across the border between C and bbrlab.
 *
 * This header has three uses, which share its structs:
 * - a C or C++ program drives bbrlab's algorithms: functions bbrlab_cc_*, library bbrlab_ffi;
 * - a C or C++ program drives a whole sender: functions bbrlab_sender_*, same library;
 * - a shared object with a control of your own runs in bbrlab: struct bbrlab_plugin, and the
 *   function bbrlab_plugin_entry, which the shared object exports.
 *
 * Generated from the tables of bbrlab by `cargo xtask bless`: do not edit. Every struct begins with
 * its size in bytes. Later versions append fields, so code must not read a field beyond this
 * size. All values are integers.
 */
#ifndef BBRLAB_H
#define BBRLAB_H

#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

";

/// Inline functions in C that compute the same values as methods of the Rust structs, and the
/// declaration of the function that a shared object must define.
const COMPUTED: &str = "\
/* The TCP clock in microseconds. */
static inline uint64_t bbrlab_tcp_mstamp(const bbrlab_conn *conn) {
    return conn->clock_ns / 1000;
}

/* Whether cwnd is below ssthresh. */
static inline int bbrlab_in_slow_start(const bbrlab_control *ctl) {
    return ctl->cwnd < ctl->ssthresh;
}

/* Returns the struct of the control in a shared object. The shared object defines this function. */
const bbrlab_plugin *bbrlab_plugin_entry(void);

";

/// Returns the text of the header.
#[must_use]
pub fn header() -> String {
    let mut text = TOP.to_owned();
    line(&mut text, &format!("#define BBRLAB_ABI_VERSION {VERSION}u\n"));
    for Group { prefix, about, constants } in groups() {
        line(&mut text, &format!("/* {about}. */"));
        for (name, value) in constants {
            let value = if value < 0 { format!("({value})") } else { value.to_string() };
            line(&mut text, &format!("#define {prefix}{name} {value}"));
        }
        text.push('\n');
    }
    for layout in layouts() {
        line(&mut text, &format!("typedef struct {0} {0};", layout.name));
    }
    line(&mut text, "typedef struct bbrlab_cc bbrlab_cc;");
    line(&mut text, "typedef struct bbrlab_sender bbrlab_sender;\n");
    for layout in layouts() {
        declare(&mut text, &layout);
    }
    text.push_str(COMPUTED);
    text.push_str(FUNCTIONS);
    text.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// Returns two texts: a C program that prints the size of each struct and the offset of each of its
/// fields, and the output that this program must have.
#[must_use]
pub fn probe() -> (String, String) {
    let mut program =
        "#include <stddef.h>\n#include <stdio.h>\n#include \"bbrlab.h\"\n\nint main(void) {\n"
            .to_owned();
    let mut expected = String::new();
    for Layout { name, size, members, .. } in layouts() {
        line(&mut program, &format!("    printf(\"{name} %zu\\n\", sizeof({name}));"));
        line(&mut expected, &format!("{name} {size}"));
        for member in members {
            let field = member.name;
            line(
                &mut program,
                &format!("    printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));"),
            );
            line(&mut expected, &format!("{name}.{field} {}", member.offset));
        }
    }
    program.push_str("    return 0;\n}\n");
    (program, expected)
}

/// Returns all structs in the order of the header: a struct follows the structs that it contains.
fn layouts() -> Vec<Layout> {
    vec![
        Control::layout(),
        Conn::layout(),
        RateSample::layout(),
        AckSample::layout(),
        LostSkb::layout(),
        Param::layout(),
        Host::layout(),
        Info::layout(),
        Plugin::layout(),
        Setup::layout(),
        Socket::layout(),
        Packet::layout(),
        Note::layout(),
        Ack::layout(),
        Answer::layout(),
        Parameter::layout(),
        SenderSetup::layout(),
        Segment::layout(),
        Action::layout(),
        SenderStatus::layout(),
    ]
}

/// Writes the declaration of a struct, with a comment above each field.
fn declare(text: &mut String, layout: &Layout) {
    comment(text, "", layout.about);
    line(text, &format!("struct {} {{", layout.name));
    for member in &layout.members {
        comment(text, "    ", &member.meaning);
        code(text, &format!("    {};", member.declaration));
    }
    line(text, "};\n");
}

/// Writes a comment in lines of at most [`WIDTH`] columns.
fn comment(text: &mut String, indent: &str, words: &str) {
    let words = words.replace("*/", "* /");
    wrapped(text, &format!("{indent}/* {words}. */"), &format!("{indent} * "));
}

/// Writes a declaration in lines of at most [`WIDTH`] columns.
fn code(text: &mut String, words: &str) {
    wrapped(text, words, "        ");
}

/// Writes the text `words` in lines of at most [`WIDTH`] columns. Each line after the first begins
/// with `next`.
fn wrapped(text: &mut String, words: &str, next: &str) {
    let mut rest = words;
    let mut begin = "";
    while begin.len() + rest.len() > WIDTH {
        let at = rest[..WIDTH - begin.len()].rfind(' ').filter(|&at| !rest[..at].trim().is_empty());
        let Some(at) = at else { break };
        line(text, format!("{begin}{}", &rest[..at]).trim_end());
        rest = rest[at..].trim_start();
        begin = next;
    }
    line(text, &format!("{begin}{rest}"));
}

fn line(text: &mut String, words: &str) {
    writeln!(text, "{words}").expect("writing to a string cannot fail");
}
