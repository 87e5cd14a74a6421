//! `bbrlab kernel`: builds, lists and removes kernels that run as programs.

use bbrlab_kernel::{Kernel, KernelError, Kernels, find_kernel, kernels, remove_kernel};
use bbrlab_lab::LabError;
use bbrlab_report::{Align, Table};
use serde_json::json;

use crate::args::{KernelArgs, KernelBuildArgs, KernelVerb};
use crate::output::{Output, Stopped, Verdict};

pub(crate) fn kernel(args: &KernelArgs, output: &mut Output) -> Verdict {
    match &args.verb {
        KernelVerb::Build(args) => build(args, output),
        KernelVerb::List { json } => list(*json, output),
        KernelVerb::Remove { hashes } => remove(hashes, output),
    }
}

/// Converts an error of the crate `bbrlab-kernel` to the reason with which the command ends.
fn failed(error: KernelError) -> Stopped {
    Stopped::Lab(match error {
        KernelError::Usage(text) => LabError::Usage(text),
        KernelError::Failed(text) => LabError::Failed(text),
        KernelError::Interrupted(text) => LabError::Interrupted(text),
    })
}

#[cfg(not(target_os = "linux"))]
fn build(_: &KernelBuildArgs, _: &mut Output) -> Verdict {
    let text = "a Linux kernel can run as a program only on Linux; `bbrlab run` without --on needs \
                no kernel";
    Err(LabError::Usage(text.to_owned()).into())
}

#[cfg(target_os = "linux")]
fn build(args: &KernelBuildArgs, output: &mut Output) -> Verdict {
    use crate::progress::StepBar;
    use bbrlab_kernel::{Order, Work, build_kernel};

    let order = Order {
        source: args.source.clone(),
        hz: args.hz.parse().expect("clap accepts only the numbers of `--hz` that are listed"),
        patches: args.patch.clone(),
        install: args.yes,
        jobs: args.jobs.map_or_else(bbrlab_lab::processors, |jobs| jobs as usize),
    };
    let stop = output.stop()?;
    let mut bar = StepBar::new(args.quiet);
    let built = {
        let mut show = |progress: &bbrlab_kernel::Progress| bar.show(progress);
        let is_stopped = || stop.is_requested();
        build_kernel(
            &order,
            &mut Work { stop: &is_stopped, progress: &mut show, quiet: args.quiet },
        )
    };
    bar.end();
    let built = built.map_err(failed)?;
    if args.json {
        return output.json(&json!({ "is_new": built.is_new, "kernel": document(&built.kernel) }));
    }
    let manifest = &built.kernel.manifest;
    let name = format!("Linux {}{}, {}", manifest.version, patches(&built.kernel), manifest.hash);
    if built.is_new {
        output.text(&format!("built {name}, in {:.0} s of CPU time\n", manifest.cpu_s))
    } else {
        output.text(&format!("there already: {name}, built {}\n", manifest.built))
    }
}

/// Returns the names of a kernel's patches as text, each after a plus sign, such as ` +
/// 0002-bbr3.patch`; empty without patches.
fn patches(kernel: &Kernel) -> String {
    let names = kernel.manifest.patches.iter();
    names.flat_map(|patch| [" + ", patch.name.as_str()]).collect()
}

/// Returns the entry for a kernel in the document of `--json`: the kernel's manifest, folder and
/// size.
fn document(kernel: &Kernel) -> serde_json::Value {
    let mut document = crate::output::value(&kernel.manifest);
    document["folder"] = json!(kernel.folder);
    document["bytes"] = json!(kernel.bytes());
    document
}

fn list(json: bool, output: &mut Output) -> Verdict {
    let Kernels { whole: all, damaged } = kernels().map_err(failed)?;
    for (_, error) in &damaged {
        output.note(&format!("left out: {error}"));
    }
    let used = find_kernel(None).ok();
    if json {
        let all: Vec<_> = all.iter().map(document).collect();
        let damaged: Vec<_> = damaged.iter().map(|(folder, _)| folder).collect();
        let used = used.map(|kernel| kernel.folder);
        return output.json(&json!({ "kernels": all, "used": used, "damaged": damaged }));
    }
    if all.is_empty() {
        return output.text("no kernel is built; `bbrlab kernel build` builds one\n");
    }
    let mut table = Table::new()
        .column("hash", "", Align::Left)
        .column("version", "", Align::Left)
        .column("ticks", "Hz", Align::Right)
        .column("size", "MB", Align::Right)
        .column("built", "UTC", Align::Left)
        .column("patches", "", Align::Left)
        .column("used", "", Align::Left);
    for kernel in &all {
        let manifest = &kernel.manifest;
        let names: Vec<&str> = manifest.patches.iter().map(|patch| patch.name.as_str()).collect();
        #[expect(clippy::cast_precision_loss, reason = "the size is shown in MB with one decimal")]
        let megabytes = kernel.bytes() as f64 / 1e6;
        table.row(vec![
            manifest.hash.clone(),
            manifest.version.clone(),
            manifest.hz.to_string(),
            format!("{megabytes:.1}"),
            manifest.built.replace('T', " ").trim_end_matches('Z').to_owned(),
            if names.is_empty() { "none".to_owned() } else { names.join(", ") },
            used.iter()
                .filter(|used| used.manifest.hash == manifest.hash)
                .map(|_| "yes".to_owned())
                .collect(),
        ]);
    }
    output.text(&table.render())
}

fn remove(hashes: &[String], output: &mut Output) -> Verdict {
    // All hashes are checked before the first kernel is removed.
    let mut all: Vec<Kernel> = Vec::new();
    for name in hashes {
        let kernel = find_kernel(Some(name)).map_err(failed)?;
        if !all.contains(&kernel) {
            all.push(kernel);
        }
    }
    for kernel in &all {
        remove_kernel(kernel).map_err(failed)?;
        output.text(&format!(
            "removed Linux {}{}, {}\n",
            kernel.manifest.version,
            patches(kernel),
            kernel.manifest.hash
        ))?;
    }
    Ok(())
}
